"""Which conversation a request belongs to: recorded traffic of real clients, and the rules one by one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clew import jsonio
from clew.config import Settings
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
from clew.wire import get
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
        ("openai-chat", {"messages": [{"role": "user", "content": "hi"}]}, "turn"),
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
