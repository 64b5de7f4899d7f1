"""A value is found however JSON spelled it, and what stands around it stays to the byte."""

from __future__ import annotations

import json

import pytest

from clew.errors import InputError
from clew.store.mask import Masker

SECRETS = ["plain123", 'quo"te\\back', "umläut-é", "new\nline", "emoji😀x", "slash/ed"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("mask", ["***", "[a leaked key]"])
def test_every_spelling_is_masked(secret, mask):
    masker = Masker(secret, mask)
    value = {"content": f"a {secret} b", secret: [1, {"deep": secret}], "n": 1}
    nested = {"arguments": json.dumps(value), "ascii": json.dumps(value, ensure_ascii=False)}
    for v in (value, nested):
        for ascii_ in (True, False):
            data = json.dumps(v, ensure_ascii=ascii_, indent=1).encode()
            masked = json.loads(masker.json(data))
            assert secret not in json.dumps(masked, ensure_ascii=False)
            if v is value:
                assert masked["content"] == f"a {mask} b"
            else:
                assert json.loads(masked["arguments"])["content"] == f"a {mask} b"


@pytest.mark.parametrize("secret", SECRETS)
def test_a_value_is_masked_in_json_within_a_command_within_a_call(secret):
    for writers in ((True,) * 4, (False,) * 4, (True, False, True, False)):
        data = f"it is {secret} ok"
        for ascii_ in writers:
            data = json.dumps({"said": data}, ensure_ascii=ascii_)
        value = json.loads(Masker(secret, "***").json(data.encode()))
        for _ in range(3):
            value = json.loads(value["said"])
        assert value == {"said": "it is *** ok"}


def test_unusual_escapes_are_seen_through():
    spelled = b'{"k":"a \\u0070lain123 b","s":"x\\/y"}'
    assert json.loads(Masker("plain123", "*").json(spelled)) == {"k": "a * b", "s": "x/y"}
    assert json.loads(Masker("x/y", "*").json(spelled))["s"] == "*"


def test_nothing_else_changes():
    data = b'{ "b" : 1.0,\n "a":"\\u00e9 hunter2 \\/" , "n":123456789012345678901234567890}'
    assert Masker("hunter2", "*").json(data) == data.replace(b"hunter2", b"*")
    assert Masker("absent", "*").json(data) == data


def test_what_would_mask_wrongly_is_refused():
    with pytest.raises(InputError, match="empty"):
        Masker("", "*")
    for mask in ('"', "\\", "é", "a\nb"):
        with pytest.raises(InputError, match="mask"):
            Masker("x", mask)


def test_a_piece_in_a_dictionary_counts():
    assert Masker("abcdefghijkl", "*").touches(b"....cdefghij....")
    assert not Masker("abcdefghijkl", "*").touches(b"....cdefghi.....")
