"""One value changed in a JSON text: everything else stays, comments too."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.connect import jsontext
from clew.errors import ConfigError

COMMENTED = """// my settings
{
    "theme": "dark", /* not "light" */
    "url": "http://a//b", // a // in a string is none
    "list": [1, 2,],
    "provider": {
        "openai": { "options": {} },
    },
}
"""


def test_comments_and_trailing_commas_are_read():
    assert jsontext.read(COMMENTED) == {
        "theme": "dark", "url": "http://a//b", "list": [1, 2], "provider": {"openai": {"options": {}}},
    }  # fmt: skip


def test_a_value_goes_in_and_nothing_else_moves():
    out = jsontext.put(COMMENTED, ("provider", "anthropic", "options", "baseURL"), "http://x")
    assert out == COMMENTED.replace(
        '"openai": { "options": {} },',
        '"openai": { "options": {} },\n        "anthropic": {\n            "options": {\n                '
        '"baseURL": "http://x"\n            }\n        },',
    ).replace("},,", "},")
    assert jsontext.read(out)["provider"]["anthropic"] == {"options": {"baseURL": "http://x"}}


def test_an_empty_object_and_a_value_that_is_there():
    out = jsontext.put(COMMENTED, ("provider", "openai", "options", "baseURL"), "http://x")
    assert jsontext.read(out)["provider"]["openai"]["options"] == {"baseURL": "http://x"}
    assert jsontext.put('{"a":"b","c":1}', ("a",), "z") == '{"a":"z","c":1}'
    assert jsontext.put('{"c":1}', ("a", "b"), 2) == '{"c":1, "a": {"b": 2}}'


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff", "{}"])
def test_an_empty_file_becomes_one_with_the_value(text):
    assert jsontext.read(jsontext.put(text, ("env", "X"), "y")) == {"env": {"X": "y"}}


def test_of_two_members_of_one_name_the_one_that_counts_is_changed():
    assert jsontext.read(jsontext.put('{"a":1,"a":2}', ("a",), 3)) == {"a": 3}


@pytest.mark.parametrize("text", ["{", "[1]", '"x"', "{'a': 1}", '{"a" 1}', "nonsense", '{"a": 1} x'])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ConfigError):
        jsontext.put(text, ("a",), 1)


def test_a_way_through_something_that_is_no_object_is_refused():
    with pytest.raises(ConfigError, match="`env` is no object"):
        jsontext.put('{"env": "x"}', ("env", "A"), 1)


keys = st.text(max_size=4)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.sampled_from(["//", "/*", "*/", ",}"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)),
    max_leaves=8,
)
objects = st.dictionaries(keys, values, max_size=4)
paths = st.lists(keys, min_size=1, max_size=3)
indents = st.sampled_from([None, 0, 2, 4, "\t"])


def set_in(value, path, new):
    inner = value.get(path[0])
    return {
        **value,
        path[0]: new if len(path) == 1 else set_in(inner if isinstance(inner, dict) else {}, path[1:], new),
    }


@given(objects, paths, values, indents, st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_value_is_as_if_set_in_python_and_removing_it_again_gives_what_was(value, path, new, indent, ascii_):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    here = value
    for key in path[:-1]:
        if key in here and not isinstance(here[key], dict):
            return
        here = here.get(key, {})
    out = jsontext.put(text, path, new)
    assert jsontext.read(out) == set_in(value, path, new)
    removed = jsontext.read(jsontext.remove(out, path))
    wanted = set_in(value, path, new)
    inner = wanted
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    assert removed == wanted


@given(objects, paths, indents)
@settings(max_examples=60, deadline=None)
def test_removing_what_is_not_there_changes_nothing(value, path, indent):
    text = json.dumps(value, indent=indent)
    here = value
    for key in path:
        if not isinstance(here, dict) or key not in here:
            assert jsontext.remove(text, path) == text
            return
        here = here[key]
