"""Bad session files: a clear error, or what could be read and a sentence about the rest; never anything else."""

from __future__ import annotations

import os
import random

import pytest

from clew import jsonio
from clew.errors import ClewError, InputError, TooLarge
from clew.wire import files
from clew.wire.files import source as source_module
from tests.wire.test_files import FILES, GOLDEN, claude, texts, write

TURN = b'{"role":"user","content":"hi"}\n'
MB = 1 << 20


def saved(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data, says",
    [
        (b"", "is empty"),
        (b"\n\n \r\n", "nothing but blank lines"),
        (b"hello\nworld\n", "no session file in any known format"),
        (bytes(range(256)) * 9, "no session file in any known format"),
        (b'{"a":1}\n', "no session file in any known format"),
        (b"[1,2,3]", "no session file in any known format"),
        (b'{"messages":[]}', "no message in it"),
        (b'{"messages":[' + b"[" * 500 + b"]" * 500 + b"]}", "no message in it can be read: "),
        (b"[" * 100_000, "is nested too deeply"),
        (b'{"messages":[{"role":"user","content":"Is it', "is cut off or no JSON: Unterminated string"),
        (b'{"messages":[{"role":"user","n":' + b"9" * 5000 + b"}]}", "is cut off or no JSON: Exceeds the limit"),
        ('{"role":"user","content":"hi"}\n'.encode("utf-16"), "is UTF-16"),
    ],
)
def test_what_holds_no_conversation_is_refused_with_the_reason(tmp_path, data, says):
    path = saved(tmp_path / "f", data)
    with pytest.raises(InputError, match=says) as caught:
        files.read(path)
    assert caught.value.hint
    for name in files.FORMATS:  # whatever it was said to be
        with pytest.raises(InputError):
            files.read(path, format=name)


def test_paths_that_are_no_readable_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        files.read(tmp_path / "missing")
    with pytest.raises(InputError, match="is a folder"):
        files.read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        files.read(tmp_path / "pipe")
    with pytest.raises(InputError, match="can't be read"):
        files.read(tmp_path / ("n" * 5000))
    with pytest.raises(InputError, match="can't be read"):
        files.read("a\0b")


def test_a_file_that_may_not_be_opened_is_refused(tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    path = saved(tmp_path / "f", TURN)
    monkeypatch.setattr(source_module.Path, "open", refuse)
    with pytest.raises(InputError, match="can't be read: Permission denied"):
        files.read(path)


def test_a_disk_that_fails_midway_is_an_input_error(tmp_path, monkeypatch):
    class Failing:
        def __init__(self, file):
            self._file = file

        def seek(self, *to):
            return self._file.seek(*to)

        def read(self, n):
            return self._file.read(n)

        def close(self):
            self._file.close()

        def readline(self, n):
            raise OSError(5, "Input/output error")

    opened = source_module._opened
    monkeypatch.setattr(source_module, "_opened", lambda path: Failing(opened(path)))
    path = saved(tmp_path / "f", TURN)
    with pytest.raises(InputError, match="Input/output error"):
        files.read(path)
    with pytest.raises(InputError, match="Input/output error"):
        list(files.lines(path))


def test_a_cut_off_last_line_is_named(tmp_path):
    session = files.read(saved(tmp_path / "f", TURN * 2 + b'{"role":"user","con'))
    assert len(session.messages) == 2
    assert session.left_out == ("the last line (3) is cut off or not JSON: skipped",)


def test_broken_lines_are_counted_and_the_first_named(tmp_path):
    session = files.read(saved(tmp_path / "f", TURN + b"oops\n" * 8 + TURN))
    assert len(session.messages) == 2
    assert session.left_out == ("8 lines are not JSON and were skipped (lines 2, 3, 4, 5, 6 …)",)


def test_bytes_that_are_no_utf8_are_replaced_and_said(tmp_path):
    session = files.read(saved(tmp_path / "f", TURN + b'{"role":"user","content":"a\xffb"}\n'))
    assert texts(session) == ["hi", "a\ufffdb"]
    assert session.left_out == ("1 line is not UTF-8: its bad bytes were replaced (line 2)",)


@pytest.mark.parametrize("depth, says", [(100_000, "nested too deeply"), (300, "nested more than 200 deep")])
def test_deep_nesting_is_skipped_and_said(tmp_path, depth, says):
    deep = b'{"role":"user","content":' + b"[" * depth + b"]" * depth + b"}\n"
    session = files.read(saved(tmp_path / "f", TURN + deep + TURN))
    assert texts(session) == ["hi", "hi"]
    assert says in session.left_out[0]


@pytest.mark.parametrize("size", [100, pytest.param(1024, marks=pytest.mark.slow)])
def test_a_line_over_the_limit_is_skipped_named_and_never_held(tmp_path, size):
    path = tmp_path / "f"
    with path.open("wb") as file:
        file.write(TURN + b'{"x":"')
        file.seek(size * MB, os.SEEK_CUR)  # a hole: it takes no room on the disk
        file.write(b'"}\n' + TURN)
    limits = files.Limits(line=MB)
    assert max(len(line.raw) for line in files.lines(path, limits=limits)) < 100
    session = files.read(path, limits=limits)
    assert len(session.messages) == 2
    assert session.left_out == (f"line 2 is {size} MB long, over the limit of 1 MB: skipped",)


def test_a_document_over_the_limit_is_refused_unread(tmp_path):
    path = saved(tmp_path / "f", b'{\n"messages":["' + b"a" * 3 * MB + b'"]}')
    with pytest.raises(TooLarge, match="one JSON document of 3 MB, over the limit of 1 MB"):
        files.read(path, limits=files.Limits(line=MB, document=MB))


def test_parents_in_a_circle_end_the_walk_and_are_said(tmp_path):
    rows = [claude("a", "c", "1"), claude("b", "a", "2"), claude("c", "b", "3")]
    session = files.read(write(tmp_path / "f", *rows))
    assert texts(session) == ["1", "2", "3"]
    assert session.left_out == ("the parents run in a circle at line 1: the conversation starts there",)


def test_a_parent_that_is_missing_goes_on_with_the_line_before(tmp_path):
    rows = [claude("a", None, "1"), claude("b", "gone", "2"), claude("c", "b", "3")]
    session = files.read(write(tmp_path / "f", *rows))
    assert texts(session) == ["1", "2", "3"]
    assert "names a parent that is not in the file" in session.left_out[0]


def test_a_repeated_uuid_counts_once(tmp_path):
    rows = [claude("a", None, "1"), claude("a", None, "1 again"), claude("b", "a", "2")]
    session = files.read(write(tmp_path / "f", *rows))
    assert texts(session) == ["1", "2"]
    assert session.left_out == ("1 line repeats an earlier uuid and was skipped (line 2)",)


def test_a_long_chain_of_missing_parents_takes_linear_time(tmp_path):
    rows = [claude(f"u{i}", f"gone{i}", "x") for i in range(20_000)]
    assert len(files.read(write(tmp_path / "f", *rows)).messages) == 20_000


def test_tags_that_never_close_take_linear_time(tmp_path):
    share = {"conversations": [{"from": "gpt", "value": "<tool_call>" * 50_000}]}
    (message,) = files.read(write(tmp_path / "f", share)).messages
    assert message.text == "<tool_call>" * 50_000


def test_many_bad_turns_are_counted_not_listed(tmp_path):
    share = {"conversations": [{"from": "human", "value": "hi"}, *[{"from": "nobody"}] * 1000]}
    left_out = files.read(write(tmp_path / "f", share)).left_out
    assert len(left_out) < 50
    assert "960 more" in left_out[-1]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_golden_file_cut_anywhere_reads_or_says_why(path, tmp_path):
    whole = path.read_bytes()
    for end in range(0, len(whole), max(len(whole) // 60, 1)):
        assert reads_or_says(saved(tmp_path / "f", whole[:end]))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_golden_file_with_any_value_swapped_reads_or_says_why(path, tmp_path):
    """Each line with one of its values, wherever it stands, replaced by one of another type."""
    random_ = random.Random(7)
    rows = (
        [line.value if line.raw.endswith((b"}", b"]")) else None for line in files.lines(path)]
        if path.suffix == (".jsonl")
        else [jsonio.loads(path.read_bytes())]
    )
    for _ in range(120):
        at = random_.randrange(len(rows))
        odd = random_.choice([None, 5, "x", [], {}, [None], {"type": 5}, True, -1.5])
        changed = [swapped(row, odd, random_) if i == at else row for i, row in enumerate(rows)]
        assert reads_or_says(write(tmp_path / "f", *changed))


def swapped(value, odd, random_):
    """The value with `odd` at a random place in it."""
    if isinstance(value, dict) and value and random_.random() < 0.8:
        key = random_.choice(sorted(value))
        return {**value, key: swapped(value[key], odd, random_)}
    if isinstance(value, list) and value and random_.random() < 0.8:
        i = random_.randrange(len(value))
        return [*value[:i], swapped(value[i], odd, random_), *value[i + 1 :]]
    return odd


def reads_or_says(path):
    try:
        return isinstance(files.read(path), files.SessionFile)
    except ClewError as error:
        return bool(error.message and error.hint)


def test_the_golden_folder_is_not_empty():
    assert len(FILES) >= 8
    assert all((GOLDEN / f"{p.name}.expected.json").exists() for p in FILES)
