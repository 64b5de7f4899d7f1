"""Session files of other programs, and archived sessions, into a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from clew import jsonio
from clew.errors import Conflict, InputError, NotFound
from clew.jsonio import Json
from clew.store.archive import KIND, from_line
from clew.store.base import Store
from clew.store.records import NewSession, Session
from clew.transcript import Message
from clew.wire import files
from clew.wire.files.claude_code import FORMAT as CLAUDE_CODE

_MILLISECONDS = 1e11  # a number above it counts milliseconds: as seconds it would be in a distant millennium


@dataclass(frozen=True, slots=True)
class Imported:
    """A session that came in, how many of its messages were new, and what its file holds that it doesn't."""

    session: Session
    new: int
    left_out: tuple[str, ...] = ()


def import_file(store: Store, path: Path, *, format: str | None = None, source: str = "") -> Iterator[Imported]:  # noqa: A002 - the word the command line uses
    """One file may hold several sessions: archived ones, a conversation with its side chains, or conversations beside each
    other, which come in under their own ids. What is there already is passed over; the same id with other messages is a
    Conflict. Times are those the file has.
    """
    try:
        with path.open("rb") as f:
            head = f.read(4096)
    except OSError as e:
        raise InputError(f"{path} can't be read: {e.strerror}", hint="check the path and its permissions") from e
    if f'"type":"{KIND}"'.encode() in head:
        yield from _archived(store, path)
        return
    read = files.read(path, format=format)
    extra = {k: v for k, v in {"system": read.head.system, "branch": read.head.branch}.items() if v}
    made = NewSession(
        read.head.session_id, source or read.head.format, read.head.model, read.head.title, "", read.head.cwd, "import",
        extra=extra,
    )  # fmt: skip
    if made.id:
        done = _put(store, made, read.messages, tuple(read.left_out))
    else:
        done = _put_nameless(store, made, read.messages, tuple(read.left_out))
    yield done
    for chain in read.sidechains:
        name = done.session.id
        if read.head.format == CLAUDE_CODE:
            child = NewSession(
                f"{name}/{chain.name}", "subagent", read.head.model, chain.name, kind="subagent", parent=name
            )
            yield _put(store, child, chain.messages, ())
            continue
        other = NewSession("", made.source, read.head.model, workspace=made.workspace, kind="import")
        put = _put_nameless if chain.name.isdigit() else _put
        yield put(store, replace(other, id=chain.name), chain.messages, ())


def _put_nameless(store: Store, new: NewSession, messages: tuple[Message, ...], left_out: tuple[str, ...]) -> Imported:
    """Under an id made of how it begins, so that it is known again when it has grown. Another conversation that begins
    alike gets the next number.
    """
    begins = "".join(m.address for m in messages[:3])
    stem = f"import-{jsonio.digest(begins.encode())[:12]}"
    for n in count(1):
        try:
            return _put(store, replace(new, id=stem if n == 1 else f"{stem}-{n}"), messages, left_out)
        except Conflict as e:
            if e.position is None or e.position < 0:
                raise
    raise AssertionError("there is always a next number")


def _put(store: Store, new: NewSession, messages: tuple[Message, ...], left_out: tuple[str, ...]) -> Imported:
    times = said_at(messages, store.now())
    try:
        store.session(new.id)
    except NotFound:
        store.create(replace(new, created=times[0]) if times else new)
    done = store.append(new.id, messages, at=0, times=times)
    return Imported(store.session(new.id), done.new, left_out)


def said_at(messages: Sequence[Message], now: float) -> list[float]:
    """When each was said, by what its file noted; one of which nothing is known was said when the one before it was, and
    at the beginning when the first of the others was.
    """
    noted = [_moment(m.meta.get("timestamp")) for m in messages]
    at = next((t for t in noted if t is not None), now)
    times = []
    for t in noted:
        at = t if t is not None else at
        times.append(at)
    return times


def _moment(stamp: Json) -> float | None:
    """Seconds since 1970, of what files write: ISO 8601, seconds, milliseconds."""
    if isinstance(stamp, int | float) and not isinstance(stamp, bool):
        seconds = float(stamp) / (1000 if stamp > _MILLISECONDS else 1)
        return seconds if 0 < seconds < _MILLISECONDS else None
    try:
        at = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() if at else None


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
