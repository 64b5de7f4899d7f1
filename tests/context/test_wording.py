"""Focus, the system note, and handoffs that other tools left in the transcript."""

from __future__ import annotations

import json

import pytest

from clew import Context, Epoch, compress
from clew.handoff import closing
from clew.handoff.focus import focus_of
from clew.handoff.template import BANNER, SYSTEM_NOTE
from clew.ledger.facts import FileAction, FileFact, Ledger
from clew.testing import builders as b
from clew.testing.conversations import in_wire

WIRES = ("openai-chat", "anthropic", "openai-responses")
NOTED = {"compression": {"system_note": "system"}}


def calls(count, *, start=0, words=220, name="part"):
    """Calls that read files, each with a value of its own deep in its output."""
    out = []
    for n in range(start, start + count):
        body = "\n".join(f"{k}: the {name}_{n}_{k} of worker_{k % 5} is ready" for k in range(words // 8))
        body += f"\nlimit_{name}_{n} = {7_000 + n}"
        out += [b.call(f"c{n}", "bash", {"command": f"cat {name}_{n}.txt"}).value, b.result(f"c{n}", body).value]
    return out


def talk(count=60, *, system=True):
    lead = [{"role": "system", "content": "You are careful."}] if system else []
    return [*lead, {"role": "user", "content": "Check every part."}, *calls(count)]


def handoff_of(done):
    return done.epoch.handoff


def test_a_focus_decides_what_is_kept():
    plain = compress(talk(), 24_000, config={})
    focused = compress(talk(), 24_000, config={}, focus="limit_part_7 and limit_part_31")
    assert isinstance(focused.epoch, Epoch)
    assert focused.epoch.focus == "limit_part_7 and limit_part_31"
    for name, value in (("limit_part_7", "7007"), ("limit_part_31", "7031")):
        assert name in handoff_of(focused)
        assert value in handoff_of(focused)
    kept = [f"limit_part_{n} = " in handoff_of(plain) for n in range(50)]
    assert not all(kept)
    assert handoff_of(plain) != handoff_of(focused)


def test_a_focus_leads_the_lists_of_the_closing():
    files = tuple(FileFact(f"src/file_{n}.py", (FileAction("modified", n),)) for n in range(60))

    def drawn(focus):
        made = closing.sections(Ledger(files=files), frozenset(), 120, len, focus=focus)
        return made.sections["Relevant Files"]

    assert "file_3.py" not in drawn(focus_of("", ""))
    assert drawn(focus_of("src/file_3.py", "")).startswith("- src/file_3.py")


def test_the_note_stands_once_at_the_end_of_the_system_prompt_from_the_first_compaction_on():
    ctx = Context(16_000, config=NOTED, clock=lambda: 0.0)
    sent = []
    for m in talk(120):
        if m["role"] == "assistant":
            sent.append((ctx.view()[0]["content"], len(ctx.epochs)))
        ctx.append(m)
    assert len(ctx.epochs) >= 3
    for system, epochs in sent:
        assert system == ("You are careful." if not epochs else f"You are careful.\n\n{SYSTEM_NOTE}")


@pytest.mark.parametrize(
    ("wire", "system"),
    [
        ("anthropic", "You are careful."),
        ("anthropic", [{"type": "text", "text": "You are careful."}]),
        ("openai-responses", "You are careful."),
    ],
)
def test_where_the_system_prompt_stands_apart_the_request_carries_the_note(wire, system):
    ctx = Context(16_000, wire=wire, config=NOTED, system=system, clock=lambda: 0.0)
    key = ctx._wire.system_key
    for m in in_wire(talk(10, system=False), wire):
        ctx.append(m)
    assert ctx.request()[key] == system
    ctx.compact()
    assert ctx.epochs
    told = json.dumps(ctx.request()[key])
    assert told.count("compacted into a record") == 1
    assert told.index("You are careful.") < told.index("compacted into a record")
    assert "compacted into a record" not in json.dumps(ctx.view()).replace(BANNER, "")


def test_by_default_the_system_prompt_is_never_touched():
    done = compress(talk(), 16_000, config={})
    assert done.messages[0] == {"role": "system", "content": "You are careful."}


FOREIGN = {
    "claude-code": "This session is being continued from a previous conversation that ran out of context. Analysis:\n"
    "Summary:\n1. Primary Request: build the importer for ORDER-48213.\n2. Files: src/importer.py",
    "codex": "Another language model started to solve this problem and produced a summary of its thinking process.\n"
    "Work so far: the importer for ORDER-48213 lives in src/importer.py",
    "hermes": "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted.\n\n## Goal\nBuild the importer for "
    "ORDER-48213.\n\n## Relevant Files\nsrc/importer.py",
    "pi": "The conversation history before this point was compacted into the following summary:\n\n<summary>\n## Goal\n"
    "Build the importer for ORDER-48213.\n## Files\nsrc/importer.py\n</summary>",
}


@pytest.mark.parametrize("tool", sorted(FOREIGN))
@pytest.mark.parametrize("wire", WIRES)
def test_a_handoff_of_another_tool_becomes_state_and_never_nests(tool, wire):
    messages = [{"role": "user", "content": FOREIGN[tool]}, {"role": "assistant", "content": "I go on from there."}]
    messages += [{"role": "user", "content": "Now check every part."}, *calls(220)]
    ctx = Context(16_000, wire=wire, config={}, clock=lambda: 0.0)
    for m in in_wire(messages, wire):
        ctx.append(m)
        ctx.view()
    assert len(ctx.epochs) >= 5
    text = json.dumps(ctx.view(), ensure_ascii=False)
    assert text.count(BANNER) == 1
    assert text.count(FOREIGN[tool][:60]) <= 1
    assert "ORDER-48213" in text
    assert "src/importer.py" in text
    assert all("continued from" not in r.text for r in ctx.ledger.requests)


def test_twenty_rounds_of_compressing_ones_own_output_keep_one_banner():
    messages = talk(40)
    for n in range(20):
        done = compress(messages, 16_000, config={})
        messages = [*done.messages, *calls(12, start=1_000 + 50 * n)]
        assert json.dumps(done.messages).count(BANNER) <= 1
    assert "Check every part." in json.dumps(messages)
