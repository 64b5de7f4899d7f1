"""`clew sessions`: what is stored, as people look for it; every way out is masked unless they ask otherwise."""

from __future__ import annotations

import typer

from clew.cli import sessions_delete, sessions_files
from clew.cli.sessionview import began, line, named, print_json, value
from clew.cli.stores import JSON, STORE, TENANT, existing
from clew.lineage import Lineage
from clew.redact import redact
from clew.store.parts import readable
from clew.store.records import SessionFilter

app = typer.Typer(help="Stored conversations.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_(
    store: str | None = STORE,
    tenant: str = TENANT,
    source: str = typer.Option("", help="Only from this source."),
    workspace: str = typer.Option("", help="Only of this folder."),
    everything: bool = typer.Option(False, "--all", help="Subagents' and tools' sessions too."),
    limit: int = typer.Option(20, "--limit", "-n", min=0, help="How many; 0 for all."),
    before: str = typer.Option("", help="Go on after this id."),
    as_json: bool = JSON,
) -> None:
    """The latest changed first; where one has no title, how it began."""
    hidden = () if everything or source else ("subagent", "tool")
    handle = existing(store, tenant)
    where = SessionFilter(source=source, workspace=workspace, without_sources=hidden)
    found = handle.sessions(where, limit=limit, before=named(handle, before).id if before else "", recent=True)
    if as_json:
        print_json([value(s) for s in found])
        return
    for s in found:
        typer.echo(line(s, began(handle, s)))
    if not found:
        typer.echo("no sessions", err=True)


@app.command()
def show(
    session: str,
    store: str | None = STORE,
    tenant: str = TENANT,
    start: int = typer.Option(0, "--from", min=0, help="First position."),
    end: int | None = typer.Option(None, "--to", min=0, help="Position to stop before."),
    raw: bool = sessions_files.RAW,
    as_json: bool = JSON,
) -> None:
    """A session and its messages."""
    handle = existing(store, tenant)
    found = named(handle, session)
    messages = handle.messages(found.id, start, end)
    mask = str if raw else redact
    if as_json:
        said = [
            {"position": m.position, "role": m.message.role, "time": m.time, "text": mask(readable(m.message))}
            for m in messages
        ]
        print_json({**value(found), "messages": said, "usage": handle.usage(found.id)})
        return
    typer.echo(line(found))
    for m in messages:
        typer.echo(f"\n[{m.position}] {m.message.role}{' ' + m.tool if m.tool else ''}\n{mask(readable(m.message))}")


@app.command()
def tree(session: str, store: str | None = STORE, tenant: str = TENANT, as_json: bool = JSON) -> None:
    """The lineage a session belongs to."""
    handle = existing(store, tenant)
    members = Lineage(handle).tree(named(handle, session).id).walk()
    if as_json:
        print_json([{**value(member), "depth": depth} for member, depth in members])
        return
    for member, depth in members:
        typer.echo("  " * depth + line(member, member.kind))


@app.command()
def resume(
    session: str,
    here: bool = typer.Option(False, "--here", help="This very session, wherever its conversation went on."),
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Prints the id where the conversation goes on, opened for messages."""
    handle = existing(store, tenant)
    found = named(handle, session)
    if here:
        typer.echo((found if found.active else handle.reopen(found.id)).id)
        return
    typer.echo(Lineage(handle).resume(found.id).id)


@app.command()
def fork(
    session: str,
    at: int | None = typer.Option(None, min=0, help="How many messages to share; default: all."),
    title: str = typer.Option("", help="Default: the parent's, numbered."),
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Prints the id of a new branch that shares the first messages."""
    handle = existing(store, tenant)
    typer.echo(Lineage(handle).fork(named(handle, session).id, at, title=title).id)


@app.command()
def rename(session: str, title: str, store: str | None = STORE, tenant: str = TENANT) -> None:
    """Give a session another title."""
    handle = existing(store, tenant)
    typer.echo(line(handle.update(named(handle, session).id, title=title)))


app.command("export")(sessions_files.export)
app.command("import")(sessions_files.import_)
app.command("rm")(sessions_delete.rm)
app.command("prune")(sessions_delete.prune)
app.command("purge")(sessions_delete.purge)
