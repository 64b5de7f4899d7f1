"""`clew search` and `clew recall`: what was said before, and what a reference stands for."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import typer
from typer.core import TyperCommand

from clew.cli.keys import key
from clew.cli.searchview import Look, glance_lines, hit_lines, window_lines
from clew.cli.sessionview import named
from clew.cli.stores import STORE, TENANT, existing
from clew.errors import InputError
from clew.lineage import session_id
from clew.recall import Current, Discovery, Filters, Found, browse, current, discover, moment
from clew.recall import recall as recall_original
from clew.recall.snippet import plain
from clew.store.base import Store
from clew.store.url import open_store

_JSON = typer.Option(False, "--json", help="JSON on standard output.")
_EXCLUDED = re.compile(r'-(?!n\d+$)(["\w].+)')


class Terms(TyperCommand):
    """A query's `-word` is a term and no option: the parser is given it as `NOT word`, which is the same."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the parser does, once terms are told from options; what follows `--` is left as it is."""
        end = args.index("--") if "--" in args else len(args)
        terms = [_EXCLUDED.sub(r"NOT \1", a) if _EXCLUDED.fullmatch(a) else a for a in args[:end]]
        return super().parse_args(ctx, [*terms, *args[end:]])


PARSERS = {"search": Terms}


def search(
    query: list[str] = typer.Argument(
        None, help='Words, "phrases", OR, -not, prefix*, a/path.py, code(. None: the latest.'
    ),
    role: list[str] = typer.Option([], "--role", help="user, assistant, tool… (may be repeated)"),
    tool: list[str] = typer.Option([], "--tool", help="Results of this tool."),
    source: list[str] = typer.Option([], "--source", help="Where the session came from."),
    project: list[str] = typer.Option([], "--project", help="The session's folder."),
    since: str = typer.Option("", "--since", help="3d, 12h, yesterday, 2026-11-18."),
    until: str = typer.Option("", "--until", help="As --since."),
    session: str = typer.Option("", "--session", help="All hits within this session and its lineage."),
    sort: str = typer.Option("best", "--sort", help="best or newest."),
    limit: int = typer.Option(10, "--limit", "-n", min=1, help="Conversations to a page."),
    page: int = typer.Option(1, "--page", min=1, help="Which page."),
    everything: bool = typer.Option(False, "--all", help="Subagents' and tools' sessions too."),
    in_view: bool = typer.Option(False, "--in-view", help="Also what the running session has in view."),
    full: bool = typer.Option(False, "--full", help="What stood around each hit, and both ends."),
    store: str | None = STORE,
    also: list[str] = typer.Option([], "--also", help="Another profile's store, only read (URL or path)."),
    tenant: str = TENANT,
    as_json: bool = _JSON,
) -> None:
    """Search all conversations, whoever compacted them. On a terminal: space for more, a number to open a hit, q to end."""
    if sort not in ("best", "newest"):
        raise InputError(f"--sort {sort} isn't known", hint="best or newest")
    now = time.time()
    mine = existing(store, tenant)
    where = Filters(
        tuple(role), tuple(tool), tuple(source), tuple(project),
        moment(since, now) if since else None, moment(until, now, end=True) if until else None,
        named(mine, session).id if session else "", everything, "newest" if sort == "newest" else "best",
    )  # fmt: skip
    text = " ".join(query or [])
    if not text.strip():
        _browse(mine, where, limit, as_json=as_json)
        return
    stores = [mine, *(open_store(url, tenant=tenant, read_only=True) for url in also)]
    running = None if in_view else _running(mine)

    def at(offset: int) -> Discovery:
        return discover(stores, text, where, current=running, limit=limit, offset=offset)

    first = (page - 1) * limit
    if as_json:
        _print_json(_value(text, at(first)))
    else:
        _show(at, first, limit, Look.of(sys.stdout), full=full)


def recall(
    reference: str = typer.Argument(help="As a marker names it: clew:k3v7q2m7x4ab"),
    lines: str = typer.Option("", "--lines", "-l", help="7, 7-20, 7- or -20, counted from 1."),
    raw: bool = typer.Option(False, "--raw", help="Secrets as they are; otherwise masked."),
    store: str | None = STORE,
    tenant: str = TENANT,
    as_json: bool = _JSON,
) -> None:
    """Print the original that a reference stands for, from any folder."""
    found = recall_original(existing(store, tenant), reference, lines=lines, raw=raw, look_elsewhere=True)
    if as_json:
        _print_json(asdict(found))
        return
    text = plain(found.text) if sys.stdout.isatty() else found.text
    data = text.encode("utf-8", "backslashreplace")
    sys.stdout.buffer.write(data if not data or data.endswith(b"\n") else data + b"\n")


def _show(at: Callable[[int], Discovery], first: int, limit: int, look: Look, *, full: bool) -> None:
    """A page, then the next one for as long as the reader asks for it."""
    found = at(first)
    for note in found.notes:
        typer.echo(f"note: {note}", err=True)
    seen: list[Found] = []
    while found.hits:
        for hit in found.hits:
            seen.append(hit)
            look.print(hit_lines(first + len(seen), hit, look))
            if full:
                look.print(window_lines(hit, look))
        if not look.live or not _more_wanted(seen, first, look, more=found.more is not None):
            break
        found = at(first + len(seen))
    if not seen:
        typer.echo("nothing found", err=True)
        raise typer.Exit(1)
    if not look.live and found.more is not None:
        typer.echo(f"there is more: --page {found.more // limit + 1}", err=True)


def _more_wanted(seen: Sequence[Found], first: int, look: Look, *, more: bool) -> bool:
    """Waits for a key; numbers open hits as often as one likes. False when the reader is done."""
    while True:
        look.prompt(f"{'space: more   ' if more else 'that is all   '}number: open a hit   q: end ")
        pressed = key()
        if pressed.isdigit():
            digits = look.number(pressed)
            if first < digits <= first + len(seen):
                look.print(window_lines(seen[digits - first - 1], look))
            continue
        look.prompt("")
        if pressed in "qQ\x1b\x04" or not more:
            return False
        if pressed in " \r\nnj":
            return True


def _browse(store: Store, where: Filters, limit: int, *, as_json: bool) -> None:
    found = browse(store, where, limit=limit)
    if as_json:
        _print_json({"sessions": [asdict(g) for g in found.items], "next": found.next})
        return
    look = Look.of(sys.stdout)
    for glance in found.items:
        look.print(glance_lines(glance))
    if not found.items:
        typer.echo("nothing is stored yet", err=True)


def _running(store: Store) -> Current | None:
    """The conversation this command was called from, as agents do: what it has in view needn't be found."""
    running = session_id()
    return current(store, running) if running else None


def _value(query: str, found: Discovery) -> dict[str, Any]:
    hits = [{**asdict(h), "snippet": {"text": h.snippet.text, "marks": h.snippet.marks}} for h in found.hits]
    return {"query": query, "notes": found.notes, "hits": hits, "more": found.more}


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
