"""What is SQLite's own: files and their rights, packing, batches of the index, masked bytes on disk, missing builds."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from clew.errors import ClewWarning
from clew.store import NewSession, open_store
from clew.store.query import Query, Scope, Term, TermKind
from clew.store.sqlite import backend, files, index, pending, upkeep
from clew.store.sqlite.backend import SqliteStore
from clew.testing.builders import user


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "home" / "clew.sqlite"


def filled(path: Path, length: int, name: str = "s") -> SqliteStore:
    store = SqliteStore(path)
    store.create(NewSession(name))
    store.append(name, [user(f"message number{n} of src/file_{n}.py") for n in range(length)], at=0)
    return store


def find(store, text: str, kind: TermKind = TermKind.WORD) -> list[int]:
    return sorted(h.position for h in store.find(Query(((Term(text, kind),),)), Scope(), limit=1000))


@pytest.mark.skipif(os.name != "posix", reason="left out: POSIX permissions")
def test_only_the_owner_may_read(path):
    store = filled(path, 5)
    store.for_tenant("t").create(NewSession("x"))
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for p in path.parent.iterdir():
        assert stat.S_IMODE(p.stat().st_mode) == 0o600, p
    store.close()
    path.chmod(0o644)
    assert SqliteStore(path).sessions()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_nothing_is_opened_before_it_is_used(path):
    store = open_store(f"sqlite:///{path}")
    assert not path.parent.exists()
    again = pickle.loads(pickle.dumps(SqliteStore(path)))
    again.create(NewSession("s"))
    assert store.session("s").id == "s"


def test_each_tenant_has_a_file(path):
    store = SqliteStore(path)
    for tenant in ("", "a b/c", "ü"):
        store.for_tenant(tenant).create(NewSession("s"))
    assert sorted(p.name for p in path.parent.glob("*.sqlite")) == [
        "clew.sqlite",
        "clew@%C3%BC.sqlite",
        "clew@a%20b%2Fc.sqlite",
    ]
    assert set(store.tenants()) == {"", "a b/c", "ü"}


@pytest.mark.parametrize("length", [1, 63, 64, 67, 200])
def test_what_waits_for_the_index_is_found_too(path, length):
    store = filled(path, length)
    with store._pool.read() as link:
        assert len(pending.waiting(link)) < pending.BATCH
    assert find(store, f"number{length - 1}") == [length - 1]
    assert find(store, "number0") == [0]
    assert find(store, "src/file_", TermKind.FRAGMENT) == list(range(length))


def test_an_append_leaves_indexing_to_whoever_does_it_later(path):
    asked: dict[object, object] = {}
    store = open_store(f"sqlite:///{path}", later=asked.setdefault)
    store.create(NewSession("s"))
    for n in range(200):
        store.append("s", [user(f"number{n}")], at=n)
    with store._pool.read() as link:
        assert len(pending.waiting(link)) == 200
    assert find(store, "number7") == [7]
    [piece] = asked.values()
    assert piece()  # a little of it, and there is more
    with store._pool.read() as link:
        assert 150 < len(pending.waiting(link)) < 200
    while piece():
        assert find(store, "number7") == [7]
    with store._pool.read() as link:
        assert len(pending.waiting(link)) < pending.BATCH
    assert find(store, "number199") == [199]


def test_deleting_among_neighbours_in_a_block_leaves_them_findable(path):
    store = SqliteStore(path)
    for name in ("a", "b"):
        store.create(NewSession(name))
    for n in range(60):
        for name in ("a", "b"):
            store.append(name, [user(f"{name}word{n}")], at=n)
    store.delete(["a"])
    for n in range(60):
        assert find(store, f"bword{n}") == [n]
        assert find(store, f"aword{n}") == find(store, f"aword{n}", TermKind.FRAGMENT) == []
    with store._pool.read() as link:
        rows = link.db.execute("SELECT count(*) FROM words WHERE words MATCH 'aword3'").fetchone()[0]
        blocks = link.db.execute("SELECT count(*) FROM grams WHERE grams MATCH 'awo'").fetchone()[0]
    assert (rows, blocks) == (0, 0)


def test_a_masked_value_is_in_no_byte_on_disk(path):
    secret = "hunter2correcthorse"
    store = filled(path, 70)
    store.append("s", [user(f"the password is {secret} ok")], at=70)
    store.append("s", [user(f"filler {n}") for n in range(70)], at=71)
    store.update("s", title=f"about {secret}")
    assert find(store, secret) == [70]
    store.close()
    old = Path(f"{path}.v1.backup")
    old.write_bytes(path.read_bytes())
    assert secret.encode() in old.read_bytes()
    done = store.purge(secret, "***")
    assert done.places["messages"] == done.places["backup messages"] == 1
    store.close()
    for p in path.parent.iterdir():
        assert secret.encode() not in p.read_bytes(), p
    assert find(store, secret) == []
    assert find(store, "password") == [70]


def test_a_dictionary_is_trained_used_and_given_up_when_it_leaked(path):
    import random

    rng = random.Random(3)
    secret = "sk-live-a1b2c3d4e5f6a7b8"
    words = ["connection", "database", "migration", "pytest", "assert", "session", "return", "import", secret]

    def text() -> str:
        return " ".join(rng.choice(words) for _ in range(60)) + f" {rng.random()}"

    store = SqliteStore(path)
    store.create(NewSession("s"))
    said = [text() for _ in range(upkeep.LESSONS[0].contents + 50)]
    other = SqliteStore(path)
    for at in range(0, len(said), 50):
        writer = store if at % 100 else other
        writer.append("s", [user(t) for t in said[at : at + 50]], at=at)
    assert store.info().features["dictionary"] == "yes"
    assert [m.message.text for m in other.messages("s")] == said
    done = store.purge(secret, "***")
    assert done.places["dictionaries"] == 1
    masked = [t.replace(secret, "***") for t in said]
    assert [m.message.text for m in other.messages("s")] == masked
    other.append("s", [user("after")], at=len(said))
    assert [m.message.text for m in SqliteStore(path).messages("s")] == [*masked, "after"]
    assert not SqliteStore(path).check()


def test_a_larger_store_learns_again(path, monkeypatch):
    monkeypatch.setattr(upkeep, "LESSONS", (upkeep.Lesson(100, 100, 4 << 10), upkeep.Lesson(400, 400, 12 << 10)))
    rng = Random(5)
    words = ["".join(rng.choices("abcdefghij", k=9)) for _ in range(400)]
    said = [" ".join(rng.choices(words, k=40)) for _ in range(500)]
    store = SqliteStore(path)
    store.create(NewSession("s"))
    for at, text in enumerate(said):
        store.append("s", [user(text)], at=at)
    with closing(sqlite3.connect(path)) as db:
        sizes = [n for (n,) in db.execute("SELECT length(body) FROM dictionaries ORDER BY id")]
    assert len(sizes) == 2
    assert sizes[1] > 2 * sizes[0]
    store.vacuum()
    with closing(sqlite3.connect(path)) as db:
        assert {k for (k,) in db.execute("SELECT DISTINCT hex(substr(body, 1, 1)) FROM contents")} == {"03"}
    assert [m.message.text for m in SqliteStore(path).messages("s")] == said


def test_a_dictionary_of_what_was_masked_meanwhile_is_not_kept(path, monkeypatch):
    monkeypatch.setattr(upkeep, "LESSONS", (upkeep.Lesson(100, 100, 4 << 10),))
    rng = Random(6)
    secret = "sk-live-a1b2c3d4e5f6a7b8"
    words = ["".join(rng.choices("abcdefghij", k=9)) for _ in range(100)] + [secret] * 20
    store = SqliteStore(path)
    other = SqliteStore(path)
    train = upkeep.train

    def slowly(samples, size):
        monkeypatch.setattr(upkeep, "train", lambda *_: None)
        other.purge(secret, "***")
        return train(samples, size)

    monkeypatch.setattr(upkeep, "train", slowly)
    store.create(NewSession("s"))
    store.append("s", [user(" ".join(rng.choices(words, k=60))) for _ in range(100)], at=0)
    assert store.info().features["dictionary"] == "no"
    store.close()
    other.close()
    assert all(secret[:12].encode() not in p.read_bytes() for p in path.parent.iterdir())


def test_a_build_without_full_text_search_works_and_says_so(path, monkeypatch):
    monkeypatch.setattr(
        index,
        "named",
        lambda *_: {
            "words": "CREATE VIRTUAL TABLE words USING no_fts (x)",
            "grams": "CREATE VIRTUAL TABLE grams USING no_fts (x)",
        },
    )
    with pytest.warns(ClewWarning, match="can't index") as told:
        store = filled(path, 100)
    assert len(told) == 2
    assert find(store, "number77") == [77]
    assert find(store, "ber77", TermKind.FRAGMENT) == [77]
    monkeypatch.undo()
    store.close()
    better = SqliteStore(path)
    better.append("s", [user("one more")], at=100)
    better.vacuum()
    assert better.info().features["grams"] == "yes"
    assert find(better, "number77") == [77]
    better.delete(["s"])
    assert not better.check()


@pytest.fixture
def build(monkeypatch):
    """Says what this build of SQLite lacks, as one without it would."""
    plain = index._look_at
    lacking: set[str] = set()

    def look(db, name):
        if name in lacking:
            raise sqlite3.OperationalError(f"no such tokenizer: {name}")
        plain(db, name)

    monkeypatch.setattr(index, "_look_at", look)
    return lacking


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lacks", [{"grams"}, {"words"}, {"words", "grams"}])
def test_a_file_may_go_to_a_build_that_lacks_an_index_and_back(path, build, lacks):
    filled(path, 130).close()
    build |= lacks
    poorer = SqliteStore(path)
    with pytest.warns(ClewWarning, match="can't index") as told:
        assert find(poorer, "number77") == [77]
    assert {str(w.message).split()[4] for w in told} == lacks
    assert find(poorer, "ber77", TermKind.FRAGMENT) == [77]
    poorer.append("s", [user(f"later number{n} of src/file_{n}.py") for n in range(130, 260)], at=130)
    assert find(poorer, "number200") == find(poorer, "ber200", TermKind.FRAGMENT) == [200]
    poorer.close()
    build.clear()
    better = SqliteStore(path)
    with pytest.warns(ClewWarning, match="made by another version"):
        assert find(better, "number200") == [200]
    with pytest.warns(ClewWarning, match="made by another version"):
        assert find(better, "ber77", TermKind.FRAGMENT) == [77]
    better.vacuum()
    assert find(better, "number200") == find(better, "ber200", TermKind.FRAGMENT) == [200]
    better.delete(["s"])
    assert not better.check()


def test_an_index_that_is_half_there_stays_so_quietly_at_every_opening(path, build):
    build |= {"grams"}
    with pytest.warns(ClewWarning, match="can't index grams"):
        store = filled(path, 130)
    store.close()
    again = SqliteStore(path)
    with pytest.warns(ClewWarning) as told:
        assert find(again, "number77") == [77]
    assert len(told) == 1
    with again._pool.read() as link:
        assert index.noted(link.db) == link.have == index.Indexes(words=True, grams=False)


def test_an_index_of_older_rules_is_made_anew_before_anything_is_taken_out(path):
    store = filled(path, 100)
    with store._pool.write() as link:
        link.db.execute("UPDATE meta SET value = 'older' WHERE key = 'index'")
        index.clear(link.db, link.have)
    store.delete(["s"])
    with store._pool.read() as link:
        assert index.noted(link.db) == index.BOTH
    assert not store.check()


def test_a_purge_says_while_others_still_read_what_stood_there(path, monkeypatch):
    monkeypatch.setattr(backend, "TRIES", 2)
    secret = "hunter2correcthorse"
    store = filled(path, 5)
    store.append("s", [user(f"the password is {secret} ok")], at=5)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM messages").fetchone() == (6,)
        done = store.purge(secret, "***")
        assert done.places["messages"] == 1
        assert any("purge again" in sentence for sentence in done.left)
    again = store.purge(secret, "***")
    assert (again.total, again.left) == (0, ())
    store.close()
    for p in path.parent.iterdir():
        assert secret.encode() not in p.read_bytes(), p


def test_a_purge_looks_at_what_stands_beside_the_store(tmp_path):
    secret = "hunter2correcthorse"
    path = tmp_path / "cl[e]w*.sqlite"
    store = filled(path, 5)
    store.append("s", [user(f"the password is {secret} ok")], at=5)
    store.close()
    beside = {
        n: path.with_name(path.name + n) for n in (".v1.backup", ".v1.part", ".repair", ".corrupt-1", ".v2.backup")
    }
    for p in beside.values():
        p.write_bytes(path.read_bytes() if p.suffix != ".backup" or ".v1." in p.name else b"x" * 5000)
    other = tmp_path / "clew.sqlite.v1.backup"
    other.write_bytes(path.read_bytes())
    done = store.purge(secret, "***")
    assert done.places["backup messages"] == 1
    assert done.places["unfinished copies"] == 2
    assert not beside[".v1.part"].exists()
    assert not beside[".repair"].exists()
    assert [s for s in done.left if str(beside[".corrupt-1"]) in s]
    assert [s for s in done.left if str(beside[".v2.backup"]) in s and "can't be read" in s]
    assert secret.encode() not in beside[".v1.backup"].read_bytes()
    assert secret.encode() in other.read_bytes(), "another store's"


def test_a_backup_that_was_indexed_under_other_rules_keeps_no_word_of_it(path):
    secret = "hunter2correcthorse"
    store = filled(path, 70)
    store.append("s", [user(f"the password is {secret} ok")] * 64, at=70)
    store.close()
    old = Path(f"{path}.v1.backup")
    old.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(old)) as db, db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'index'")
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.execute("INSERT INTO words (rowid, scope, body) VALUES (71, 'another', ?)", (f"by other rules {secret}",))
    store.purge(secret, "***")
    with closing(sqlite3.connect(old)) as db:
        assert not db.execute("SELECT rowid FROM words WHERE words MATCH ?", (secret,)).fetchall()
    store.close()
    back = SqliteStore(old)
    assert find(back, secret) == []
    assert find(back, "password") == list(range(70, 134))


def test_a_word_that_every_message_needs_is_named_not_masked(path):
    store = filled(path, 3)
    assert store.purge("openai-chat", "***").left
    assert store.messages("s")[0].message.wire == "openai-chat"


def test_a_check_finds_what_is_wrong(path):
    store = filled(path, 12)
    assert not store.check()
    with store._pool.write() as link:
        link.db.execute("DELETE FROM contents WHERE id = 5")
        link.db.execute("UPDATE messages SET chain = zeroblob(20) WHERE position = 2")
        link.db.execute("UPDATE contents SET body = x'01ffff' WHERE id = 9")
    found = [f"{f.what}: {f.detail}" for f in store.check()]
    for sign in ("message 4 of session 1 has no content", "s: message 2 isn't", "content 9:"):
        assert any(sign in f for f in found), sign


def test_the_log_of_a_killed_writer_is_read_by_the_next(path):
    store = filled(path, 10)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store.info().messages == 10


def test_file_systems_are_told_by_their_mount(monkeypatch, tmp_path):
    mounts = "/dev/sda / ext4 rw 0 0\nserver:/x /mnt/with\\040space nfs4 rw 0 0\nssh /mnt fuse.sshfs rw 0 0\n"
    monkeypatch.setattr(files.sys, "platform", "linux")
    monkeypatch.setattr(files.Path, "read_text", lambda *a, **k: mounts)
    assert files.on_network(Path("/mnt/with space/deep/c.sqlite")) == "nfs4"
    assert files.on_network(Path("/mnt/c.sqlite")) == "fuse.sshfs"
    assert files.on_network(Path("/mntother/c.sqlite")) == ""
