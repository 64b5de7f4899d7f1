"""Which conversation a request belongs to: recorded traffic of real clients, and the rules one by one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clew import jsonio
from clew.config import Settings, from_mapping
from clew.gateway.align import align, essence
from clew.gateway.asgi import Call
from clew.gateway.counts import Counts
from clew.gateway.identity import identify
from clew.gateway.overflow import Learned
from clew.gateway.routes import Routes
from clew.gateway.turns import Turn, Turns
from clew.record import Exchange, read
from clew.record.habits import kind, session
from clew.store import open_store
from clew.transcript import ToolResult
from clew.wire import get
from clew.wire.usage import Usage
from tests.conftest import ROOT

TRAFFIC = ROOT / "tests" / "data" / "traffic"
CLIENTS = ("claude-code", "codex", "opencode", "pi")


def replayed(client: str, counts: Counts | None = None) -> Iterator[tuple[Exchange, Turn | None]]:
    """The recorded requests of a client through a worker's turns, nothing sent."""
    turns = Turns(open_store("memory:"), Settings(), counts or Counts(), Learned())
    for e in read(TRAFFIC / f"{client}.jsonl.zst"):
        if e.method == "POST":
            call = Call(e.method, e.path, tuple((k.lower(), v) for k, v in e.headers))
            yield e, turns.begin(call, Routes({}).route(call), jsonio.dumps(e.body))


@pytest.mark.parametrize("client", CLIENTS)
def test_a_clients_turns_stay_one_conversation(client):
    """Between two of the client's own compactions every turn goes on with the same branch, and nothing is left out."""
    branches: dict[tuple[str, str, int], set[str]] = {}
    rewound: dict[tuple[str, str], tuple[int, int]] = {}  # (compactions so far, messages of the last turn)
    for e, turn in replayed(client):
        what = kind(e)
        if what not in ("turn", "subagent"):
            continue
        assert turn is not None
        held = len(turn.request.messages)
        key = (session(e), what)
        count, last = rewound.get(key, (0, 0))
        count += held < last
        rewound[key] = (count, held)
        branches.setdefault((*key, count), set()).add(turn.conversation.live.session_id)
        assert turn.conversation.live.length == held
        assert list(turn.places.places) == list(range(held))
    assert len(branches) >= 2
    assert all(len(found) == 1 for found in branches.values()), branches
    alone = [next(iter(found)) for found in branches.values()]
    assert len(set(alone)) == len(alone)


@pytest.mark.parametrize("client", CLIENTS)
def test_side_requests_are_no_part_of_it(client):
    """Titles pass; summaries that a client makes have sessions of their own or are branches, never the conversation."""
    turns: set[str] = set()
    sides: set[str] = set()
    for e, turn in replayed(client):
        what = kind(e)
        if what in ("title", "count", "probe"):
            assert turn is None or what == "count"
        elif turn is not None:
            (sides if what == "summary" else turns).add(turn.conversation.live.session_id)
    assert not turns & sides


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_a_clients_own_compaction_is_a_fork_with_the_right_parent(client):
    found = [(e, t) for e, t in replayed(client) if t is not None and kind(e) == "turn"]
    first = found[0][1].conversation.live.session_id
    store = found[0][1].family._store
    later = {t.conversation.live.session_id for _, t in found} - {first}
    assert later
    for name in later:
        branch = store.session(name)
        assert branch.kind == "branch"
        assert branch.root == first


def test_tenant_session_and_agent_decide():
    def name(headers: dict[str, str], **changes) -> str:
        body = {"model": "m", "tools": [{"name": "bash"}], "messages": [{"role": "user", "content": "hi"}]} | changes
        call = Call("POST", "/v1/chat/completions", tuple(headers.items()))
        who = identify(call, get("openai-chat").request(body))
        return f"{who.tenant} {who.name}"

    key = {"authorization": "Bearer a", "x-clew-session": "s"}
    assert name(key) == name(key, model="other", temperature=1)
    assert name(key) == name(key, messages=[{"role": "user", "content": "another beginning"}])
    assert name(key) != name(key | {"authorization": "Bearer b"})
    assert name(key) != name(key | {"x-clew-session": "t"})
    assert name(key) != name(key | {"x-claude-code-agent-id": "sub"})
    assert name(key) != name(key, tools=[])
    assert name({}) != name({}, messages=[{"role": "user", "content": "another beginning"}])
    assert name({}, prompt_cache_key="k") == name({}, prompt_cache_key="k", messages=[])


@pytest.mark.parametrize(
    ("wire", "body", "expected"),
    [
        ("anthropic", {"max_tokens": 1, "messages": [{"role": "user", "content": "quota"}]}, "probe"),
        ("openai-chat", {"messages": []}, "probe"),
        ("openai-responses", {"input": "one text"}, "probe"),
        ("openai-responses", {"previous_response_id": "resp_1", "input": [{"role": "user", "content": "x"}]}, "stateful"),
        ("openai-responses", {"conversation": "conv_1", "input": [{"role": "user", "content": "x"}]}, "stateful"),
        ("openai-chat", {"messages": [{"role": "system", "content": "You are a title generator."}, {"role": "user", "content": "x"}]}, "title"),
        ("anthropic", {"system": "Analyze if this message indicates a new conversation topic.", "messages": [{"role": "user", "content": "x"}]}, "title"),
        ("anthropic", {"messages": [{"role": "user", "content": "Please write a 5-10 word title for the following conversation: x"}]}, "title"),
        ("openai-chat", {"messages": [{"role": "user", "content": "### Task:\nGenerate a concise, 3-5 word title with an emoji"}]}, "title"),
        ("openai-chat", {"messages": [{"role": "user", "content": "hi"}]}, "turn"),
        ("openai-chat", {"messages": [{"role": "user", "content": "write a story with a title"}]}, "turn"),
    ],
)  # fmt: skip
def test_what_a_request_is_for(wire, body, expected):
    assert identify(Call("POST", "/", ()), get(wire).request({"model": "m"} | body)).kind == expected


def same(wire: str, a: dict, b: dict) -> bool:
    one, two = (essence(get(wire).message(m)) for m in (a, b))
    return one == two


def test_what_clients_change_in_the_same_message():
    plain = {"role": "user", "content": "do it"}
    mark = {"type": "ephemeral"}
    assert same(
        "anthropic", plain, {"role": "user", "content": [{"type": "text", "text": "do it", "cache_control": mark}]}
    )
    reminder = {"type": "text", "text": "<system-reminder>\nthe date\n</system-reminder>"}
    assert same("anthropic", plain, {"role": "user", "content": [reminder, {"type": "text", "text": "do it"}]})
    call = {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}}
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    assert same(
        "anthropic", {"role": "assistant", "content": [thought, call]}, {"role": "assistant", "content": [call]}
    )
    assert not same(
        "anthropic", {"role": "assistant", "content": [call]}, {"role": "assistant", "content": [call | {"id": "c2"}]}
    )
    assert not same("anthropic", plain, {"role": "user", "content": "do it not"})
    assert not same("anthropic", plain, {"role": "assistant", "content": "do it"})
    result = {"role": "tool", "tool_call_id": "c", "content": "out"}
    assert same("openai-chat", result, result | {"content": [{"type": "text", "text": "out"}]})
    assert not same("openai-chat", result, result | {"content": "[cleared]"})
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "out"}
    assert same("anthropic", {"role": "user", "content": [block, reminder]}, {"role": "user", "content": [block]})


@pytest.mark.parametrize(
    ("log", "asked", "shown_from", "places", "fork"),
    [
        ("abcd", "abcdef", 0, [0, 1, 2, 3, 4, 5], -1),  # it grew
        ("abcd", "abcd", 0, [0, 1, 2, 3], -1),  # sent again
        ("", "ab", 0, [0, 1], -1),  # new
        ("abcd", "ab", 0, [0, 1], 2),  # gone back
        ("abcd", "abXd", 0, [0, 1], 2),  # edited
        ("abcdef", "aXcdefg", 3, [0, -1, -1, 3, 4, 5, 6], -1),  # changed where a handoff stands
        ("abcdef", "aXYZdefg", 3, [0, -1, -1, -1, 3, 4, 5, 6], -1),  # put in between there
        ("abcdef", "adefg", 3, [0, 3, 4, 5, 6], -1),  # taken out there
        ("abcdef", "aXcdXf", 3, [0], 1),  # there, and after it
        ("abcdef", "abcdXf", 3, [0, 1, 2, 3], 4),  # after it
        ("abcdef", "Xg", 3, [], 0),  # another story
        ("abcabc", "aXcabcabc", 3, [0, -1, -1, -1, -1, -1, 3, 4, 5], -1),  # the last place that fits
    ],
)
def test_alignment(log, asked, shown_from, places, fork):
    found = align(list(log), list(asked), shown_from)
    assert (list(found.places), found.fork) == (places, fork)


def spelt(text: str) -> list[str]:
    """u1 a1 t1: a user's, an assistant's, a tool's message; s1: a system message in the middle; r1: thinking alone."""
    roles = {"u": "message user", "a": "message assistant", "t": "message tool", "s": "aside system"}
    roles["r"] = "aside assistant"
    return [f"{roles[w[0]]} {w[1:]}" for w in text.split()]


@pytest.mark.parametrize(
    ("log", "asked", "shown_from", "places", "dropped", "fork"),
    [
        ("u1 a1 t1 s1", "u1 a1 t1 a2 t2 s2", 0, [0, 1, 2, 4, 5, 6], {3}, -1),  # a reminder that is always the last
        ("u1 a1 t1 s1 a2 t2 s2", "u1 a1 t1 a2 t2 a3 t3 s3", 0, [0, 1, 2, 4, 5, 7, 8, 9], {3, 6}, -1),
        ("u1 s1 a1 t1", "u1 s2 a1 t1 a2", 0, [0, 1, 2, 3, 4], set(), -1),  # says something else now
        ("u1 a1 t1 s1", "u1 a1 t1 s2", 0, [0, 1, 2, 4], {3}, -1),  # so does one that stood last: it is new
        ("u1 a1 t1 s1", "u1 a1 t1", 0, [0, 1, 2], {3}, -1),  # asked again without it
        ("u1 a1 t1 u2", "u1 a1 t1 a2 t2 u3", 0, [0, 1, 2, 4, 5, 6], {3}, -1),  # a user's words for one request
        ("u1 a1 t1 u2 a2 t2 u3", "u1 a1 t1 a2 t2 a3", 0, [0, 1, 2, 4, 5, 7], {3, 6}, -1),
        ("u1 a1 t1 u2", "u1 a1 t1 u3", 0, [0, 1, 2], set(), 3),  # another prompt
        ("u1 a1 t1 u2 a2", "u1 a1 t1 a3", 0, [0, 1, 2], set(), 3),  # another answer
        ("u1 a1 u2", "u1 a1 a2", 0, [0, 1], set(), 2),  # no answer follows on an answer
        ("u1 a1 t1 s1 a2 t2 s2 a3", "u1 a1 t1 a2 t2 a3 t3", 4, [0, 1, 2, 4, 5, 7, 8], {3, 6}, -1),
        ("u1 a1 t1 s1 a2 t2 s2 a3", "u1 X1 a2 t2 a3 t3", 4, [0, -1, 4, 5, 7, 8], {6}, -1),  # behind a handoff
        ("u1 a1 t1 u2 r1 a2 t2 u3", "u1 a1 t1 r1 a2 t2 r1 a3", 0, [0, 1, 2, 4, 5, 6, 8, 9], {3, 7}, -1),
        ("u1 r1 a1 t1 r1 a2", "u1 a1 t1 r1 a2 u2", 0, [0, 2, 3, 4, 5, 6], {1}, -1),  # earlier thinking is left out
        ("u1 a1 t1 a2", "u1 a1 s1 t1 a2", 0, [0, 1], set(), 2),  # put in where it is shown
    ],
)
def test_alignment_with_asides(log, asked, shown_from, places, dropped, fork):
    found = align(spelt(log), spelt(asked.replace("X1", "u9")), shown_from)
    assert (list(found.places), set(found.dropped), found.fork) == (places, dropped, fork)


LEAD = {"role": "system", "content": "You are a careful worker."}


def chat(turns: Turns, *messages: dict, tools: bool = True) -> Turn | None:
    """A request of a client that calls its conversation `one`."""
    body = {"model": "gpt-5", "messages": list(messages)} | ({"tools": [{"name": "bash"}]} if tools else {})
    call = Call("POST", "/v1/chat/completions", (("authorization", "Bearer a"), ("x-clew-session", "one")))
    return turns.begin(call, Routes({}).route(call), jsonio.dumps(body))


def stepped(n: int) -> list[dict]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [said, {"role": "tool", "tool_call_id": f"c{n}", "content": f"out {n} " + "word " * 150}]


@pytest.mark.parametrize("role", ["system", "user"])
@pytest.mark.parametrize("window", [400_000, 16_000])
def test_what_a_client_says_for_one_request_only_makes_no_branch(role, window):
    """Each request ends with words that the next one doesn't have: all of them are stored, the view has the newest."""
    settings = from_mapping({"models": {"gpt-5": {"window": window}}, "prompt_caching": {"enabled": False}}).settings
    turns = Turns(open_store("memory:"), settings, Counts(), Learned())
    history, sessions = [LEAD, {"role": "user", "content": "do it"}], set()
    for n in range(100):
        history += stepped(n)
        turn = chat(turns, *history, {"role": role, "content": f"it is {n} o'clock"})
        assert turn is not None
        sessions.add(turn.conversation.live.session_id)
        shown = [m.text for m in turn.shown.messages if m.text.startswith("it is")]
        assert shown == [f"it is {n} o'clock"]
        assert (turn.shown is turn.came) == (not turn.conversation.live.shortens)
    assert len(sessions) == 1
    assert turn.conversation.live.length == 2 + 300
    assert bool(turn.conversation.live.epochs) == (window == 16_000)


@pytest.mark.parametrize("window", [400_000, 16_000])
def test_results_that_a_client_clears_stay_the_same_messages(window):
    """It shows the model the newest five only. All are stored as they were; none is shown longer than the client does."""
    settings = from_mapping({"models": {"gpt-5": {"window": window}}, "prompt_caching": {"enabled": False}}).settings
    turns = Turns(open_store("memory:"), settings, Counts(), Learned())
    history, sessions = [LEAD, {"role": "user", "content": "do it"}], set()
    for n in range(150):
        history += stepped(n)
        results = [k for k, m in enumerate(history) if m["role"] == "tool"]
        asked = [m | {"content": "[cleared]"} if k in results[:-5] else m for k, m in enumerate(history)]
        turn = chat(turns, *asked)
        assert turn is not None
        turns.report(turn, Usage(input=len(turn.body) // 4))
        sessions.add(turn.conversation.live.session_id)
        given = {m.get("tool_call_id"): m["content"] for m in asked}
        assert all(
            len(m.text) <= len(given[p.call_id])
            for m in turn.shown.messages
            for p in m.parts
            if isinstance(p, ToolResult)
        )
    assert len(sessions) == 1
    log = turn.conversation.live.log_messages()
    assert [m.text for m in log if m.role == "tool"] == [m["content"] for m in history if m["role"] == "tool"]


def test_another_result_of_the_same_call_is_another_branch():
    turns, sessions = Turns(open_store("memory:"), Settings(), Counts(), Learned()), []
    for result in ("one " * 50, "two " * 50):
        said, out = stepped(1)
        turn = chat(turns, LEAD, {"role": "user", "content": "do it"}, said, out | {"content": result})
        assert turn is not None
        sessions.append(turn.conversation.live.session_id)
    assert len(set(sessions)) == 2


def test_numbers_dates_and_ids_in_the_instructions_make_no_other_agent():
    turns, sessions = Turns(open_store("memory:"), Settings(), Counts(), Learned()), set()
    changing = ["Thu, 19 Nov 2026 23:59", "Friday 2026-11-20T00:01Z", "9b1deb4d-3b7d-4bad /home/x/y", "x" * 40]
    for n, text in enumerate(changing):
        lead = {"role": "system", "content": f"{text} You are a careful worker. Today is {text}."}
        turn = chat(turns, lead, {"role": "user", "content": "do it"}, *(m for k in range(n) for m in stepped(k)))
        assert turn is not None
        assert turn.request.messages[0].text == lead["content"]
        sessions.add(turn.conversation.live.session_id)
    assert len(sessions) == 1
    other = chat(turns, {"role": "system", "content": "You are a reviewer."}, {"role": "user", "content": "do it"})
    assert other is not None
    assert other.conversation.live.session_id not in sessions


def test_a_question_beside_the_conversation_passes():
    """Under its name, without tools, nothing said yet: no part of it and none of its own."""
    counts = Counts()
    turns = Turns(open_store("memory:"), Settings(), counts, Learned())
    ask = {"role": "user", "content": "is `rm -r` safe?"}
    history = [LEAD, {"role": "user", "content": "do it"}]
    assert chat(turns, LEAD, ask, tools=False) is not None  # a client without tools, as far as is known
    assert chat(turns, *history) is not None
    assert chat(turns, {"role": "system", "content": "You judge commands."}, ask, tools=False) is None
    assert chat(turns, *history, *stepped(1), {"role": "user", "content": "sum up"}, tools=False) is not None
    assert counts.all()["passed: side"] == 1
