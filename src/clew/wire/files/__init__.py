"""Session files, as agents leave them on disk: `read` gives one whole, `iter_records` walks one with flat memory.

A file is told by its content. What can't be read is said in sentences (`left_out`), and only a file that holds no
conversation at all is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.errors import InputError
from clew.transcript import Message
from clew.wire.files import chat, claude_code, codex, detect
from clew.wire.files.base import (
    LIMITS,
    MAIN,
    Compaction,
    Head,
    LeftOut,
    Limits,
    Record,
    Report,
    Said,
    SessionFile,
    SideChain,
)
from clew.wire.files.detect import FORMATS
from clew.wire.files.source import Line, Source

__all__ = [
    "FORMATS", "LIMITS", "MAIN", "Compaction", "Head", "LeftOut", "Limits", "Line", "Record", "Report", "Said",
    "SessionFile", "SideChain", "iter_records", "lines", "read",
]  # fmt: skip


def read(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002 - the word the command line and the docs use
    limits: Limits = LIMITS,
) -> SessionFile:
    """The whole file. `format` names what it is where its content doesn't tell."""
    head = Head("", "")
    chains: dict[str, list[Message]] = {MAIN: []}
    reports: list[Report] = []
    compactions: list[Compaction] = []
    left_out: list[str] = []
    for record in iter_records(path, format=format, limits=limits):
        match record:
            case Said(message, chain):
                chains.setdefault(chain, []).append(message)
            case Report():
                reports.append(record)
            case Compaction():
                compactions.append(record)
            case LeftOut(sentence):
                left_out.append(sentence)
            case Head():
                head = record
    main = chains.pop(MAIN)
    return SessionFile(
        str(path), head, tuple(main), tuple(reports), tuple(compactions),
        tuple(SideChain(name, tuple(messages)) for name, messages in chains.items()), tuple(left_out),
    )  # fmt: skip


def iter_records(
    path: Path | str,
    *,
    format: str | None = None,  # noqa: A002 - as in `read`
    limits: Limits = LIMITS,
) -> Iterator[Record]:
    """The file's records: its head first, then messages, reports and compactions in the order of the conversation, the
    main one before its side chains, and at last what was left out. Memory holds one message at a time, and a few words
    for each line.
    """
    with Source(path, limits) as source, _translated(path):
        kind = detect.kind(source, format)
        match kind.family:
            case claude_code.FORMAT:
                yield from claude_code.records(source)
            case codex.FORMAT:
                yield from codex.records(source)
            case family:
                yield from chat.records(source, document=kind.document, share=family == "sharegpt", named=kind.wire)


def lines(path: Path | str, *, limits: Limits = LIMITS) -> Iterator[Line]:
    """Every line of the file as it stands, with its number and offset; blank ones and those over the limit left out."""
    with Source(path, limits) as source, _translated(path):
        yield from source.lines()


@contextmanager
def _translated(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        raise InputError(f"{path} can't be read any further: {e.strerror}", hint="is the disk still there?") from e
