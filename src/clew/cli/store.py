"""`clew store`: what the store is, whether it is sound, and moving it."""

from __future__ import annotations

import json

import typer

from clew.cli.stores import STORE, TENANT, opened, url_of
from clew.errors import StoreCorrupt
from clew.store.copy import copy as copy_store
from clew.store.records import Finding
from clew.store.url import open_store, repair_store

app = typer.Typer(help="The store: look, check, repair, shrink, copy.", no_args_is_help=True, rich_markup_mode=None)
_JSON = typer.Option(False, "--json", help="JSON on standard output.")


@app.command()
def info(store: str | None = STORE, tenant: str = TENANT, as_json: bool = _JSON) -> None:
    """What is in it and what it can do."""
    found = opened(store, tenant).info()
    values = {f: getattr(found, f) for f in found.__slots__}
    if as_json:
        typer.echo(json.dumps({**values, "features": dict(found.features)}, indent=2))
        return
    for name, value in {**values, **found.features}.items():
        if name != "features":
            typer.echo(f"{name:<12} {value}")


@app.command()
def check(
    store: str | None = STORE,
    tenant: str = TENANT,
    repair: bool = typer.Option(
        False, "--repair", help="Read what can be read into a new file; the damaged one is kept."
    ),
    as_json: bool = _JSON,
) -> None:
    """Look for damage, from the file's pages to the hash of every prefix. Exit code 1 where something was found."""
    try:
        found = list(opened(store, tenant).check())
    except StoreCorrupt as e:
        found = [Finding("file", e.message, fatal=True)]
    if as_json:
        typer.echo(json.dumps([{"what": f.what, "detail": f.detail, "fatal": f.fatal} for f in found], indent=2))
    for f in found if not as_json else ():
        typer.echo(
            f"{f.what}: {f.detail}" + ("" if f.fatal else " (search only: `clew store vacuum --reindex` mends it)")
        )
    if repair and any(f.fatal for f in found):
        done = repair_store(url_of(store), tenant=tenant)
        rows = ", ".join(f"{n} {table}" for table, n in done.rows.items() if n)
        typer.echo(
            f"repaired: {rows}; {done.dropped} messages could not be kept; the damaged file is {done.set_aside}",
            err=as_json,
        )
        return
    if not found and not as_json:
        typer.echo("sound")
    if found:
        raise typer.Exit(1)


@app.command()
def migrate(store: str | None = STORE, tenant: str = TENANT) -> None:
    """Bring it to this version of Clew. Any use does that; a copy is set aside before each step."""
    found = opened(store, tenant).info()
    typer.echo(f"version {found.version}, {found.features.get('backups', '0')} backups beside it")


@app.command()
def vacuum(
    store: str | None = STORE,
    tenant: str = TENANT,
    reindex: bool = typer.Option(False, "--reindex", help="Make the search indexes anew first."),
) -> None:
    """Give unused room back and put the indexes in order. Others wait while it runs."""
    handle = opened(store, tenant)
    before = handle.info().bytes
    if reindex:
        handle.reindex()
    after = handle.vacuum().bytes
    typer.echo(f"{before:,} -> {after:,} bytes")


@app.command()
def copy(source: str = typer.Argument(..., metavar="FROM"), target: str = typer.Argument(..., metavar="TO")) -> None:
    """Copy every session of every tenant; goes on where it was broken off."""
    new = there = 0
    for done in copy_store(open_store(source), open_store(target)):
        new, there = new + done.new, there + (not done.new)
    typer.echo(f"{new} sessions copied, {there} were there")
