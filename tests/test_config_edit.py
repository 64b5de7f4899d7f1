"""`set` changes one key of a user's file and nothing else in it."""

from __future__ import annotations

import os
import re
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import config
from clew.config.assign import assign, replace
from clew.config.edit import edited, rendered
from clew.config.keys import keys_of
from clew.config.schema import Settings
from clew.errors import ConfigError

THRESHOLD = ("compression", "threshold")
MODEL = ("auxiliary", "compression", "model")
TOOLS = ("silent", "compress", "protected_tools")


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (THRESHOLD, 0.6, "", "compression:\n  threshold: 0.6\n"),
        (THRESHOLD, 0.6, "# mine\n", "# mine\ncompression:\n  threshold: 0.6\n"),
        (THRESHOLD, 0.6, "a: 1", "a: 1\n\ncompression:\n  threshold: 0.6\n"),
        (THRESHOLD, 0.6, "a: 1\n# end\n", "a: 1\n# end\n\ncompression:\n  threshold: 0.6\n"),
        (THRESHOLD, 0.6, "a: 1\n...\n", "a: 1\ncompression:\n  threshold: 0.6\n...\n"),
        (
            THRESHOLD,
            0.6,
            "# top\ncompression:  # why\n    threshold:   0.5   # half\n\n    in_place: true\n",
            "# top\ncompression:  # why\n    threshold:   0.6   # half\n\n    in_place: true\n",
        ),
        (
            THRESHOLD,
            0.6,
            "compression:\n    in_place: true # x\n    # threshold: 0.4\n\n# next\nb: 1\n",
            "compression:\n    in_place: true # x\n    threshold: 0.6\n    # threshold: 0.4\n\n# next\nb: 1\n",
        ),
        (THRESHOLD, 0.6, "compression:\nb: 1\n", "compression:\n  threshold: 0.6\nb: 1\n"),
        (THRESHOLD, 0.6, "compression: # later\n  # threshold: 1\nb: 1\n", "compression: # later\n  threshold: 0.6\n  # threshold: 1\nb: 1\n"),
        (THRESHOLD, 0.6, "compression: null # c\nb: 1\n", "compression: # c\n  threshold: 0.6\nb: 1\n"),
        (THRESHOLD, 0.6, "compression:", "compression:\n  threshold: 0.6\n"),
        (THRESHOLD, 0.6, "compression: {}\n", "compression: {threshold: 0.6}\n"),
        (THRESHOLD, 0.6, "compression: {in_place: true} # c\n", "compression: {in_place: true, threshold: 0.6} # c\n"),
        (THRESHOLD, 0.6, "compression: {\n  in_place: true, # c\n}\n", "compression: {\n  in_place: true, threshold: 0.6, # c\n}\n"),
        (THRESHOLD, 0.6, '{"compression": {"threshold": 0.5}, "b": 1}', '{"compression": {"threshold": 0.6}, "b": 1}'),
        (THRESHOLD, 0.6, '{"b": 1}\n', '{"b": 1, compression: {threshold: 0.6}}\n'),
        (THRESHOLD, 0.6, "compression:\r\n  threshold: 0.5\r\nb: é\r\n", "compression:\r\n  threshold: 0.6\r\nb: é\r\n"),
        (THRESHOLD, 0.6, "b: é\r\n", "b: é\r\n\r\ncompression:\r\n  threshold: 0.6\r\n"),
        (THRESHOLD, 0.6, "\ufeffcompression:\n  threshold: 0.5\n", "\ufeffcompression:\n  threshold: 0.6\n"),
        (MODEL, "m-2", "auxiliary:\n  vision:\n    model: v\n  compression:\n    model:\n    timeout: 5\n", "auxiliary:\n  vision:\n    model: v\n  compression:\n    model: m-2\n    timeout: 5\n"),
        (MODEL, "m-2", "auxiliary:\n  vision:\n    model: v\nb: 1\n", "auxiliary:\n  vision:\n    model: v\n  compression:\n    model: m-2\nb: 1\n"),
        (MODEL, "m-2", "auxiliary:\n  compression:\n    model: >-\n      long\n      text\n    timeout: 5\n", "auxiliary:\n  compression:\n    model: m-2\n    timeout: 5\n"),
        (MODEL, "m-2", "auxiliary:\n  compression:\n    model: |\n      text\n", "auxiliary:\n  compression:\n    model: m-2\n"),
        (MODEL, "m-2", "auxiliary:\n  compression:\n    note: |\n      text\n\nb: 1\n", "auxiliary:\n  compression:\n    note: |\n      text\n    model: m-2\n\nb: 1\n"),
        (MODEL, "m-2", 'auxiliary: {compression: {model: "a, b"}}\n', "auxiliary: {compression: {model: m-2}}\n"),
        (MODEL, "a: b", "auxiliary: {compression: {timeout: 5}}\n", 'auxiliary: {compression: {timeout: 5, model: "a: b"}}\n'),
        (
            TOOLS,
            ["x", "z"],
            "silent:\n  compress:\n    protected_tools:  # mine\n      - a  # first\n      # - b\n      - c\n    # after\n    max_context_percent: 0.7\n",
            "silent:\n  compress:\n    protected_tools: [x, z]  # mine\n      # - b\n    # after\n    max_context_percent: 0.7\n",
        ),
        (TOOLS, [], "silent:\n  compress:\n    protected_tools:\n    - a\n", "silent:\n  compress:\n    protected_tools: []\n"),
        (TOOLS, ["x"], "silent:\n  compress:\n    protected_tools: [\n      a, b,\n    ]\n", "silent:\n  compress:\n    protected_tools: [x]\n"),
        (("serve", "upstreams"), {"a": "http://h"}, "serve:\n  upstreams:\n    b:\n      - 1\n  port: 1\n", 'serve:\n  upstreams: {a: "http://h"}\n  port: 1\n'),
        (THRESHOLD, 0.6, "x: &a {threshold: 0.5}\ncompression: {<<: *a}\n", "x: &a {threshold: 0.5}\ncompression: {<<: *a, threshold: 0.6}\n"),
        (THRESHOLD, 0.6, "x: &a 0.5\ncompression:\n  target_ratio: *a\nb: 1\n", "x: &a 0.5\ncompression:\n  target_ratio: *a\n  threshold: 0.6\nb: 1\n"),
    ],
)  # fmt: skip
def test_only_the_key_changes(path, value, before, after):
    assert edited(before, path, value, "f") == after


@pytest.mark.parametrize(
    "text",
    [
        "base: &b {threshold: 0.5}\ncompression: *b\n",  # the anchor is used elsewhere
        "x: &n 0.5\ncompression: {threshold: *n}\n",
        "compression:\n  threshold: &n 0.5\nx: *n\n",
        "compression: [1]\n",
        "compression: text\n",
        "compression: {}\ncompression: {}\n",
        "compression:\n  threshold: 1\n  threshold: 2\n",
        "compression: &c [*c]\n",
    ],
)
def test_what_would_touch_more_is_refused(text):
    with pytest.raises(ConfigError, match="can't be changed"):
        edited(text, THRESHOLD, 0.6, "f")


names = st.sampled_from(["compression", "auxiliary", "silent", "b", "threshold", "model", "note"])
scalars = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.sampled_from(["x", "a b", "a: b", "# no", "é", "", "- 1", "{", "true"]),
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(st.dictionaries(names, inner, max_size=4), st.lists(inner, max_size=3)),
    max_leaves=12,
)


@given(
    tree=st.dictionaries(names, trees, max_size=5), flow=st.sampled_from([True, False, None]), every=st.integers(1, 4)
)
@settings(max_examples=100, deadline=None)
def test_any_file_keeps_every_other_value_and_comment(tree, flow, every):
    import yaml

    lines = yaml.safe_dump(tree, default_flow_style=flow, sort_keys=False, allow_unicode=True, width=9999).splitlines()
    noted = [line + f"  # note {n}" if n % every == 0 else line for n, line in enumerate(lines)]
    text = "\n".join(noted) + "\n"
    if yaml.safe_load(text) != tree:
        return  # a note fell inside a text: it is another file then
    section = tree.get("compression")
    if not (section is None or isinstance(section, dict)):
        with pytest.raises(ConfigError):
            edited(text, THRESHOLD, 0.25, "f")
        return
    after = edited(text, THRESHOLD, 0.25, "f")
    assert yaml.safe_load(after) == tree | {"compression": (section or {}) | {"threshold": 0.25}}
    if not isinstance((section or {}).get("threshold"), (dict, list)):
        assert re.findall(r"# note \d+", text) == re.findall(r"# note \d+", after)


@given(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(),
        st.booleans(),
        st.none(),
        st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5), max_size=3),
        st.dictionaries(st.sampled_from(["a", "b c", "no"]), st.sampled_from(["http://x", "1", ""]), max_size=3),
    )
)
@settings(max_examples=100, deadline=None)
def test_a_rendered_value_reads_as_itself(value):
    import yaml

    for text in (f"a: {rendered(value)}\n", f"{{a: {rendered(value)}}}"):
        try:
            assert yaml.safe_load(text) == {"a": value}
        except yaml.reader.ReaderError:
            assert not str(value).isprintable()  # YAML has no form for it; `set` then refuses


class TestAssign:
    def test_it_writes_a_new_file_for_its_owner_only(self, tmp_path):
        done = assign("compression.threshold", "0.6", None, {"CLEW_HOME": str(tmp_path / "new" / "home")})
        assert done.path == tmp_path / "new" / "home" / "config.yaml"
        assert done.path.read_text() == "compression:\n  threshold: 0.6\n"
        assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
        assert os.listdir(done.path.parent) == ["config.yaml"]

    def test_a_link_stays_a_link(self, tmp_path):
        real = tmp_path / "dotfiles.yaml"
        real.write_text("b: 1\n")
        (tmp_path / "config.yaml").symlink_to(real)
        assign("serve.port", "99", tmp_path / "config.yaml", {})
        assert (tmp_path / "config.yaml").is_symlink()
        assert real.read_text() == "b: 1\n\nserve:\n  port: 99\n"

    @pytest.mark.parametrize(
        ("name", "text", "says"),
        [
            ("compression.treshold", "1", "did you mean compression.threshold?"),
            ("compression", "1", "is a section"),
            ("compression.threshold", "2", "wants 0 to 1"),
            ("compression.threshold", "abc", "wants a number"),
            ("serve.upstreams", "x", "wants a mapping as JSON"),
            ("serve.host", "0.0.0.0", "needs serve.token"),
            ("silent.truncation.head_lines", "45", "may not exceed max_lines"),
            ("serve.token", "plain-text-token", "isn't written in plain text"),
            ("model.default", "a\0b", "holds a control character"),
            ("model.default", "a\ud800", "holds a control character"),
            ("silent.compress.protected_tools", "a\nb", "holds a control character"),
            ("auxiliary.compression.extra_body", '{"a": "\\ud800"}', "can't be changed"),
        ],
    )  # fmt: skip
    def test_what_isnt_accepted_isnt_written(self, tmp_path, name, text, says):
        path = tmp_path / "config.yaml"
        path.write_text("# mine\n")
        with pytest.raises(ConfigError) as e:
            assign(name, text, path, {})
        assert says in str(e.value)
        assert "plain-text-token" not in str(e.value)
        assert path.read_text() == "# mine\n"
        assert os.listdir(tmp_path) == ["config.yaml"]

    def test_a_credential_is_written_as_the_variable_that_holds_it(self, tmp_path):
        path = tmp_path / "config.yaml"
        assign("auxiliary.compression.api_key_env", "MY_KEY", path, {})
        assert config.load(path, {}).settings.auxiliary.compression.api_key.variable == "MY_KEY"

    def test_older_names_are_written_under_the_new_one(self, tmp_path):
        path = tmp_path / "config.yaml"
        done = assign("model.cache_ttl", "1h", path, {})
        assert (done.key, [str(n) for n in done.notes]) == (
            "prompt_caching.cache_ttl",
            ["model.cache_ttl: written as prompt_caching.cache_ttl"],
        )
        assert config.load(path, {}).settings.prompt_caching.cache_ttl == "1h"

    def test_a_file_with_problems_can_be_put_right_one_by_one(self, tmp_path):
        path = tmp_path / "config.yaml"
        path.write_text("compression:\n  threshold: x\n  target_ratio: y\n")
        done = assign("compression.threshold", "0.6", path, {})
        assert [n.key for n in done.notes] == ["compression.target_ratio"]
        assign("compression.target_ratio", "0.3", path, {})
        assert config.load(path, {}).settings.compression.target_ratio == 0.3

    def test_it_says_when_the_environment_still_decides(self, tmp_path):
        done = assign("serve.port", "99", tmp_path / "c.yaml", {"CLEW_SERVE__PORT": "5"})
        assert "environment variable CLEW_SERVE__PORT still decides" in str(done.notes[0])

    def test_a_broken_file_is_left_as_it_is(self, tmp_path):
        path = tmp_path / "config.yaml"
        path.write_text("a: [1\n")
        with pytest.raises(ConfigError, match="not YAML"):
            assign("serve.port", "99", path, {})
        assert path.read_text() == "a: [1\n"

    def test_a_file_changed_meanwhile_is_not_overwritten(self, tmp_path):
        path = tmp_path / "config.yaml"
        path.write_text("theirs\n")
        with pytest.raises(ConfigError, match="changed meanwhile"):
            replace(path, "old\n", "new\n")
        assert path.read_text() == "theirs\n"
        assert os.listdir(tmp_path) == ["config.yaml"]

    def test_where_nothing_can_be_written_it_says_so(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(ConfigError, match=r"can't be (read|written)"):
            assign("serve.port", "99", tmp_path / "file" / "config.yaml", {})

    def test_every_default_can_be_written_and_read_again(self, tmp_path):
        path = tmp_path / "config.yaml"
        text = ""
        for key in keys_of(Settings).values():
            text = edited(text, tuple(key.name.split(".")), key.default, "f")
        path.write_text(text)
        assert config.load(path, {}).settings == Settings()
