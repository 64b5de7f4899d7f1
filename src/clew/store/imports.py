"""Session files of other programs, and archived sessions, into a store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew import jsonio
from clew.errors import Conflict, NotFound
from clew.store.archive import KIND, from_line
from clew.store.base import Store
from clew.store.records import NewSession, Session
from clew.transcript import Message
from clew.wire import files


@dataclass(frozen=True, slots=True)
class Imported:
    """A session that came in, how many of its messages were new, and what its file holds that it doesn't."""

    session: Session
    new: int
    left_out: tuple[str, ...] = ()


def import_file(store: Store, path: Path, *, format: str | None = None, source: str = "") -> Iterator[Imported]:  # noqa: A002 - the word the command line uses
    """One file may hold several sessions: archived ones, or a conversation with its side chains. What is there already
    is passed over; the same id with other messages is a Conflict.
    """
    with path.open("rb") as f:
        head = f.read(4096)
    if f'"type":"{KIND}"'.encode() in head:
        yield from _archived(store, path)
        return
    read = files.read(path, format=format)
    name = read.head.session_id or f"import-{jsonio.digest(head)[:12]}"
    extra = {k: v for k, v in {"system": read.head.system, "branch": read.head.branch}.items() if v}
    made = NewSession(
        name, source or read.head.format, read.head.model, read.head.title, "", read.head.cwd, "import", extra=extra
    )
    yield _put(store, made, read.messages, tuple(read.left_out))
    for chain in read.sidechains:
        child = NewSession(
            f"{name}/{chain.name}", "subagent", read.head.model, chain.name, kind="subagent", parent=name
        )
        yield _put(store, child, chain.messages, ())


def _put(store: Store, new: NewSession, messages: tuple[Message, ...], left_out: tuple[str, ...]) -> Imported:
    try:
        store.session(new.id)
    except NotFound:
        store.create(new)
    done = store.append(new.id, messages, at=0)
    return Imported(store.session(new.id), done.new, left_out)


def _archived(store: Store, path: Path) -> Iterator[Imported]:
    with path.open("rb") as lines:
        for line in lines:
            dump = from_line(line)
            try:
                there = store.session(dump.session.id)
            except NotFound:
                yield Imported(store.load(dump), len(dump.messages))
                continue
            if there.chain != dump.session.chain:
                raise Conflict(
                    f"{there.id!r} is here with other messages", hint="delete it first, or import into another store"
                )
            yield Imported(there, 0)
