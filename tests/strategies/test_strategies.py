"""Strategies propose only what is shorter, keep what matters, and name what they took away."""

from __future__ import annotations

import json

import pytest

from clew.strategies import at_epoch, on_arrival
from clew.strategies.args import shrunk
from clew.strategies.base import Scene
from clew.strategies.clip import clip, to_fit
from clew.strategies.dedupe import newer, older, repeatable
from clew.strategies.digest import line
from clew.strategies.errors import stale
from clew.strategies.media import historic
from clew.transcript import Place, Span, Text, ToolCall, ToolResult, Transcript, reference, text_address
from clew.wire import get

CHAT = get("openai-chat")


def step(n, name, arguments, output):
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            ],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": output},
    ]


def scene(*messages, recall=""):
    log = Transcript(CHAT.message(m) for group in messages for m in group)
    return Scene(log, Span(0, len(log)), lambda text: len(text) // 4 + 1, recall)


def size_in(s):
    """Tokens of a message, its calls included."""
    return lambda i: sum(s.measure(p.text if not isinstance(p, ToolCall) else p.arguments) for p in s.log[i].parts)


def seen_before(s, end):
    """Results of the messages before `end`, by their words."""
    known = {r.text: place for i in range(end) for place, r in repeatable(s.log[i], i)}
    return known.get


def sizes(s):
    return lambda i: s.measure(s.log[i].raw.decode())


def found_in(s, position):
    """What the view holds in full: every earlier result."""
    places = {
        p.text: Place(i, k) for i, m in enumerate(s.log) if i < position for k, p in enumerate(m.parts) if m.results
    }
    return places.get


LONG = "\n".join(f"line {n} of the listing" for n in range(60))


def test_the_newest_of_equal_results_stands():
    s = scene(step(1, "read", {"path": "a.py"}, LONG), step(2, "ls", {}, "x"), step(3, "read", {"path": "a.py"}, LONG))
    (edit,) = older(s)
    assert edit.message == 1
    assert "a.py" in edit.text
    assert edit.reference == reference(text_address(LONG))
    assert edit.saved > 0


def test_results_that_differ_anywhere_are_not_the_same():
    near = LONG.replace("line 30", "line 30 4711")
    s = scene(step(1, "read", {"path": "a.py"}, LONG), step(2, "read", {"path": "a.py"}, near))
    assert list(older(s)) == []
    assert list(newer(s, 3, seen_before(s, 3))) == []


def test_success_then_an_error_with_the_same_arguments_keeps_both():
    s = scene(step(1, "bash", {"command": "make"}, LONG), step(2, "bash", {"command": "make"}, f"error: {LONG} boom"))
    assert list(older(s)) == []
    assert list(stale(s)) == []


def test_a_new_repetition_points_to_the_old_one_still_in_view():
    s = scene(step(1, "read", {"path": "a.py"}, LONG), step(2, "read", {"path": "a.py"}, LONG))
    (edit,) = on_arrival(s, 3, seen_before(s, 3))
    assert edit.message == 3
    assert "nothing changed" in edit.text


def test_an_overcome_failure_becomes_a_line():
    failed = "error: no such target\n" + LONG
    s = scene(step(1, "bash", {"command": "make all"}, json.dumps({"output": failed, "exit_code": 2})),
              step(2, "bash", {"command": "make all"}, json.dumps({"output": "built", "exit_code": 0})))  # fmt: skip
    (edit,) = stale(s)
    assert edit.message == 1
    assert "make all" in edit.text


@pytest.mark.parametrize(
    ("name", "arguments", "output", "said"),
    [
        (
            "terminal",
            {"command": "npm test"},
            json.dumps({"output": "a\nb", "exit_code": 1}),
            "ran `npm test` -> exit 1, 2 lines",
        ),
        (
            "terminal",
            {"command": "npm test"},
            "<returncode>0</returncode>\n<output>\nx\n</output>",
            "ran `npm test` -> exit 0, 1 line",
        ),
        ("read_file", {"path": "c.py", "offset": 5, "limit": 9}, "abc", "read c.py from line 5 (3 chars)"),
        ("search_files", {"pattern": "x", "path": "src"}, "a\nb\nc", "searched 'x' in src -> 3 lines"),
    ],
)
def test_a_digest_says_what_ran_and_how_it_ended(name, arguments, output, said):
    call = ToolCall("c", name, json.dumps(arguments))
    assert line(call, ToolResult("c", (Text(output),))) == f"[{name}] {said}"


def test_arguments_shrink_leaf_by_leaf_and_stay_json():
    given = {"path": "a.py", "content": "x" * 5_000, "mode": 420, "edits": [{"old": "y" * 900, "n": 1.5}], "ok": True}
    small = json.loads(shrunk(json.dumps(given)))
    assert small["path"] == "a.py"
    assert (small["mode"], small["ok"], small["edits"][0]["n"]) == (420, True, 1.5)
    assert small["content"].startswith("x" * 200)
    assert "4,800 characters left out" in small["content"]
    assert shrunk("not json {") == "not json {"


def test_pictures_of_earlier_turns_give_way_but_not_the_newest():
    def seen(n):
        url = {"url": f"data:image/png;base64,{'A' * 400}{n}"}
        return [
            {
                "role": "user",
                "content": [{"type": "text", "text": f"look {n}"}, {"type": "image_url", "image_url": url}],
            }
        ]

    s = scene(seen(1), seen(2), [{"role": "assistant", "content": "I see."}])
    edits = list(historic(s))
    assert [e.message for e in edits] == [0]


def test_clipping_keeps_both_ends_and_a_reference():
    text = "".join(f"{n:05d}" for n in range(4_000))
    cut = clip(text, 600, recall="clew recall REF")
    assert cut.startswith("00000")
    assert cut.endswith("03999")
    assert reference(text_address(text)) in cut
    assert len(cut) < 800


def test_clipping_to_fit_takes_the_largest_first_and_stops():
    s = scene(step(1, "bash", {}, "a" * 40_000), step(2, "bash", {}, "b" * 400))
    edits = list(to_fit(s, 2_000, (), size_in(s)))
    assert [e.message for e in edits] == [1]
    assert sum(e.after for e in edits) < 2_000


def test_nothing_is_made_longer_or_empty():
    s = scene(*[step(n, "bash", {"command": f"c{n}"}, LONG if n % 2 else "short") for n in range(12)])
    for level in range(4):
        for e in at_epoch(s, level=level, room=300, size=size_in(s)):
            assert e.saved > 0
            assert e.text
