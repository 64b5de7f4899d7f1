"""What the contract doesn't see of searching in SQLite: which index is asked, and what that mustn't change."""

from __future__ import annotations

import random
import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ClewWarning
from clew.store import NewSession, open_store
from clew.store.match import fold
from clew.store.query import Query, Scope, Term, TermKind
from clew.store.sqlite import intersect, propose
from clew.store.sqlite.index import BLOCK
from clew.store.sqlite.search import _RANKED
from clew.testing.builders import message, user


def fill(file, texts, name="s"):
    store = open_store(str(file))
    store.create(NewSession(name))
    store.append(name, [user(t) for t in texts], at=0)
    return store


def found(store, text, kind=TermKind.WORD, **scope):
    return [(h.session, h.position) for h in store.find(Query(((Term(text, kind),),)), Scope(**scope), limit=1000)]


@settings(max_examples=300, deadline=None)
@given(
    st.text()
    | st.text("aA\u03a3\u03c3\xe9\xc9e\u0301\u0345\u0130\uac00\u1100\u1161\u0995\u09c7\u09be\u4e2d\u2192\ufb01 ")
)
def test_folding_in_runs_is_folding_the_whole(text):
    plain = unicodedata.normalize("NFD", text)
    whole = unicodedata.normalize("NFC", "".join(c for c in plain if not unicodedata.combining(c))).lower()
    assert fold(text) == (text.lower() if text.isascii() else whole)


def test_every_character_folds_alone_as_in_a_text():
    for code in (c for c in range(0x20000) if not 0xD800 <= c < 0xE000):
        plain = "".join(c for c in unicodedata.normalize("NFD", chr(code)) if not unicodedata.combining(c))
        assert fold(f"{chr(code)}é") == (unicodedata.normalize("NFC", plain) + "e").lower()


def test_pieces_of_one_and_two_characters_need_no_reading_of_everything(tmp_path):
    store = fill(tmp_path / "s.sqlite", [f"message {n}" for n in range(200)] + ["数据库", "数", "fn => x"])
    store.vacuum()
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db, db:
        db.execute("UPDATE contents SET body = x'00' WHERE id < 150")
    assert found(store, "数据", TermKind.FRAGMENT) == [("s", 200)]
    assert sorted(found(store, "数", TermKind.FRAGMENT)) == [("s", 200), ("s", 201)]
    assert found(store, "=>", TermKind.FRAGMENT) == [("s", 202)]


def test_words_of_a_phrase_far_apart_are_not_even_read(tmp_path):
    far = [f"the file {n} is here and so is a function" for n in range(300)]
    store = fill(tmp_path / "s.sqlite", [*far, "see the function there"])
    store.vacuum()
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db, db:
        db.execute("UPDATE contents SET body = x'00' WHERE id < 300")
    assert found(store, "the function", TermKind.PHRASE) == [("s", 300)]


def test_a_piece_is_found_whatever_diacritics_it_is_typed_with(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["src/größe_x.py", "src/grosse_x.py"] + ["nothing"] * 100)
    store.vacuum()
    for typed in ("größe_x", "große_x", "GRÖßE_X"):
        assert found(store, typed, TermKind.FRAGMENT) == [("s", 0)]


def test_a_zero_in_a_text_hides_neither_what_follows_nor_its_neighbours(tmp_path):
    texts = ["grep: \0binary_file matches", "a/neighbour.py", "other\0"] + ["nothing"] * 100
    store, plain = fill(tmp_path / "s.sqlite", texts), open_store("memory:")
    plain.create(NewSession("s"))
    plain.append("s", [user(t) for t in texts], at=0)
    store.vacuum()
    for one in (store, plain):
        assert found(one, "ary_fi", TermKind.FRAGMENT) == [("s", 0)]
        assert found(one, "matches") == [("s", 0)]
        assert found(one, "a/neigh", TermKind.FRAGMENT) == [("s", 1)]
        for kind in TermKind:
            assert found(one, "\0", kind) == [] == found(one, "a\0b", kind)


def test_words_are_what_they_are_to_python_and_not_to_sqlites_older_tables(tmp_path):
    texts = ["\U0001f916generated", "\U0001f44d\U0001f3fdfine", "q\u19b0z \u19b0", "\U0001f7e2"] + ["nothing"] * 100
    store = fill(tmp_path / "s.sqlite", texts)
    store.vacuum()
    words = {"generated": 0, "fine": 1, "q\u19b0z": 2, "\u19b0": 2}
    assert {w: found(store, w) for w in words} == {w: [("s", n)] for w, n in words.items()}
    assert found(store, "gener", TermKind.PREFIX) == [("s", 0)]
    assert found(store, "\U0001f7e2", TermKind.FRAGMENT) == [("s", 3)]


def test_one_lineage_does_not_hide_the_others(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["needle"] * 3, "old")
    store.create(NewSession("loud"))
    store.append("loud", [user(f"needle {n}") for n in range(1500)], at=0)
    store.vacuum()
    hits = found(store, "needle", per_lineage=2)
    assert [h for h in hits if h[0] == "old"] == [("old", 2), ("old", 1)]
    assert len([h for h in hits if h[0] == "loud"]) == 2


def test_of_very_many_the_newest_are_ranked_and_all_can_be_paged_through(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["needle"] * 400)
    store.vacuum()
    query = Query(((Term("needle"),),))
    first = store.find(query, Scope(), limit=20)
    assert min(h.position for h in first) >= 400 - _RANKED
    assert {h.position for h in store.find(query, Scope(newest=True), limit=1000)} == set(range(400))


def test_an_index_of_another_version_is_not_trusted(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["the needle here"] + ["x"] * 300)
    store.vacuum()
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db, db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'index'")
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    with pytest.warns(ClewWarning, match="another version"):
        assert found(store, "needle") == [("s", 0)]
    store.vacuum()
    assert found(store, "needle") == [("s", 0)]


def test_what_is_to_be_left_out_is(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["needle one", "needle two", "needle größe", "needle ones"] + ["x"] * 200)
    store.vacuum()
    query = Query(((Term("needle"),),), (Term("one"), Term("größe")))
    assert sorted(h.position for h in store.find(query, Scope())) == [1, 3]


def test_a_role_narrows_a_long_search_for_a_piece(tmp_path):
    store = fill(tmp_path / "s.sqlite", ["x_needle_x"])
    many = [message({"role": "assistant", "content": f"x_needle_x {n}"}) for n in range(6000)]
    store.append("s", many, at=1)
    store.vacuum()
    assert found(store, "_needle_", TermKind.FRAGMENT, roles=("user",)) == [("s", 0)]
    assert len(found(store, "_needle_", TermKind.FRAGMENT, roles=("assistant",))) == 1000


def test_a_long_search_for_a_piece_asks_the_word_index_and_misses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(propose, "_LONG", 4)
    monkeypatch.setattr(propose, "_MUCH", 8)
    asked: list[str] = []
    held = propose._held
    monkeypatch.setattr(propose, "_held", lambda db, match: asked.append(match) or held(db, match))
    misleading = "ab_x b_nx x_neq xneex xeedx xedlx"
    store = fill(tmp_path / "s.sqlite", ["an ab_Needle", "ab_needless"] + [misleading] * 400)
    store.vacuum()
    assert sorted(found(store, "ab_needl", TermKind.FRAGMENT)) == [("s", 0), ("s", 1)]
    assert len(asked) == 1, "what a word begins with"
    picked = looked_at(monkeypatch)
    assert found(store, "ab_needl", TermKind.FRAGMENT, roles=("assistant",)) == []
    assert len(picked) <= 2 * propose._AT_ONCE, "then it is asked whose they are, and nobody's is left"


def looked_at(monkeypatch) -> list[int]:
    """The rows that are looked at from here on."""
    ids: list[int] = []
    picked = propose._picked
    monkeypatch.setattr(propose, "_picked", lambda link, where, some: ids.extend(some) or picked(link, where, some))
    return ids


def test_what_only_one_of_the_indexes_proposes_is_not_looked_at(tmp_path, monkeypatch):
    some_word, some_pieces, both = "an inner word", "a winner_of x_in", "the a_inner_b here"
    store = fill(tmp_path / "s.sqlite", [some_word] * 200 + [some_pieces] * 200 + [both] + [some_word, some_pieces] * 8)
    store.vacuum()
    picked = looked_at(monkeypatch)
    assert found(store, "a_inner_b", TermKind.FRAGMENT) == [("s", 400)]
    assert len(picked) <= BLOCK


def test_pieces_are_found_as_in_memory_however_long_the_search_gets(tmp_path, monkeypatch):
    smaller = {
        "_LONG": (propose, 2),
        "_MUCH": (propose, 3),
        "_AT_ONCE": (propose, 4),
        "_CHUNK": (intersect, 3),
        "_CHUNKS": (intersect, 2),
    }
    for name, (where, value) in smaller.items():
        monkeypatch.setattr(where, name, value)
    rng = random.Random(4)
    parts = ["get", "set", "größe", "x1", "tests", "test", "str", "a", "重启", "é"]
    texts = ["".join(rng.choice(parts) + rng.choice("_/. -(") for _ in range(rng.randint(1, 6))) for _ in range(300)]
    sql, plain = fill(tmp_path / "s.sqlite", texts), open_store("memory:")
    plain.create(NewSession("s"))
    plain.append("s", [user(t) for t in texts], at=0)
    for _ in range(40):
        text = rng.choice(texts)
        at = rng.randrange(len(text))
        query = Query(((Term(text[at : at + rng.randint(3, 9)], TermKind.FRAGMENT),),))
        for scope in (Scope(newest=True), Scope(newest=True, roles=("user",)), Scope(newest=True, roles=("tool",))):
            both = [sorted(h.position for h in s.find(query, scope, limit=1000)) for s in (sql, plain)]
            assert both[0] == both[1], query
