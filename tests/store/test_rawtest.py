"""What is turned down on a message's bytes could not have matched."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import wire
from clew.store.indexed import indexed
from clew.store.match import fit, fit_folded, fold, words
from clew.store.query import Query, Term, TermKind
from clew.store.sqlite.rawtest import raw_test

CHAT = wire.get("openai-chat")


def raws(text: str) -> list[bytes]:
    plain = {"role": "user", "content": text}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": json.dumps({"k": text})}}
    spelled = [json.dumps(plain), json.dumps(plain, ensure_ascii=False), json.dumps(plain).replace("/", "\\/")]
    spelled.append(json.dumps({"role": "assistant", "content": None, "tool_calls": [call]}))
    return [s.encode("utf-8", "surrogatepass") for s in spelled]


def agrees(query: Query, raw: bytes) -> bool:
    text = indexed(CHAT.message(raw))
    test, right = raw_test(query), fit(query, text)
    if right is not None and not test.may_match(raw):
        return False
    return fit_folded(query, test.folded(raw, text)) == right


def query(text: str, kind: TermKind) -> Query:
    return Query(((Term(text, kind),),))


def test_no_single_character_misleads():
    """Every character that folds into others, or into nothing, between two letters, written out and escaped."""
    wrong = []
    sought = raw_test(query("ab", TermKind.FRAGMENT))
    for code in (c for c in range(0x80, 0x20000) if not 0xD800 <= c < 0xE000):
        text = f"a{chr(code)}b"
        folded = fold(text)
        if folded == text.lower():
            continue
        for ascii_only in (True, False):
            raw = json.dumps({"role": "user", "content": text}, ensure_ascii=ascii_only).encode()
            whole = raw_test(query(folded, TermKind.FRAGMENT))
            missed = "ab" in folded and not sought.may_match(raw)
            letters = [c for c in sought.folded(raw, text) if c.isascii()]
            if missed or not whole.may_match(raw) or letters != [c for c in folded if c.isascii()]:
                wrong.append(hex(code))
    assert not wrong


LETTERS = st.text(st.sampled_from('aAbB/_. \n"\\é\u0301\u212aß—数据\u3099か\ue000😀K1'), max_size=12)


@settings(max_examples=100, deadline=None)
@given(text=LETTERS, sought=LETTERS, kind=st.sampled_from(list(TermKind)))
def test_it_agrees_with_reading_the_whole(text, sought, kind):
    for raw in raws(text + sought + text):
        for q in (query(sought, kind), Query(((Term(sought, kind),), (Term("a"), Term("b"))), (Term("ab"),))):
            assert agrees(q, raw)


@pytest.mark.parametrize("text", ["foo\nbar", "foo\tbar", "foo\\bar", 'foo "bar"', "foo\x1b[bar", "foo/bar"])
def test_words_in_a_row_are_seen_through_escapes(text):
    for raw in raws(text):
        assert raw_test(query("foo bar", TermKind.PHRASE)).may_match(raw)


ACROSS = {
    "openai-chat": [
        {"role": "assistant", "content": "now read", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "Read_File", "arguments": '{"path": "a b", "n": 7}'}},
            {"id": "c2", "type": "function", "function": {"arguments": '{"command": "ls"}', "name": "Bash"}},
        ]},
        {"role": "user", "content": [{"type": "text", "text": "one two.\n"}, {"type": "text", "text": "\n- three"}]},
    ],
    "anthropic": [
        {"role": "assistant", "content": [
            {"type": "text", "text": "now read", "cache_control": {"type": "ephemeral"}},
            {"type": "tool_use", "id": "c1", "name": "Read_File", "input": {"path": "a b", "n": 7}},
            {"type": "tool_use", "input": {"command": True}, "name": "Bash", "id": "c2"},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "one two\t"},
            {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "three"}]},
        ]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", ACROSS)
def test_words_in_a_row_are_seen_across_parts(kind):
    """A call's name and its arguments, one text and the next: whatever the message is found under, in a row."""
    for value in ACROSS[kind]:
        raw = json.dumps(value).encode()
        found = words(indexed(wire.get(kind).message(raw)))
        for start in range(len(found)):
            for end in range(start + 2, min(len(found), start + 5) + 1):
                sought = query(" ".join(found[start:end]), TermKind.PHRASE)
                assert raw_test(sought).may_match(raw), sought


def test_a_message_without_the_word_is_turned_down():
    assert not raw_test(query("needle", TermKind.WORD)).may_match(raws("nothing — of the kind")[1])
    assert not raw_test(query("foo bar", TermKind.PHRASE)).may_match(raws("foo then bar")[0])
    assert not raw_test(query("数据", TermKind.FRAGMENT)).may_match(raws("据数")[1])


def test_a_message_with_accents_is_turned_down_by_its_bytes_all_the_same():
    raw = '{"role":"user","content":"le café était fermé, voilà \ufffd \u2714\ufe0f"}'.encode()
    assert raw_test(query("cafe etait", TermKind.FRAGMENT)).may_match(raw)
    assert raw_test(query("ferme voila", TermKind.PHRASE)).may_match(raw)
    assert not raw_test(query("cafes_", TermKind.FRAGMENT)).may_match(raw)
    assert not raw_test(query("voila ferme", TermKind.PHRASE)).may_match(raw)
