"""A leaked value masked in every place of one file, and no trace of it left in free pages, log or index."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from clew import wire
from clew.store.mask import Masker
from clew.store.pack import Packer
from clew.store.sqlite import index
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import changing
from clew.store.sqlite.rows import name_of, unpack

_BODIES = {"events": ("session", "sequence"), "epochs": ("session", "number"), "states": ("session", "key", "position")}
_TEXTS = ("title", "goal", "workspace", "source", "model")


def mask(link: Link, masker: Masker) -> Counter[str]:
    """In one transaction. The caller shrinks the file afterwards."""
    found: Counter[str] = Counter()
    _contents(link, masker, found)
    _bodies(link, masker, found)
    _sessions(link, masker, found)
    _metas(link, masker, found)
    _dictionaries(link, masker, found)
    return found


def _contents(link: Link, masker: Masker, found: Counter[str]) -> None:
    cursor = link.db.execute("SELECT id, wire, body FROM contents")
    changed: list[tuple[int, bytes, bool]] = []
    while chunk := cursor.fetchmany(200):
        for id_, kind, body in chunk:
            data = unpack(link, body)
            is_text = name_of(link, kind) == ""
            masked = masker.plain(data) if is_text else masker.json(data)
            if masked != data:
                if not is_text:
                    wire.get(name_of(link, kind)).message(masked)
                changed.append((id_, masked, is_text))
    for id_, masked, is_text in changed:
        rows = [n for (n,) in link.db.execute("SELECT id FROM messages WHERE content = ?", (id_,)).fetchall()]
        with changing(link, rows):
            link.db.execute("UPDATE contents SET masked = 1, body = ? WHERE id = ?", (link.packer.pack(masked), id_))
        found["originals" if is_text else "messages"] += 1
        found["index"] += len(rows)


def _bodies(link: Link, masker: Masker, found: Counter[str]) -> None:
    for table, key in _BODIES.items():
        columns = ", ".join(key)
        for *where, body in link.db.execute(f"SELECT {columns}, body FROM {table}").fetchall():  # noqa: S608 - constants
            data = unpack(link, body)
            masked = masker.json(data)
            if masked != data:
                test = " AND ".join(f"{k} = ?" for k in key)
                values = (link.packer.pack(masked), *where)
                link.db.execute(f"UPDATE {table} SET body = ? WHERE {test}", values)  # noqa: S608 - constants
                found[table] += 1


def _sessions(link: Link, masker: Masker, found: Counter[str]) -> None:
    columns = ", ".join((*_TEXTS, "extra", "open_calls"))
    for no, *texts in link.db.execute(f"SELECT no, {columns} FROM sessions").fetchall():  # noqa: S608 - constants
        *plain, extra, calls = texts
        masked = [masker.text(t) for t in plain] + [masker.json(t.encode()).decode() for t in (extra, calls)]
        if masked != texts:
            sets = ", ".join(f"{c} = ?" for c in (*_TEXTS, "extra", "open_calls"))
            link.db.execute(f"UPDATE sessions SET {sets} WHERE no = ?", (*masked, no))  # noqa: S608 - constants
            found["sessions"] += 1


def _metas(link: Link, masker: Masker, found: Counter[str]) -> None:
    for id_, meta in link.db.execute("SELECT id, meta FROM messages WHERE meta IS NOT NULL").fetchall():
        masked = masker.json(meta.encode()).decode()
        if masked != meta:
            link.db.execute("UPDATE messages SET meta = ? WHERE id = ?", (masked, id_))
            found["meta"] += 1


def _dictionaries(link: Link, masker: Masker, found: Counter[str]) -> None:
    """One that holds a piece of it is emptied, and what it packed is packed without; its number never comes again."""
    held = {int(n): bytes(b) for n, b in link.db.execute("SELECT id, body FROM dictionaries")}
    tainted = [n for n, body in held.items() if body and masker.touches(body)]
    if not tainted:
        return
    clean = Packer({n: b for n, b in held.items() if n not in tainted})
    for number in tainted:
        repack(link, clean.pack, f"substr(body, 1, 1) = x'{number:02x}'")
        link.db.execute("UPDATE dictionaries SET body = x'' WHERE id = ?", (number,))
        found["dictionaries"] += 1
    link.packer = clean


def repack(link: Link, pack: Callable[[bytes], bytes], where: str) -> int:
    """Packs the bodies that a test names anew; says how many."""
    done = 0
    for table, key in {"contents": ("id",), **_BODIES}.items():
        columns = ", ".join(key)
        keys = link.db.execute(f"SELECT {columns} FROM {table} WHERE {where}").fetchall()  # noqa: S608 - constants
        test = " AND ".join(f"{k} = ?" for k in key)
        for at in keys:
            (body,) = link.db.execute(f"SELECT body FROM {table} WHERE {test}", at).fetchone()  # noqa: S608 - constants
            link.db.execute(f"UPDATE {table} SET body = ? WHERE {test}", (pack(unpack(link, body)), *at))  # noqa: S608
            done += 1
    return done


def mask_backup(path: Path, masker: Masker) -> Counter[str]:
    """The same for a copy that a migration set aside; it is not migrated."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete=ON")
        trained = {int(n): bytes(b) for n, b in db.execute("SELECT id, body FROM dictionaries")}
        link = Link(db, index.present(db), Packer(trained))
        db.execute("BEGIN IMMEDIATE")
        found = mask(link, masker)
        if found:
            index.optimize(db, link.have)
        db.execute("COMMIT")
        if found:
            db.execute("VACUUM")
    return found
