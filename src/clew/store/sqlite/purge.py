"""A leaked value masked in every place of one file, and no trace of it left in free pages, log or index."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from clew.store.mask import Masker, masked_message
from clew.store.pack import Packer
from clew.store.sqlite import files, index, log
from clew.store.sqlite.connect import Link
from clew.store.sqlite.pending import changing, set_watermark
from clew.store.sqlite.rows import message_of, name_of, unpack

_BODIES = {"events": ("session", "sequence"), "epochs": ("session", "number"), "states": ("session", "key", "position")}
_LABELS = (("events", "kind"), ("states", "key"), ("sessions", "end_reason"))
_TRACES = "traces"  # in `meta`, from a masking until the file was swept
_MASKINGS = "maskings"
_AT_ONCE = 500
_TEXTS = ("title", "goal", "workspace", "source", "model")


def mask(link: Link, masker: Masker) -> tuple[Counter[str], list[str]]:
    """In one transaction; how often in which kind of place, and where it has to stay. The caller sweeps up afterwards."""
    found: Counter[str] = Counter()
    _contents(link, masker, found)
    _bodies(link, masker, found)
    _sessions(link, masker, found)
    _metas(link, masker, found)
    left = _names(link, masker, found)
    _labels(link, masker, found)
    _usage(link, masker, found)
    _dictionaries(link, masker, found)
    ids = [
        id_ for (id_,) in link.db.execute("SELECT id FROM sessions WHERE instr(id, ?) ORDER BY no", (masker.cleaned,))
    ]
    return found, [masker.left_in_id(i) for i in ids] + left


def note_traces(link: Link, masked: bool) -> bool:
    """Whether something that was masked, now or by a purge that was broken off, may still be read in free pages, log or
    index.
    """
    if masked:
        link.db.execute(f"INSERT OR REPLACE INTO meta (key, value) VALUES ('{_TRACES}', '')")  # noqa: S608 - a constant
        values = (_MASKINGS, str(maskings(link) + 1))
        link.db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", values)
    return link.db.execute("SELECT 1 FROM meta WHERE key = ?", (_TRACES,)).fetchone() is not None


def maskings(link: Link) -> int:
    """How often something was masked: what was worked out from contents before must not be kept after."""
    found = link.db.execute("SELECT value FROM meta WHERE key = ?", (_MASKINGS,)).fetchone()
    return int(found[0]) if found else 0


def forget_traces(link: Link) -> None:
    link.db.execute("DELETE FROM meta WHERE key = ?", (_TRACES,))


def _contents(link: Link, masker: Masker, found: Counter[str]) -> None:
    cursor = link.db.execute("SELECT id, wire, body FROM contents")
    changed: dict[int, bytes] = {}
    while chunk := cursor.fetchmany(200):
        for id_, kind, body in chunk:
            data = unpack(link, body)
            is_text = name_of(link, kind) == ""
            masked = masker.plain(data) if is_text else masker.json(data)
            if masked != data:
                if not is_text:
                    masked_message(message_of(name_of(link, kind), data), masked)
                changed[id_] = masked
                found["originals" if is_text else "messages"] += 1
    rows: dict[int, list[int]] = {content: [] for content in changed}
    for id_, content in link.db.execute("SELECT id, content FROM messages"):
        if content in changed:
            rows[content].append(id_)
    found["index"] += sum(map(len, rows.values()))
    for some in _batches(rows):
        with changing(link, [id_ for content in some for id_ in rows[content]]):
            values = [(link.packer.pack(changed[content]), content) for content in some]
            link.db.executemany("UPDATE contents SET masked = 1, body = ? WHERE id = ?", values)


def _batches(rows: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Contents, so many together that their rows are a good number, and each with all of its rows: an index entry must be
    taken out as it was put in.
    """
    some: list[int] = []
    count = 0
    for content, held in rows.items():
        some.append(content)
        count += len(held)
        if count >= _AT_ONCE:
            yield some
            some, count = [], 0
    if some:
        yield some


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


def _names(link: Link, masker: Masker, found: Counter[str]) -> list[str]:
    """Tools may be called anything; what is called so is scoped by that name in the index. Roles and wire formats are
    words that every message needs to be read; they are only named.
    """
    left = []
    for id_, name in link.db.execute("SELECT id, name FROM names WHERE instr(name, ?)", (masker.cleaned,)).fetchall():
        rows = link.db.execute("SELECT id FROM messages WHERE tool = ?", (id_,)).fetchall()
        used = "SELECT 1 FROM messages WHERE role = ? UNION ALL SELECT 1 FROM contents WHERE wire = ? LIMIT 1"
        if link.db.execute(used, (id_, id_)).fetchone():
            left.append(f"the word {masker.text(name)!r}: messages can't be read without it")
            continue
        with changing(link, [row for (row,) in rows]):
            link.db.execute("UPDATE names SET name = ? WHERE id = ?", (f"{masker.text(name)} {id_}", id_))
            link.words.pop(id_, None)
            link.names.pop(name, None)
        found["names"] += 1
    return left


def _labels(link: Link, masker: Masker, found: Counter[str]) -> None:
    for table, column in _LABELS:
        sql = f"UPDATE OR REPLACE {table} SET {column} = replace({column}, ?, ?) WHERE instr({column}, ?)"  # noqa: S608 - constants
        found[table] += link.db.execute(sql, (masker.cleaned, masker.mask, masker.cleaned)).rowcount


def _usage(link: Link, masker: Masker, found: Counter[str]) -> None:
    """Figures that stand under one name afterwards are added up."""
    sql = "SELECT session, model, name, value FROM usage WHERE instr(model, ?) OR instr(name, ?)"
    for no, model, name, value in link.db.execute(sql, (masker.cleaned, masker.cleaned)).fetchall():
        link.db.execute("DELETE FROM usage WHERE session = ? AND model = ? AND name = ?", (no, model, name))
        log.add_usage(link, no, masker.text(model), {masker.text(name): value})
        found["usage"] += 1


def _dictionaries(link: Link, masker: Masker, found: Counter[str]) -> None:
    """One that holds a piece of it is emptied, and what it packed is packed without; its number never comes again."""
    held = {int(n): bytes(b) for n, b in link.db.execute("SELECT id, body FROM dictionaries")}
    tainted = [n for n, body in held.items() if body and masker.touches(body)]
    if not tainted:
        return
    untainted = Packer({n: b for n, b in held.items() if n not in tainted})
    for number in tainted:
        repack(link, untainted.pack, f"substr(body, 1, 1) = x'{number:02x}'")
        link.db.execute("UPDATE dictionaries SET body = x'' WHERE id = ?", (number,))
        found["dictionaries"] += 1
    link.packer = untainted


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


def beside(path: Path, masker: Masker) -> tuple[Counter[str], list[str]]:
    """The same in the files that stand beside a store: copies set aside before migrations are masked, what a killed one
    left half written is taken away, damaged files that a repair kept are named.
    """
    found: Counter[str] = Counter()
    left = [f"{p}: kept by a repair, it can't be searched" for p in files.set_aside_of(path)]
    for half in files.unfinished_of(path):
        half.unlink()
        found["unfinished copies"] += 1
    for backup in files.backups_of(path):
        try:
            places, stay = _mask_backup(backup, masker)
        except sqlite3.Error as e:
            left.append(f"{backup}: it can't be read ({e})")
            continue
        found.update({f"backup {place}": n for place, n in places.items()})
        left += [f"{backup}: {sentence}" for sentence in stay]
    return found, left


def _mask_backup(path: Path, masker: Masker) -> tuple[Counter[str], list[str]]:
    """It is not migrated. What was indexed under other rules can't be taken out by these: then its index is emptied."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete=ON")
        trained = {int(n): bytes(b) for n, b in db.execute("SELECT id, body FROM dictionaries")}
        link = Link(db, index.present(db), Packer(trained))
        db.execute("BEGIN IMMEDIATE")
        if index.noted(db) != link.have:
            index.clear(db, link.have)
            set_watermark(link, -1)
            index.note(db, link.have)
        found, left = mask(link, masker)
        if found:
            index.optimize(db, link.have)
        db.execute("COMMIT")
        if found:
            db.execute("VACUUM")
    return found, left
