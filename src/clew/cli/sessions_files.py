"""`clew sessions export` and `import`: to other programs and back, and whole sessions from one store to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from clew.cli.sessionview import named, print_json
from clew.cli.stores import JSON, STORE, TENANT, existing, opened
from clew.errors import InputError
from clew.ledger.foreign import recognise
from clew.lineage import Lineage
from clew.redact import redact
from clew.store.archive import to_line
from clew.store.export import FORMATS, Options, noted
from clew.store.export import export as export_lines
from clew.store.imports import import_file
from clew.transcript import Message

RAW = typer.Option(False, "--raw", help="Secrets as they are; otherwise masked.")


def export(
    sessions: list[str] = typer.Argument(None, help="Ids, or their beginnings."),
    everything: bool = typer.Option(False, "--all", help="Every session."),
    format: str = typer.Option("clew", "--format", "-f", help=f"clew (everything, for import), {', '.join(FORMATS)}."),  # noqa: A002 - the option's name
    training: bool = typer.Option(
        False, "--training", help="Leave out handoffs and summaries, instead of marking them."
    ),
    raw: bool = RAW,
    store: str | None = STORE,
    tenant: str = TENANT,
) -> None:
    """JSON lines on standard output. `clew` is the whole session, secrets and all, with those it was forked from: it is a
    backup.
    """
    if bool(sessions) == everything:
        raise InputError("which sessions?", hint="name some, or --all")
    if format != "clew" and format not in FORMATS:
        raise InputError(f"{format!r} is no format", hint=f"clew, {', '.join(FORMATS)}")
    if training and format == "clew":
        raise InputError("a backup is whole", hint=f"--training goes with --format {', '.join(FORMATS)}")
    handle = existing(store, tenant)
    ids = [s.id for s in handle.walk()] if everything else [named(handle, s).id for s in sessions]
    if format == "clew":
        lines: Iterator[bytes] = (to_line(handle.dump(i)) for i in Lineage(handle).with_ancestors(ids))
    else:
        lines = export_lines(handle, ids, format, Options(training, str if raw else redact, made_by_a_compaction))
    for line in lines:
        sys.stdout.buffer.write(line + b"\n")


def made_by_a_compaction(message: Message) -> str:
    """What its maker noted, or what its own words say: handoffs come in with the files of other programs, unmarked."""
    whose = recognise(message.text) if message.role != "assistant" or not message.calls else None
    return noted(message) or (f"handoff ({whose})" if whose else "")


def import_(
    files: list[Path],
    format: str | None = typer.Option(None, "--format", "-f", help="Where the content doesn't tell."),  # noqa: A002 - the option's name
    source: str = typer.Option("", help="What to note as their source; default: the format."),
    store: str | None = STORE,
    tenant: str = TENANT,
    as_json: bool = JSON,
) -> None:
    """Session files of Claude Code, Codex and others, and what `export --format clew` wrote. Again does no harm."""
    handle = opened(store, tenant)
    done = []
    for path in files:
        for one in import_file(handle, path, format=format, source=source):
            done.append({"session": one.session.id, "new": one.new, "length": one.session.length})
            if not as_json:
                typer.echo(f"{one.session.id}  {one.new} new of {one.session.length} messages")
            for sentence in one.left_out:
                typer.echo(f"  {sentence}", err=True)
    if as_json:
        print_json(done)
