"""`clew sessions`: what is stored, as people look for it; every way out is masked unless they ask otherwise."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import typer

from clew.cli.stores import STORE, TENANT, opened
from clew.errors import InputError, NotFound
from clew.lineage import Lineage
from clew.redact import redact
from clew.store.archive import to_line
from clew.store.base import Store
from clew.store.export import FORMATS, Options
from clew.store.export import export as export_lines
from clew.store.imports import import_file
from clew.store.parts import readable
from clew.store.prune import prunable
from clew.store.records import Freed, Session, SessionFilter

app = typer.Typer(help="Stored conversations.", no_args_is_help=True, rich_markup_mode=None)
_JSON = typer.Option(False, "--json", help="JSON on standard output.")
_RAW = typer.Option(False, "--raw", help="Secrets as they are; otherwise masked.")
_YES = typer.Option(False, "--yes", "-y", help="Don't ask.")
_SPAN = re.compile(r"(\d+)([hdw])")
_SECONDS = {"h": 3600, "d": 86400, "w": 604800}


@app.command("list")
def list_(
    store: str | None = STORE,
    tenant: str = TENANT,
    source: str = typer.Option("", help="Only from this source."),
    workspace: str = typer.Option("", help="Only of this folder."),
    everything: bool = typer.Option(False, "--all", help="Subagents' and tools' sessions too."),
    limit: int = typer.Option(20, "--limit", "-n", help="How many; 0 for all."),
    before: str = typer.Option("", help="Go on after this id."),
    as_json: bool = _JSON,
) -> None:
    """The latest first."""
    hidden = () if everything or source else ("subagent", "tool")
    handle = opened(store, tenant)
    where = SessionFilter(source=source, workspace=workspace, without_sources=hidden)
    found = handle.sessions(where, limit=limit, before=named(handle, before).id if before else "")
    if as_json:
        typer.echo(json.dumps([_value(s) for s in found], indent=2, ensure_ascii=False))
        return
    for s in found:
        typer.echo(_line(s))


@app.command()
def show(
    session: str,
    store: str | None = STORE,
    tenant: str = TENANT,
    start: int = typer.Option(0, "--from", help="First position."),
    end: int | None = typer.Option(None, "--to", help="Position to stop before."),
    raw: bool = _RAW,
    as_json: bool = _JSON,
) -> None:
    """A session and its messages."""
    handle = opened(store, tenant)
    found = named(handle, session)
    messages = handle.messages(found.id, start, end)
    mask = str if raw else redact
    if as_json:
        said = [
            {"position": m.position, "role": m.message.role, "time": m.time, "text": mask(readable(m.message))}
            for m in messages
        ]
        typer.echo(
            json.dumps(
                {**_value(found), "messages": said, "usage": handle.usage(found.id)}, indent=2, ensure_ascii=False
            )
        )
        return
    typer.echo(_line(found))
    for m in messages:
        typer.echo(f"\n[{m.position}] {m.message.role}{' ' + m.tool if m.tool else ''}\n{mask(readable(m.message))}")


@app.command()
def tree(session: str, store: str | None = STORE, tenant: str = TENANT) -> None:
    """The lineage a session belongs to."""
    handle = opened(store, tenant)
    for member, depth in Lineage(handle).tree(named(handle, session).id).walk():
        typer.echo("  " * depth + _line(member))


@app.command()
def resume(session: str, store: str | None = STORE, tenant: str = TENANT) -> None:
    """Prints the id where the conversation goes on, opened for messages."""
    handle = opened(store, tenant)
    typer.echo(Lineage(handle).resume(named(handle, session).id).id)


@app.command()
def fork(
    session: str,
    at: int | None = typer.Option(None, help="How many messages to share; default: all."),
    title: str = typer.Option("", help="Default: the parent's, numbered."),
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Prints the id of a new branch that shares the first messages."""
    handle = opened(store, tenant)
    typer.echo(Lineage(handle).fork(named(handle, session).id, at, title=title).id)


@app.command()
def rename(session: str, title: str, store: str | None = STORE, tenant: str = TENANT) -> None:
    """Give a session another title."""
    handle = opened(store, tenant)
    typer.echo(_line(handle.update(named(handle, session).id, title=title)))


@app.command()
def export(
    sessions: list[str] = typer.Argument(..., help="Ids, or their beginnings."),
    format: str = typer.Option("clew", "--format", "-f", help=f"clew (everything, for import), {', '.join(FORMATS)}."),  # noqa: A002 - the option's name
    training: bool = typer.Option(False, "--training", help="Leave out what Clew wrote itself, instead of marking it."),
    raw: bool = _RAW,
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """JSON lines on standard output. `clew` is the whole session, secrets and all: it is a backup."""
    handle = opened(store, tenant)
    ids = [named(handle, s).id for s in sessions]
    if format == "clew":
        lines: Iterator[bytes] = (to_line(handle.dump(i)) for i in ids)
    elif format in FORMATS:
        lines = export_lines(handle, ids, format, Options(training=training, mask=str if raw else redact))
    else:
        raise InputError(f"{format!r} is no format", hint=f"clew, {', '.join(FORMATS)}")
    for line in lines:
        sys.stdout.buffer.write(line + b"\n")


@app.command("import")
def import_(
    files: list[Path],
    format: str | None = typer.Option(None, "--format", "-f", help="Where the content doesn't tell."),  # noqa: A002 - the option's name
    source: str = typer.Option("", help="What to note as their source; default: the format."),
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Session files of Claude Code, Codex and others, and what `export --format clew` wrote. Again does no harm."""
    handle = opened(store, tenant)
    for path in files:
        for done in import_file(handle, path, format=format, source=source):
            typer.echo(f"{done.session.id}  {done.new} new of {done.session.length} messages")
            for sentence in done.left_out:
                typer.echo(f"  {sentence}", err=True)


@app.command()
def rm(
    sessions: list[str],
    descendants: bool = typer.Option(False, "--descendants", help="With everything that came out of them."),
    yes: bool = _YES,
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Delete sessions with their originals and index entries; says before what that frees."""
    handle = opened(store, tenant)
    ids = [named(handle, s).id for s in sessions]
    if descendants:
        ids = list(dict.fromkeys(d for i in ids for d in Lineage(handle).with_descendants(i)))
    _delete(handle, ids, yes)


@app.command()
def prune(
    older_than: str = typer.Option(..., "--older-than", help="Not changed for so long: 36h, 30d, 8w."),
    source: str = typer.Option("", help="Only of this source."),
    keep: int = typer.Option(0, help="Keep the newest so many of them all the same."),
    yes: bool = _YES,
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Delete old sessions, whole branches at a time; what younger ones go on from stays."""
    span = _SPAN.fullmatch(older_than)
    if not span:
        raise InputError(f"{older_than!r} is no time span", hint="a number and h, d or w: 30d")
    handle = opened(store, tenant)
    before = handle.now() - int(span[1]) * _SECONDS[span[2]]
    found = prunable(handle, before=before, source=source, keep=keep)
    if found.needed:
        typer.echo(f"{len(found.needed)} stay: younger sessions go on from them", err=True)
    if not found.sessions:
        typer.echo("nothing to prune")
        return
    _delete(handle, found.sessions, yes)


@app.command()
def purge(
    secret: str = typer.Option(
        ...,
        "--secret",
        prompt="The leaked value",
        hide_input=True,
        help="Asked for where not given: a command line is kept in history.",
    ),
    mask: str = typer.Option("[masked]", help="What to put in its place."),
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """Mask a leaked value everywhere: messages, originals, handoffs, titles, index, backups of migrations."""
    done = opened(store, tenant).purge(secret, mask)
    for place, count in sorted(done.places.items()):
        typer.echo(f"{count:>6}  {place}")
    if not done.left:
        typer.echo("masked everywhere" if done.total else "it stands nowhere")
    for sentence in done.left:
        typer.echo(f"it may still stand in {sentence}", err=True)
    if done.left:
        raise typer.Exit(1)


def named(store: Store, text: str) -> Session:
    """The session of an id, or of the only one that begins so."""
    try:
        return store.session(text)
    except NotFound:
        found = store.sessions(SessionFilter(id_prefix=text), limit=3) if text else ()
        if len(found) == 1:
            return found[0]
        if found:
            raise InputError(f"{text!r} begins several ids", hint=", ".join(s.id for s in found)) from None
        raise


def _delete(store: Store, ids: list[str] | tuple[str, ...], yes: bool) -> None:
    told = store.delete(ids, preview=True)
    typer.echo(_freed(told))
    if not yes:
        typer.confirm("Delete them?", abort=True)
    store.delete(ids)


def _freed(f: Freed) -> str:
    return f"{f.sessions} sessions, {f.messages} messages, {f.originals} originals: {f.contents} contents, {f.bytes:,} bytes"


def _line(s: Session) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(s.updated))
    state = f"  [{s.end_reason}]" if s.end_reason else ""
    title = redact(s.title) if s.title else "-"
    return f"{s.id}  {when}  {s.length:>6}  {s.source or '-':<10} {title}{state}"


def _value(s: Session) -> dict[str, object]:
    fields = (
        "id",
        "source",
        "model",
        "workspace",
        "kind",
        "parent",
        "root",
        "shared",
        "length",
        "created",
        "updated",
        "end_reason",
    )
    return {f: getattr(s, f) for f in fields} | {"title": redact(s.title), "goal": redact(s.goal)}
