"""`clew store`: what the store is, whether it is sound, and moving it."""

from __future__ import annotations

from dataclasses import asdict

import typer

from clew.cli.sessionview import print_json
from clew.cli.stores import JSON, STORE, TENANT, existing, url_of
from clew.errors import StoreCorrupt, StoreMissing
from clew.store.copy import copy as copy_store
from clew.store.records import Finding
from clew.store.url import open_store, repair_store

app = typer.Typer(help="The store: look, check, repair, shrink, copy.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def info(store: str | None = STORE, tenant: str = TENANT, as_json: bool = JSON) -> None:
    """What is in it and what it can do."""
    found = existing(store, tenant).info()
    values = {f: getattr(found, f) for f in found.__slots__}
    if as_json:
        print_json({**values, "features": dict(found.features)})
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
    as_json: bool = JSON,
) -> None:
    """Look for damage, from the file's pages to the hash of every prefix. Exit code 1 where something was found."""
    try:
        found = list(existing(store, tenant).check())
    except StoreCorrupt as e:
        found = [Finding("file", e.message, fatal=True)]
    if as_json:
        print_json([asdict(f) for f in found])
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
def migrate(store: str | None = STORE, tenant: str = TENANT, as_json: bool = JSON) -> None:
    """Bring it to this version of Clew. Any use does that; a copy is set aside before each step."""
    found = existing(store, tenant).info()
    backups = int(found.features.get("backups", "0"))
    if as_json:
        print_json({"version": found.version, "backups": backups})
        return
    typer.echo(f"version {found.version}, {backups} backups beside it")


@app.command()
def vacuum(
    store: str | None = STORE,
    tenant: str = TENANT,
    reindex: bool = typer.Option(False, "--reindex", help="Make the search indexes anew first."),
    as_json: bool = JSON,
) -> None:
    """Give unused room back and put the indexes in order. Others wait while it runs."""
    handle = existing(store, tenant)
    before = handle.info().bytes
    if reindex:
        handle.reindex()
    after = handle.vacuum().bytes
    if as_json:
        print_json({"before": before, "after": after})
        return
    typer.echo(f"{before:,} -> {after:,} bytes")


@app.command()
def copy(
    source: str = typer.Argument(..., metavar="FROM"),
    target: str = typer.Argument(..., metavar="TO"),
    as_json: bool = JSON,
) -> None:
    """Copy every session of every tenant; goes on where it was broken off."""
    origin = open_store(source)
    if not origin.tenants():
        raise StoreMissing(f"there is no store at {source}", hint="check the path")
    new = there = 0
    for done in copy_store(origin, open_store(target)):
        new, there = new + done.new, there + (not done.new)
    if as_json:
        print_json({"copied": new, "there": there})
        return
    typer.echo(f"{new} sessions copied, {there} were there")
