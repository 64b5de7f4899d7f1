"""What a file is, whether it is sound, and keeping it small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clew.errors import StoreCorrupt
from clew.store.addresses import from_bytes
from clew.store.migrate import version
from clew.store.pack import PLAIN, RAW, train
from clew.store.records import Finding, Info
from clew.store.sqlite import files, index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import catch_up, set_watermark, watermark
from clew.store.sqlite.purge import maskings, repack
from clew.store.sqlite.rows import message_of, name_of, unpack
from clew.transcript import chain as grow


@dataclass(frozen=True, slots=True)
class Lesson:
    """At so many contents a dictionary of that size is trained on so many samples, which takes a second for the larger."""

    contents: int
    samples: int
    size: int


LESSONS = (Lesson(2000, 2000, 112 << 10), Lesson(20_000, 6000, 448 << 10))
_SAMPLE_BYTES = 8192


def info(link: Link, url: str, tenant: str, path: Path) -> Info:
    def count(table: str) -> int:
        return int(link.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - the names below

    sizes = [p.stat().st_size for p in (path, path.with_name(path.name + "-wal")) if p.exists()]
    features = {
        "sqlite": sqlite3.sqlite_version,
        "journal": str(link.db.execute("PRAGMA journal_mode").fetchone()[0]),
        "words": "yes" if link.have.words else "no",
        "grams": "yes" if link.have.grams else "no",
        "dictionary": "yes" if link.packer.newest > PLAIN else "no",
        "file system": files.file_system(path),
        "backups": str(len(files.backups_of(path))),
    }
    return Info(
        url, "sqlite", tenant, version(link.db), count("sessions"), count("messages"), count("contents"),
        count("originals"), count("epochs"), sum(sizes), features,
    )  # fmt: skip


def check(link: Link, *, read_only: bool = False) -> Iterator[Finding]:
    """From the file's pages up to the hashes of every prefix."""
    parts = {"pages": _pages, "index": _indexes, "contents": _missing, "messages": _chains, "bodies": _bodies}
    for what, part in parts.items():
        if what == "index" and read_only:
            continue
        try:
            yield from part(link)
        except (sqlite3.DatabaseError, UnicodeDecodeError, StoreCorrupt) as e:
            yield Finding(what, f"can't be read: {e}", fatal=what != "index")


def _pages(link: Link) -> Iterator[Finding]:
    for (line,) in link.db.execute("PRAGMA integrity_check(20)").fetchall():
        if line != "ok":
            yield Finding("pages", line, fatal=True)


def _indexes(link: Link) -> Iterator[Finding]:
    for name, there in (("words", link.have.words), ("grams", link.have.grams)):
        if there:
            try:
                link.db.execute(f"INSERT INTO {name} ({name}) VALUES ('integrity-check')")  # noqa: S608 - the two names
            except sqlite3.DatabaseError as e:
                yield Finding("index", f"{name}: {e}", fatal=False)


def _missing(link: Link) -> Iterator[Finding]:
    sql = "SELECT m.session, m.position FROM messages m LEFT JOIN contents c ON c.id = m.content WHERE c.id IS NULL"
    for session, position in link.db.execute(sql).fetchall():
        yield Finding("contents", f"message {position} of session {session} has no content", fatal=True)


def _chains(link: Link) -> Iterator[Finding]:
    rows = link.db.execute("SELECT no, id, parent, shared, length, chain FROM sessions ORDER BY no").fetchall()
    for no, id_, parent, shared, length, chain in rows:
        at = end_of_prefix(link.db, parent, shared) if shared else ""
        position = shared
        sql = (
            "SELECT m.position, m.chain, c.address FROM messages m JOIN contents c ON c.id = m.content"
            " WHERE m.session = ? ORDER BY m.position"
        )
        for found, stored, address in link.db.execute(sql, (no,)):
            at = grow(at, from_bytes(address))
            if found != position or from_bytes(stored) != at:
                yield Finding("messages", f"{id_}: message {found} isn't what its prefix hash says", fatal=True)
                break
            position += 1
        else:
            if (position, at) != (length, chain):
                yield Finding("sessions", f"{id_}: {length} messages are counted, {position} are there", fatal=True)


def end_of_prefix(db: sqlite3.Connection, no: int | None, shared: int) -> str:
    """The hash of the first `shared` messages of a session; "" where they aren't there."""
    while no is not None:
        row = db.execute("SELECT parent, shared FROM sessions WHERE no = ?", (no,)).fetchone()
        if row is None:
            return ""
        parent, above = row
        if shared > above:
            sql = "SELECT chain FROM messages WHERE session = ? AND position = ?"
            found = db.execute(sql, (no, shared - 1)).fetchone()
            return from_bytes(found[0]) if found else ""
        no = parent
    return ""


def _bodies(link: Link) -> Iterator[Finding]:
    for id_, why in unreadable(link):
        yield Finding("contents", f"content {id_}: {why}", fatal=True)


def unreadable(link: Link) -> Iterator[tuple[int, str]]:
    """Contents that are no message, or no text, any more."""
    for id_, kind, body in link.db.execute("SELECT id, wire, body FROM contents"):
        try:
            data, name = unpack(link, body), name_of(link, kind)
            if name:
                message_of(name, data)
        except StoreCorrupt as e:
            yield id_, e.message


def lesson(link: Link) -> Lesson | None:
    """What the store is large enough for and hasn't learned yet."""
    most = _last_content(link)
    ready = [x for x in LESSONS if x.contents <= most]
    return ready[-1] if ready and link.packer.size <= ready[-1].size // 2 else None


def due(link: Link, new: int) -> bool:
    """Whether the last `new` messages brought the store to a size at which training is worth a try."""
    following = next((x.contents for x in LESSONS if link.packer.size <= x.size // 2), 0)
    if not following or not new:
        return False
    most = _last_content(link)
    return most >= following and most % following < new


def _last_content(link: Link) -> int:
    return int(link.db.execute("SELECT max(id) FROM contents").fetchone()[0] or 0)


def empty_log(link: Link) -> bool:
    """Whether the log could be emptied: not while another connection reads what stood before."""
    [(held, *_)] = link.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not held


@dataclass(frozen=True, slots=True)
class Learned:
    """A dictionary, for which lesson, and how often the store had been masked when its samples were read."""

    lesson: Lesson
    body: bytes
    maskings: int


def learn(link: Link) -> Learned | None:
    """Trains on contents from all over the store; None where nothing is due or it wouldn't pay."""
    what = lesson(link)
    if what is None:
        return None
    step = max(1, _last_content(link) // what.samples)
    rows = link.db.execute("SELECT body FROM contents WHERE id % ? = 0 ORDER BY id DESC LIMIT ?", (step, what.samples))
    samples = [unpack(link, body)[:_SAMPLE_BYTES] for (body,) in rows.fetchall()]
    body = train(samples, what.size) if sum(map(len, samples)) > 4 * what.size else None
    return Learned(what, body, maskings(link)) if body else None


def keep(link: Link, learned: Learned) -> None:
    """Within a write; not where another process was faster, or a secret was masked meanwhile. Every process finds it
    before it packs the next time.
    """
    if lesson(link) != learned.lesson or maskings(link) != learned.maskings:
        return
    number = (link.db.execute("SELECT max(id) FROM dictionaries").fetchone()[0] or PLAIN) + 1
    link.db.execute("INSERT INTO dictionaries (id, body) VALUES (?, ?)", (number, learned.body))


def repack_old(link: Link) -> int:
    """Packs with the newest dictionary what was packed before there was one."""
    newest = link.packer.newest
    if newest == PLAIN:
        return 0
    return repack(link, link.packer.pack, f"substr(body, 1, 1) NOT IN (x'{RAW:02x}', x'{newest:02x}')")


def reindex(link: Link) -> int:
    """Both indexes made anew from the messages."""
    index.clear(link.db, link.have)
    set_watermark(link, -1)
    while catch_up(link):
        pass
    index.note(link.db, link.have)
    return int(link.db.execute("SELECT count(*) FROM messages WHERE id <= ?", (watermark(link),)).fetchone()[0])
