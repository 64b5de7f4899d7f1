"""Settings: layers, problems with their lines, deprecated names, secrets, and files that are no settings."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import config
from clew.config import Secret, Settings
from clew.config.keys import flatten, keys_of
from clew.config.loader import examine_text
from clew.config.reference import variable
from clew.config.show import HIDDEN, masked, shown
from clew.errors import ConfigError
from tests.conftest import ROOT

HERMES = """\
# a user's file, as Hermes 0.19 writes its own
model:
  default: anthropic/claude-opus
  provider: openrouter
  api_key: ${OPENROUTER_API_KEY}
  openai_runtime: auto
gateway:
  strict: true
memory:
  memory_enabled: true
  provider: ''
compression:
  enabled: true
  threshold: 0.6
  target_ratio: 0.3
  protect_last_n: 30
  protect_first_n: 2
  hygiene_hard_message_limit: 4000
  abort_on_summary_failure: true
  codex_gpt55_autoraise: true
  codex_app_server_auto: native
  in_place: false
prompt_caching:
  cache_ttl: 1h
auxiliary:
  vision: {provider: auto, anything: [1, 2]}
  compression:
    provider: auto
    model: ''
    base_url: ''
    api_key: ''
    timeout: 90
    extra_body: {}
    reasoning_effort: ''
context:
  engine: compressor
"""


def file(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "config.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def problems(tmp_path: Path, text: str, **env: str) -> list[str]:
    return [str(p).replace(str(tmp_path) + "/", "") for p in config.examine(file(tmp_path, text), env).problems]


def test_defaults_are_the_sources_figures():
    s = Settings()
    assert (s.compression.threshold, s.compression.target_ratio) == (0.5, 0.2)
    assert (s.compression.protect_first_n, s.compression.protect_last_n) == (3, 20)
    assert (s.compression.summary_min_tokens, s.compression.summary_max_tokens) == (2000, 12000)
    assert s.compression.in_place
    assert s.compression.hygiene_threshold == 0.85
    assert s.context.engine == "clew"
    assert s.silent.truncation == type(s.silent.truncation)(True, 50, 10, 10, 500)
    assert s.silent.compress.protected_tools == ("write_file", "patch")


def test_a_hermes_file_works_as_it_is(tmp_path):
    loaded = config.load(file(tmp_path, HERMES), {})
    s = loaded.settings
    assert (s.compression.threshold, s.compression.target_ratio, s.compression.protect_last_n) == (0.6, 0.3, 30)
    assert (s.compression.protect_first_n, s.compression.hygiene_hard_message_limit) == (2, 4000)
    assert s.compression.abort_on_summary_failure
    assert not s.compression.in_place
    assert (s.prompt_caching.cache_ttl, s.context.engine) == ("1h", "clew")
    assert (s.auxiliary.compression.timeout, s.auxiliary.compression.model) == (90.0, None)
    assert s.auxiliary.compression.api_key is None
    assert s.model.default == "anthropic/claude-opus"
    assert s.model.api_key.reveal({"OPENROUTER_API_KEY": "k"}) == "k"
    assert loaded.notes == ()
    assert loaded.origins["compression.threshold"] == f"{tmp_path}/config.yaml:14"


def test_hmcs_file_works_beneath_silent(tmp_path):
    text = """\
silent:
  enabled: true
  debug: false
  manual_mode: {enabled: true, automatic_strategies: false}
  compress: {max_context_percent: 0.6, min_context_percent: 0.3, protected_tools: [write_file]}
  strategies:
    deduplication: {enabled: false, protected_tools: [x]}
    purge_errors: {enabled: true, turns: 9, protected_tools: []}
  short_circuits: {enabled: false}
  truncation: {enabled: true, max_lines: 80, head_lines: 20, tail_lines: 30, min_content_length: 10}
  background_compression: {enabled: false, protect_recent_turns: 2}
  analytics: {enabled: true, retention_days: 30, db_path: ""}
  code_filter: {enabled: true, languages: [python, kotlin], min_lines: 10, preserve_docstrings: false}
"""
    silent = config.load(file(tmp_path, text), {}).settings.silent
    assert silent.manual_mode.enabled
    assert silent.strategies.deduplication.protected_tools == ("x",)
    assert silent.strategies.purge_errors.turns == 9
    assert silent.truncation.tail_lines == 30
    assert silent.analytics.db_path is None
    assert silent.code_filter.languages == ("python", "kotlin")


def test_environment_over_file_over_defaults(tmp_path):
    path = file(tmp_path, "compression: {threshold: 0.6, protect_last_n: 5}\n")
    loaded = config.load(path, {"CLEW_COMPRESSION__THRESHOLD": "0.7", "CLEW_COMPRESSION__TARGET_RATIO": ""})
    c = loaded.settings.compression
    assert (c.threshold, c.protect_last_n, c.target_ratio) == (0.7, 5, 0.2)
    assert loaded.origins["compression.threshold"] == "environment variable CLEW_COMPRESSION__THRESHOLD"


def test_every_key_can_be_set_from_the_environment_with_its_own_default():
    samples = {
        "bool": "yes",
        "map": "{}",
        "texts": "python",
        "secret": "${X}",
        "text": None,
        "int": None,
        "number": None,
    }
    special = {"store.url": "memory:", "auxiliary.compression.base_url": "http://h", "model.base_url": "http://h"}
    for key in keys_of(Settings).values():
        if key.name == "models":
            continue  # no section, so no variable
        text = special.get(key.name) or samples[key.kind] or str(4000 if key.default is None else key.default)
        loaded = config.load(None, {"CLEW_HOME": "/nowhere/at/all", variable(key.name): text})
        assert key.name in loaded.origins
        assert flatten(loaded.settings)[key.name] == key.parse(text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("silent.enabled", "off", False),
        ("silent.compress.protected_tools", "a, b ,", ("a", "b")),
        ("silent.compress.protected_tools", '["a,b"]', ("a,b",)),
        ("compression.max_output", "null", None),
        ("compression.max_output", "", None),
        ("serve.upstreams", '{"a": "http://x"}', {"a": "http://x"}),
        ("context.engine", "LCM", "lossless"),
        ("store.synchronous", "full", "FULL"),
        ("context.engine", "my-engine", "my-engine"),
    ],
)
def test_texts_become_values(name, text, value):
    assert keys_of(Settings)[name].parse(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("compression:\n  treshold: 0.4\n", "config.yaml:2: compression.treshold: no such key; did you mean compression.threshold?"),
        ("compression:\n  threshold: half\n", "config.yaml:2: compression.threshold: wants a number, got the text 'half'"),
        ("compression: {threshold: '0.5'}\n", "got the text '0.5'; leave the quotes out"),
        ("compression: {threshold: 50}\n", "wants 0 to 1, got 50: 50% is 0.5"),
        ("compression: {threshold: .nan}\n", "wants a number"),
        ("compression: {threshold: -.inf}\n", "wants a number"),
        ("compression: {threshold: true}\n", "wants a number, got true"),
        ("compression: {threshold: }\n", "wants a number, got nothing"),
        ("compression: {target_ratio: 0.05}\n", "wants 0.1 to 0.8, got 0.05"),
        ("compression: {protect_last_n: 0}\n", "wants 1 or more, got 0"),
        ("compression: {protect_last_n: 2.5}\n", "wants a whole number"),
        ("compression: {protect_last_n: " + "9" * 5000 + "}\n", "compression.protect_last_n: a value that can't be read"),
        ("compression: {protect_last_n: " + "9" * 400 + "}\n", "a huge number"),
        ("compression: {enabled: 'yes'}\n", "wants true or false, got the text 'yes'; leave the quotes out"),
        ("compression: {model: x}\n", "did you mean auxiliary.compression.model?"),
        ("compression: [1]\n", "config.yaml:1: compression: wants keys beneath it"),
        ("compression: &a {<<: *a, x: 1}\n", "grows too large"),
        ("compression: {? [a, b] : 1}\n", "a key that is no text"),
        ("compression:\n  threshold: .5\n  threshold: .6\n", "config.yaml:3: compression.threshold: stands twice"),
        ("compression: {}\ncompression: {}\n", "config.yaml:2: compression: stands twice"),
        ("compression.threshold: 0.5\n", "has a dot in it"),
        ("prompt_caching: {cache_ttl: 10m}\n", "wants 5m, 1h; got '10m'"),
        ("context: {engine: losless}\n", "did you mean lossless?"),
        ("auxiliary:\n  compression:\n    apikey: x\n", "config.yaml:3: auxiliary.compression.apikey: no such key"),
        ("auxiliary: {compression: {model: 4.5}}\n", "put it in quotes"),
        ("auxiliary: {compression: {base_url: localhost}}\n", "http://"),
        ("auxiliary: {compression: {model: '${NO_SUCH}'}}\n", "environment variable NO_SUCH is not set"),
        ("auxiliary: {compression: {api_key: 'a b'}}\n", "holds a space or control character"),
        ("auxiliary: {compression: {extra_body: {a: 1, a: 2}}}\n", "'a' stands twice"),
        ("auxiliary: {compression: {model: !!python/name:os.system x}}\n", "wants a plain value"),
        ("silent: {truncation: {head_lines: 40, tail_lines: 20}}\n", "may not exceed max_lines"),
        ("silent: {compress: {protected_tools: write_file}}\n", "wants a list of texts"),
        ("silent: {compress: {protected_tools: [1]}}\n", "wants a list of texts"),
        ("serve: {host: 0.0.0.0}\n", "needs serve.token"),
        ("serve: {upstreams: {a: ftp://x}}\n", "'a' has no URL"),
        ("store: {url: /tmp/x}\n", "wants sqlite:///PATH"),
        ("models: {m: 5}\n", "beneath each model; 'm' has none"),
    ],
)  # fmt: skip
def test_a_problem_names_its_key_line_and_what_was_meant(tmp_path, text, says):
    found = problems(tmp_path, text)
    assert len(found) >= 1
    assert any(says in problem for problem in found), found


def test_all_problems_are_told_at_once(tmp_path):
    path = file(tmp_path, "compression: {a: 1, threshold: x}\nsilent: {b: 2}\n")
    with pytest.raises(ConfigError) as e:
        config.load(path, {"CLEW_STORE__URI": "x"})
    assert all(
        part in e.value.message for part in ("compression.a", "compression.threshold", "silent.b", "CLEW_STORE__URI")
    )
    assert e.value.status == 400


def test_what_nothing_acts_on_is_told_where_it_is_changed(tmp_path):
    text = "context: {engine: compressor}\nsilent: {debug: true, enabled: true}\n"
    notes = config.load(file(tmp_path, text), {"CLEW_SILENT__TRUNCATION__MAX_LINES": "99"}).notes
    assert {n.text for n in notes} == {"is read, but nothing acts on it yet"}
    assert [(n.key, n.where.rpartition("/")[2]) for n in notes] == [
        ("silent.debug", "config.yaml:2"),
        ("silent.truncation.max_lines", "environment variable CLEW_SILENT__TRUNCATION__MAX_LINES"),
    ]


def test_a_promise_about_secrets_that_is_not_kept_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"redaction\.keep_originals: only true works so far"):
        config.load(file(tmp_path, "redaction: {keep_originals: false}\n"), {})


def test_the_rest_of_a_file_is_left_alone(tmp_path):
    text = "skills: {a: 1, a: 2}\nauxiliary: {vision: 5, vision: 6}\nmodel: {whatever: x}\n? [a]\n: 1\n"
    loaded = config.load(file(tmp_path, text), {})
    assert loaded.settings == Settings()
    assert loaded.notes == ()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("compresion: {a: 1}\n", "compression"),
        ("auxiliary: {compresion: 1}\n", "auxiliary.compression"),
        ("model: {cache_tll: 5m}\n", ""),
    ],
)
def test_a_slip_outside_clews_sections_is_a_note(tmp_path, text, meant):
    notes = config.load(file(tmp_path, text), {}).notes
    assert [f"did you mean {meant}?" in str(note) for note in notes] == ([True] if meant else [])


def test_a_single_underscore_between_section_and_key_is_a_note():
    loaded = config.load(
        None, {"CLEW_HOME": "/nowhere/at/all", "CLEW_COMPRESSION_THRESHOLD": "0.9", "CLEW_BENCH_DIR": "x"}
    )
    assert [str(n) for n in loaded.notes] == [
        "environment variable CLEW_COMPRESSION_THRESHOLD: is not read; did you mean CLEW_COMPRESSION__THRESHOLD?"
    ]
    assert loaded.settings.compression.threshold == 0.5


def test_deprecated_keys_are_read_with_a_note_and_give_way_to_their_successors(tmp_path):
    text = """\
compression:
  summary_model: old-model
  summary_provider: openrouter
  summary_base_url: https://old
model:
  cache_ttl: 1h
auxiliary:
  compression:
    model: new-model
"""
    loaded = config.load(file(tmp_path, text), {})
    aux = loaded.settings.auxiliary.compression
    assert (aux.model, aux.provider, aux.base_url) == ("new-model", "openrouter", "https://old")
    assert loaded.settings.prompt_caching.cache_ttl == "1h"
    assert [note.key for note in loaded.notes] == [
        "compression.summary_model",
        "compression.summary_provider",
        "compression.summary_base_url",
        "model.cache_ttl",
    ]
    assert loaded.notes[3].where.endswith("config.yaml:6")
    assert loaded.origins["auxiliary.compression.model"].endswith(":9")
    over = config.load(file(tmp_path, text), {"CLEW_COMPRESSION__SUMMARY_MODEL": "from-env"})
    assert over.settings.auxiliary.compression.model == "from-env"


def test_other_names_of_hermes(tmp_path):
    assert config.load(file(tmp_path, "model: some/model\n"), {}).settings.model.default == "some/model"
    assert config.load(file(tmp_path, "model: ''\n"), {}).settings.model.default is None
    key = config.load(
        file(tmp_path, "auxiliary: {compression: {api_key_env: MY_KEY}}\n"), {}
    ).settings.auxiliary.compression.api_key
    assert key.variable == "MY_KEY"
    hmc = config.load(None, {"CLEW_HOME": "/nowhere/at/all", "HMC_DB_PATH": "/x.db"}).settings
    assert hmc.silent.analytics.db_path == "/x.db"


def test_merge_keys_and_aliases_are_followed(tmp_path):
    text = "base: &b {threshold: 0.6, protect_last_n: 7}\ncompression:\n  <<: *b\n  threshold: 0.7\n"
    c = config.load(file(tmp_path, text), {}).settings.compression
    assert (c.threshold, c.protect_last_n) == (0.7, 7)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"a: [1\n", "not YAML"),
        (b"compression:\n\tthreshold: 1\n", "config.yaml:2: not YAML: a tab in the indentation"),
        (b"- a\n- b\n", "config.yaml:1: wants keys at the top, got a list"),
        (b"just text\n", "got a single value"),
        (b"a: 1\n---\nb: 2\n", "not YAML"),
        (b"ok: 1\nbad: \xff\n", "config.yaml:2: not UTF-8"),
        (b"a: \x00\n", "not YAML"),
        (b"a: *nowhere\n", "not YAML: found undefined alias"),
        (b"a: " + b"[" * 50_000, "nested deeper than 40"),
        (b"a: " + b"{a: " * 41 + b"1" + b"}" * 41, "nested deeper than 40"),
        (b"a: [" + b"1," * 250_000 + b"]", "too many values"),
        (b"# " + b"x" * 1_000_001, "larger than 1,000,000 bytes"),
    ],
)
def test_what_is_no_settings_file_is_said_in_a_line(tmp_path, data, says):
    with pytest.raises(ConfigError) as e:
        config.examine(file(tmp_path, data), {})
    assert says in e.value.message
    assert "\n" not in e.value.message


@given(
    at=st.integers(0, len(HERMES)),
    cut=st.integers(0, 30),
    put=st.text(st.sampled_from(list("{}[]&*a!|>'\"%@`:,-? \n\t#<0.9~é\x07\ud800")), max_size=6),
)
@settings(max_examples=100, deadline=None)
def test_no_mangled_file_breaks_the_reading(at, cut, put):
    text = HERMES[:at] + put + HERMES[at + cut :]
    with contextlib.suppress(ConfigError):
        assert isinstance(examine_text(text, Path("f"), {"OPENROUTER_API_KEY": "k"}).settings, Settings)


@given(
    st.dictionaries(
        st.sampled_from([*keys_of(Settings), "compression", "x"]),
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(),
            st.text(max_size=4),
            st.lists(st.text(max_size=2), max_size=2),
            st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
        ),
        max_size=6,
    )
)
@settings(max_examples=100, deadline=None)
def test_what_is_accepted_is_accepted_again(changes):
    try:
        s = config.resolve(changes)
    except ConfigError:
        return
    assert config.resolve(flatten(s)) == s


def test_a_syntax_error_doesnt_show_the_file(tmp_path):
    with pytest.raises(ConfigError) as e:
        config.examine(file(tmp_path, "api_key: 'hunter22-hunter22\nb: 1\n"), {})
    assert "hunter" not in str(e.value)


def test_alias_bombs_cost_nothing_where_clew_doesnt_read_and_are_refused_where_it_does(tmp_path):
    assert config.load(file(tmp_path, BOMB), {}).settings == Settings()
    found = problems(tmp_path, BOMB + "models: {m: {x: *m}}\n")
    assert found == ["config.yaml:14: models: grows too large when its aliases are followed"]
    merges = "m0: &m0 {x: 1}\n" + "".join(
        f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}]}}\n" for n in range(1, 13)
    )
    assert "grows too large" in problems(tmp_path, merges + "compression: *m12\n")[0]


@pytest.mark.parametrize(
    "data", [b"", b"# nothing\n", b"---\n", b"null\n", b"\xef\xbb\xbfcompression:\n", b"compression: {}\r\n"]
)
def test_empty_files_and_sections_are_the_defaults(tmp_path, data):
    assert config.load(file(tmp_path, data), {}).settings == Settings()


def test_a_missing_file_is_the_defaults_unless_it_was_named(tmp_path):
    home = {"CLEW_HOME": str(tmp_path)}
    loaded = config.load(None, home)
    assert (loaded.settings, loaded.source) == (Settings(), None)
    for path, env in ((tmp_path / "no.yaml", {}), (None, {"CLEW_CONFIG": str(tmp_path / "no.yaml")})):
        with pytest.raises(ConfigError, match="no such file"):
            config.load(path, env)


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ConfigError, match="not a regular file"):
            config.examine(path, {})
    with pytest.raises(ConfigError):
        config.examine(tmp_path / "config.yaml" / "x" / ("y" * 300), {})
    with pytest.raises(ConfigError):
        config.examine("a\0b", {})


def test_paths_follow_the_environment():
    assert config.config_path({"CLEW_HOME": "/h"}) == Path("/h/config.yaml")
    assert config.config_path({"CLEW_HOME": "/h", "CLEW_CONFIG": "/other.yaml"}) == Path("/other.yaml")
    assert config.home({}) == Path("~/.clew").expanduser()
    assert config.store_url(Settings(), {"CLEW_HOME": "/h"}) == "sqlite:////h/clew.db"
    assert config.store_url(Settings().with_({"store.url": "memory:"}), {}) == "memory:"
    assert config.analytics_path(Settings(), {"CLEW_HOME": "/h"}) == Path("/h/analytics.db")
    with pytest.raises(ConfigError):
        config.home({"CLEW_HOME": "~no-such-user-here/x"})


def test_settings_are_values_that_copy_pickle_and_compare():
    s = Settings().with_({"models": {"m": {"window": 5}}, "auxiliary.compression.api_key": "k"})
    assert copy.deepcopy(s) == pickle.loads(pickle.dumps(s)) == s
    with pytest.raises(AttributeError):
        s.compression.threshold = 0.9
    assert Settings().models is not Settings().models


def test_with_takes_dotted_and_nested_keys_and_changes_nothing_else():
    s = Settings().with_({"compression": {"threshold": 0.6}, "silent.truncation": {"max_lines": 90}})
    assert s.with_({"compression.protect_last_n": 4}).compression.threshold == 0.6
    assert flatten(s) == flatten(Settings()) | {"compression.threshold": 0.6, "silent.truncation.max_lines": 90}
    for wrong, says in (
        ({"treshold": 1}, "did you mean compression.threshold?"),
        ({"compression.threshold": "x"}, "wants a number"),
        ({"compression": 4}, "wants keys beneath it"),
        ({"skills": {}}, "no such key"),
        ({"silent.truncation.head_lines": 45}, "may not exceed max_lines"),
        ({3: 4}, "no such key"),
    ):
        with pytest.raises(ConfigError) as e:
            Settings().with_(wrong)
        assert says in str(e.value)


def test_what_a_caller_may_mean_by_config(tmp_path):
    s = Settings().with_({"compression.threshold": 0.9})
    assert config.resolve(s) is s
    assert config.resolve({"compression": {"threshold": 0.9}}, {"CLEW_COMPRESSION__THRESHOLD": "0.1"}) == s
    assert config.resolve(str(file(tmp_path, "compression: {threshold: 0.9}")), {}) == s
    assert config.resolve(None, {"CLEW_HOME": str(tmp_path)}) == s
    whole = {
        "skills": {"x": 1},
        "compression": {"threshold": 0.9, "codex_app_server_auto": "off"},
        "gateway": {"strict": True},
    }
    assert config.from_mapping(whole, lenient=True).settings == s


def test_a_callers_texts_are_taken_as_they_are():
    assert config.resolve({"auxiliary.compression.model": "${X}"}, {}).auxiliary.compression.model == "${X}"


def test_texts_of_a_file_name_environment_variables(tmp_path):
    text = "auxiliary: {compression: {base_url: 'http://${H}:80/v1', extra_body: {user: ['${H}']}}}\n"
    aux = config.load(file(tmp_path, text), {"H": "host"}).settings.auxiliary.compression
    assert (aux.base_url, aux.extra_body) == ("http://host:80/v1", {"user": ["host"]})


class TestSecrets:
    KEY = "sk-or-v1-0123456789abcdef0123456789abcdef"

    def test_they_are_revealed_only_on_demand(self):
        assert Secret(self.KEY).reveal({}) == self.KEY
        assert Secret("${A_KEY}").reveal({"A_KEY": " v\n"}) == "v"
        for env in ({}, {"A_KEY": ""}):
            with pytest.raises(ConfigError, match="A_KEY is not set"):
                Secret("${A_KEY}").reveal(env)
        assert str(Secret("${A_KEY}")) == "${A_KEY}"

    def test_no_printed_form_of_settings_has_them(self, tmp_path):
        text = f"""\
model: {{api_key: {self.KEY}, base_url: "https://u:{self.KEY}@h/v1?api_key={self.KEY}"}}
auxiliary: {{compression: {{api_key: {self.KEY}, extra_body: {{auth: {{token: {self.KEY}}}, note: "{self.KEY}"}}}}}}
store: {{url: "postgresql://u:{self.KEY}@h/db"}}
serve: {{token: {self.KEY}, upstreams: {{a: "https://h/?token={self.KEY}"}}}}
"""
        loaded = config.load(file(tmp_path, text), {})
        for printed in (repr(loaded), str(loaded.settings), str(shown(loaded.settings))):
            assert self.KEY not in printed
            assert "0123456789" not in printed
        assert loaded.settings.store.url.endswith("@h/db")

    def test_no_problem_quotes_them(self, tmp_path):
        key = self.KEY
        text = f"compression: {{threshold: {key}, system_note: {key}}}\nstore: {{url: 'x://{key}', synchronous: 'u:{key}@h'}}\nserve: {{token: [{key}], upstreams: {{a: {key}}}}}\n"
        found = problems(tmp_path, text, CLEW_SERVE__PORT=key, CLEW_SERVE__UPSTREAMS=key)
        assert len(found) == 8
        assert not any("0123456789" in problem for problem in found), found

    @pytest.mark.parametrize(
        ("value", "name", "out"),
        [
            ("https://u:p@h/x", "url", f"https://{HIDDEN}@h/x"),
            ("https://h/?a=1&api_key=zzz&b=2", "", f"https://h/?a=1&api_key={HIDDEN}&b=2"),
            ("anything", "authorization", HIDDEN),
            ("anything", "x-api-key", HIDDEN),
            (5, "max_tokens", 5),
            ("4000", "max_tokens", "4000"),
            ("claude-opus-4-6", "model", "claude-opus-4-6"),
            ("ghp_0123456789abcdefABCDEF", "model", HIDDEN),
        ],
    )
    def test_what_looks_like_a_credential_is_masked(self, value, name, out):
        assert masked(value, name) == out


def test_importing_it_loads_no_yaml():
    code = "import sys, clew.config; print([m for m in ('yaml', 'difflib', 'typer', 'tempfile') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert out.stdout.strip() == "[]"
