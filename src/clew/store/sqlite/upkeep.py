"""What a file is, whether it is sound, and keeping it small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from clew.errors import StoreCorrupt
from clew.store.addresses import from_bytes
from clew.store.migrate import version
from clew.store.pack import DICTIONARY_BYTES, PLAIN, train
from clew.store.records import Finding, Info
from clew.store.sqlite import files, index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import catch_up, set_watermark, watermark
from clew.store.sqlite.purge import repack
from clew.store.sqlite.rows import unpack
from clew.transcript import chain as grow

TRAIN_AT = 2000  # contents at which a store has enough of its own to train on
_SAMPLES, _SAMPLE_BYTES = 2000, 8192


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
        except sqlite3.DatabaseError as e:
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
        at = _end_of_prefix(link, parent, shared) if shared else ""
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


def _end_of_prefix(link: Link, no: int | None, shared: int) -> str:
    while no is not None:
        parent, above = link.db.execute("SELECT parent, shared FROM sessions WHERE no = ?", (no,)).fetchone()
        if shared > above:
            sql = "SELECT chain FROM messages WHERE session = ? AND position = ?"
            found = link.db.execute(sql, (no, shared - 1)).fetchone()
            return from_bytes(found[0]) if found else ""
        no = parent
    return ""


def _bodies(link: Link) -> Iterator[Finding]:
    for id_, body in link.db.execute("SELECT id, body FROM contents"):
        try:
            unpack(link, body)
        except StoreCorrupt as e:
            yield Finding("contents", f"content {id_}: {e.message}", fatal=True)


def due(link: Link, new: int) -> bool:
    """Whether the last `new` messages brought the store to a size at which training is worth a try."""
    most = link.db.execute("SELECT max(id) FROM contents").fetchone()[0] or 0
    return most >= TRAIN_AT and most % TRAIN_AT < new


def empty_log(link: Link) -> bool:
    """Whether the log could be emptied: not while another connection reads what stood before."""
    [(held, *_)] = link.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not held


def learn(link: Link) -> bool:
    """Trains on the store's own contents, within a write; not where another process did, or they are too few. Every
    process finds the new dictionary before it packs the next time.
    """
    if link.packer.newest > PLAIN:
        return False
    rows = link.db.execute("SELECT body FROM contents ORDER BY id DESC LIMIT ?", (_SAMPLES,)).fetchall()
    samples = [unpack(link, body)[:_SAMPLE_BYTES] for (body,) in rows]
    body = train(samples) if sum(map(len, samples)) > 4 * DICTIONARY_BYTES else None
    if body is None:
        return False
    number = (link.db.execute("SELECT max(id) FROM dictionaries").fetchone()[0] or PLAIN) + 1
    link.db.execute("INSERT INTO dictionaries (id, body) VALUES (?, ?)", (number, body))
    return True


def repack_old(link: Link) -> int:
    """Packs with the newest dictionary what was packed before there was one."""
    newest = link.packer.newest
    return repack(link, link.packer.pack, f"substr(body, 1, 1) = x'{PLAIN:02x}'") if newest > PLAIN else 0


def reindex(link: Link) -> int:
    """Both indexes made anew from the messages."""
    index.clear(link.db, link.have)
    set_watermark(link, -1)
    while catch_up(link):
        pass
    index.note(link.db, link.have)
    return int(link.db.execute("SELECT count(*) FROM messages WHERE id <= ?", (watermark(link),)).fetchone()[0])
