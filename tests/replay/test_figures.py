"""The figures of a replay, each worked out by hand: what `clew replay` prints and gates rests on them."""

from __future__ import annotations

import pytest

from clew.catalog import lookup
from clew.economics import weights
from clew.replay.memory import FAR, Memory, Need
from clew.replay.policies import Setting, make
from clew.replay.run import replay
from clew.testing.builders import assistant, call, message, result, user
from clew.testing.session import generate
from clew.tokens import Counter
from clew.wire import get, problems

COUNT = Counter("gpt-o200k").message


def told(*messages):
    memory = Memory()
    for m in messages:
        memory.learn(m, 1)
    return memory


def test_a_name_counts_where_it_was_said_before_and_is_needed_now():
    said = user("Look at src/app.py and PORT_A")
    step = call("c1", "read", {"path": "src/app.py", "other": "never/said.py"})
    assert told(said).judge(step, [said]) == Need(needed=1, had=1, calls=1, ready=1)
    assert told(said).judge(step, []) == Need(needed=1, had=0, calls=1, ready=0)


def test_a_call_is_ready_only_with_every_name_it_needs():
    said, other = user("src/app.py"), user("src/db.py")
    step = call("c1", "diff", {"a": "src/app.py", "b": "src/db.py"})
    assert told(said, other).judge(step, [said]) == Need(needed=2, had=1, calls=1, ready=0)


def test_what_the_system_prompt_says_is_no_memory():
    given = message({"role": "system", "content": "The port is PORT_A"})
    assert told(given).judge(assistant("PORT_A is taken"), []) == Need()


@pytest.mark.parametrize(("since", "far"), [(FAR, 0), (FAR + 1, 1)])
def test_far_is_what_was_last_said_more_than_8000_tokens_before(since, far):
    memory = told(user("src/app.py"))
    memory.learn(user("nothing"), since)
    assert memory.judge(assistant("src/app.py"), []) == Need(needed=1, far=far)


def test_a_list_of_names_that_the_policy_wrote_is_no_memory_but_a_line_of_the_session_is():
    names = " ".join(f"src/file_{n}.py" for n in range(13))
    said = user(names)
    step = assistant("src/file_7.py")
    assert told(said).judge(step, [said]).had == 1
    assert told(said).judge(step, [user(f"Names: {names}")]).had == 0
    assert told(said).judge(step, [user("Names: src/file_7.py, src/file_8.py")]).had == 1
    assert told(said).judge(step, [user("src/file_7.py " + "x " * 200)]).had == 0


class Played:
    """A policy with views that are written out, one a step."""

    def __init__(self, *views):
        self.views = list(views)

    def push(self, message):
        pass

    def view(self):
        return self.views.pop(0)

    def epochs(self):
        return ()


def test_the_price_of_each_request_under_a_prefix_cache():
    long, more = user("word " * 3_000), user("and more")
    talk = [long, assistant("one"), more, assistant("two")]
    done = replay(talk, Played([long], [long, talk[1], more]), "x", window=4_000, overhead=100, model="claude-opus-4-8")
    price = weights(lookup("claude-opus-4-8").prices)
    count = Counter.of(lookup("claude-opus-4-8")).message
    first, second = done.steps
    assert (first.read, first.billed) == (0, price.write_5m * (count(long) + 100))
    assert second.read == count(long) + 100
    assert second.billed == price.read * second.read + price.write_5m * (count(talk[1]) + count(more))
    assert (done.prefix_breaks, done.share) == (0, 1.0)
    assert done.sent == first.tokens + second.tokens
    assert done.hits == second.read / done.sent
    assert (done.peak, done.over) == (second.tokens, 2 if first.tokens > 4_000 else 1)


def test_a_changed_beginning_is_paid_for_and_counted():
    long, other = user("word " * 3_000), user("other " * 3_000)
    talk = [long, assistant("one"), user("go on"), assistant("two")]
    done = replay(talk, Played([long], [other]), "x", window=10**6)
    assert done.prefix_breaks == 1
    assert done.steps[1].read == 0
    assert done.billed == 1.25 * (COUNT(long) + COUNT(other))
    assert done.full_billed == 1.25 * COUNT(long) + 0.1 * COUNT(long) + 1.25 * sum(COUNT(m) for m in talk[1:3])
    short = replay(talk, Played([user("a")], [user("a")]), "x", window=10**6)
    assert short.hits == 0, "so short a prefix isn't cached"


def test_a_beginning_that_an_epoch_changed_is_no_break():
    class Compacting(Played):
        def epochs(self):
            return ("an epoch",) if len(self.views) < 1 else ()

    talk = [user("a"), assistant("one"), user("b"), assistant("two")]
    assert replay(talk, Compacting([user("a")], [user("c")]), "x", window=10**6).prefix_breaks == 0


def test_a_request_as_large_as_the_window_fits():
    talk = [user("a few words"), assistant("one")]
    size = COUNT(talk[0])
    assert replay(talk, Played([talk[0]]), "x", window=size).over == 0
    assert replay(talk, Played([talk[0]]), "x", window=size - 1).over == 1


def test_a_view_is_invalid_where_it_breaks_more_than_the_recording_does():
    talk = [user("go"), call("c1", "ls", {}), result("c1", "a"), assistant("done")]
    done = replay(talk, Played([talk[0]], [talk[0], talk[2]]), "x", window=10**6)
    assert [s.problems for s in done.steps] == [0, 1]
    assert done.invalid == 1


@pytest.mark.parametrize("name", ["clew", "none", "sliding", "mask"])
def test_the_plain_ways_send_what_a_provider_takes(name):
    messages = [get("openai-chat").message(m) for m in generate(3, turns=12).messages]
    done = replay(messages, make(name, Setting(16_000)), name, window=16_000)
    assert done.invalid == 0
    assert problems.problems(messages, "openai-chat") == []
    assert (done.over > 0) == (name in ("none", "mask"))
