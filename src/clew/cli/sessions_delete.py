"""`clew sessions rm`, `prune`, `purge`: what takes something out for good says what, and asks."""

from __future__ import annotations

import re
from dataclasses import asdict

import typer

from clew.cli.sessionview import named, print_json
from clew.cli.stores import JSON, STORE, TENANT, existing
from clew.errors import InputError
from clew.lineage import Lineage
from clew.store.base import Store
from clew.store.prune import prunable
from clew.store.records import Freed

_YES = typer.Option(False, "--yes", "-y", help="Don't ask.")
_SPAN = re.compile(r"(\d+)([hdw])")
_SECONDS = {"h": 3600, "d": 86400, "w": 604800}


def rm(
    sessions: list[str],
    descendants: bool = typer.Option(False, "--descendants", help="With everything that came out of them."),
    yes: bool = _YES,
    store: str | None = STORE,
    tenant: str = TENANT,
    as_json: bool = JSON,
) -> None:
    """Delete sessions with their originals and index entries; says before what that frees."""
    handle = existing(store, tenant)
    ids = [named(handle, s).id for s in sessions]
    if descendants:
        ids = list(dict.fromkeys(d for i in ids for d in Lineage(handle).with_descendants(i)))
    _delete(handle, ids, yes=yes, as_json=as_json)


def prune(
    older_than: str = typer.Option(..., "--older-than", help="Not changed for so long: 36h, 30d, 8w."),
    source: str = typer.Option("", help="Only of this source."),
    keep: int = typer.Option(0, min=0, help="Keep the newest so many of them all the same."),
    yes: bool = _YES,
    store: str | None = STORE,
    tenant: str = TENANT,
    as_json: bool = JSON,
) -> None:
    """Delete old sessions, whole branches at a time; what younger ones go on from stays."""
    span = _SPAN.fullmatch(older_than)
    if not span:
        raise InputError(f"{older_than!r} is no time span", hint="a number and h, d or w: 30d")
    handle = existing(store, tenant)
    before = handle.now() - int(span[1]) * _SECONDS[span[2]]
    found = prunable(handle, before=before, source=source, keep=keep)
    if found.needed:
        typer.echo(f"{len(found.needed)} stay: younger sessions go on from them", err=True)
    if not found.sessions and not as_json:
        typer.echo("nothing to prune")
        return
    _delete(handle, found.sessions, yes=yes, as_json=as_json)


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
    as_json: bool = JSON,
) -> None:
    """Mask a leaked value everywhere: messages, originals, handoffs, titles, index, backups of migrations. Exit code 1
    where it may still stand somewhere.
    """
    done = existing(store, tenant).purge(secret, mask)
    if as_json:
        print_json({"places": dict(done.places), "left": done.left})
    else:
        for place, count in sorted(done.places.items()):
            typer.echo(f"{count:>6}  {place}")
        if not done.left:
            typer.echo("masked everywhere" if done.total else "it stands nowhere")
    for sentence in done.left:
        typer.echo(f"it may still stand in {sentence}", err=True)
    if done.left:
        raise typer.Exit(1)


def _delete(store: Store, ids: list[str] | tuple[str, ...], *, yes: bool, as_json: bool) -> None:
    told = store.delete(ids, preview=True)
    typer.echo(_freed(told), err=as_json)
    if not yes and ids:
        typer.confirm("Delete them?", abort=True, err=as_json)
    store.delete(ids)
    if as_json:
        print_json({"deleted": list(ids), "freed": asdict(told)})


def _freed(f: Freed) -> str:
    return f"{f.sessions} sessions, {f.messages} messages, {f.originals} originals: {f.contents} contents, {f.bytes:,} bytes"
