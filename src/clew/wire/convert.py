"""The one converter between formats: text, images, calls and results, system. What can't be carried is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from clew.jsonio import Json
from clew.transcript import Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from clew.wire import spell
from clew.wire.detect import ANTHROPIC, CHAT, RESPONSES, get
from clew.wire.spell import Loss, Speller, Spelling, Turn

_SYSTEM = ("system", "developer")
_SPELLINGS: dict[str, Spelling] = {CHAT: spell.chat, RESPONSES: spell.responses, ANTHROPIC: spell.anthropic}
# What says how a message came about, and means nothing to another provider.
_BOOKKEEPING = frozenset(
    {
        "id",
        "type",
        "role",
        "status",
        "model",
        "stop_reason",
        "stop_sequence",
        "stop_details",
        "usage",
        "index",
        "diagnostics",
    }
)
_CARRIED = frozenset(
    {"content", "name", "arguments", "input", "output", "call_id", "action", "operation", "tool_calls", "tool_call_id"}
    | {"function_call", "refusal", "text", "source", "image_url", "function", "custom", "tool_use_id", "is_error"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks", "audio"}
)
_KNOWN = _BOOKKEEPING | _CARRIED


@dataclass(frozen=True, slots=True)
class Converted:
    """The messages in the other format. `system` is set for Anthropic, which has it outside the messages."""

    messages: tuple[Message, ...]
    lost: tuple[Loss, ...] = ()
    system: str = ""


def convert(messages: Sequence[Message], source: str, target: str, *, system: str = "") -> Converted:
    """`messages` of one format in another. `system` is the words that the source keeps outside its messages."""
    origin, goal = get(source), get(target)
    if origin.name == goal.name:
        return Converted(tuple(messages), (), system)
    speller = Speller()
    for place, m in enumerate(messages):
        _name_extras(m, place, speller)
    turns = [t for turn in _turns(messages, origin.name) if (t := speller.carried(turn, goal.name)).parts]
    if origin.name == RESPONSES:
        turns = _beside_calls(turns, speller)
    if goal.name == ANTHROPIC:
        system, turns = _system_out(system, turns)
        turns = _as_anthropic_ends(_merged(turns), speller)
    elif system:
        turns.insert(0, Turn("system", ((0, Text(system)),)))
        system = ""
    spelled = [value for turn in turns for value in _SPELLINGS[goal.name](speller, turn)]
    lost = tuple(sorted(speller.lost, key=lambda loss: loss.place))
    return Converted(tuple(goal.message(v) for v in spelled), lost, system)


def _turns(messages: Sequence[Message], wire: str) -> Iterator[Turn]:
    """The neutral turns: results apart from what the user says, and an assistant's messages in a row as one turn
    where the format reads them so.
    """
    waiting: Turn | None = None
    for place, m in enumerate(messages):
        for role, parts in _stretches(m):
            turn = Turn(role, tuple((place, p) for p in parts))
            joins = role == "tool" or (role == "assistant" and wire != CHAT)
            if waiting is not None and waiting.role == role and joins:
                waiting = replace(waiting, parts=waiting.parts + turn.parts)
                continue
            if waiting is not None:
                yield waiting
            waiting = turn
    if waiting is not None:
        yield waiting


def _stretches(m: Message) -> Iterator[tuple[str, list[Part]]]:
    if m.role != "user":
        yield m.role, list(m.parts)
        return
    results: list[Part] = [p for p in m.parts if isinstance(p, ToolResult)]
    rest: list[Part] = [p for p in m.parts if not isinstance(p, ToolResult)]
    if results:
        yield "tool", results
    if rest or not results:
        yield "user", rest


def _beside_calls(turns: list[Turn], speller: Speller) -> list[Turn]:
    """Results right behind their calls: Responses takes them anywhere later, the others there only."""
    out: list[Turn] = []
    caller: dict[str, int] = {}  # the call's id and where in `out` it stands
    answers: dict[int, list[tuple[int, Part]]] = {}
    for turn in turns:
        if turn.role != "tool":
            caller |= {p.id: len(out) for _, p in turn.parts if isinstance(p, ToolCall)}
            out.append(turn)
            continue
        for place, p in turn.parts:
            last = len(out) - 1
            at = caller.get(p.call_id, last) if isinstance(p, ToolResult) else last
            if at != last:
                speller.lose(place, "where a result stood")
            answers.setdefault(at, []).append((place, p))
    behind = [[turn, *([Turn("tool", tuple(answers[i]))] if i in answers else ())] for i, turn in enumerate(out)]
    orphans = [Turn("tool", tuple(answers[-1]))] if -1 in answers else []
    return orphans + [turn for group in behind for turn in group]


def _as_anthropic_ends(turns: list[Turn], speller: Speller) -> list[Turn]:
    """The first turn is the user's, whose words nobody can make up; the last answer doesn't end in blanks."""
    if turns and turns[0].role == "assistant":
        speller.lose(turns[0].parts[0][0], "that the assistant speaks first")
    if not turns or turns[-1].role != "assistant":
        return turns
    place, last = turns[-1].parts[-1]
    if not isinstance(last, Text) or last.text == last.text.rstrip():
        return turns
    speller.lose(place, "blanks at the end of the last answer")
    trimmed = (*turns[-1].parts[:-1], (place, replace(last, text=last.text.rstrip())))
    return [*turns[:-1], Turn("assistant", trimmed)]


def _system_out(system: str, turns: list[Turn]) -> tuple[str, list[Turn]]:
    """The leading system messages' words, and the other turns."""
    texts = [system]
    n = 0
    while n < len(turns) and turns[n].role in _SYSTEM:
        texts += [p.text for _, p in turns[n].parts if isinstance(p, Text)]
        n += 1
    return "\n\n".join(t for t in texts if t), turns[n:]


def _merged(turns: list[Turn]) -> list[Turn]:
    """Turns that alternate: results and what the user says after them are one user turn."""
    out: list[Turn] = []
    for turn in turns:
        role = "user" if turn.role == "tool" else turn.role
        # A result may not follow words in the same turn, so those stay two messages, which the provider joins.
        late = turn.role == "tool" and bool(out) and any(not isinstance(p, ToolResult) for _, p in out[-1].parts)
        if out and out[-1].role == role and role in ("user", "assistant") and not late:
            out[-1] = Turn(role, out[-1].parts + turn.parts)
        else:
            out.append(Turn(role, turn.parts))
    return out


def _name_extras(m: Message, place: int, speller: Speller) -> None:
    """Fields that no rule of the converter knows; a message that is lost as a whole names itself."""
    if all(isinstance(p, (Opaque, Reasoning)) for p in m.parts) and m.parts:
        return
    if not any(not isinstance(p, Text) or p.text for p in m.parts):
        speller.lose(place, f"a {m.role} message without content")
    value = m.value
    for holder in (value, *_holders(value)):
        for key, inner in holder.items():
            if key not in _KNOWN and inner not in (None, [], {}, ""):
                speller.lose(place, f"the field `{key}`")
            elif key == "name" and m.role in ("user", "system", "developer") and holder is value:
                speller.lose(place, "the field `name`")


def _holders(value: dict[str, Json]) -> Iterator[dict[str, Json]]:
    """The blocks and calls of a message, and the blocks of a result."""
    for key in ("content", "tool_calls", "output"):
        listed = value.get(key)
        for b in listed if isinstance(listed, list) else ():
            if isinstance(b, dict) and b.get("type") in _OPENED:
                yield b
                if b["type"] == "tool_result":
                    yield from _holders(b)


_OPENED = frozenset(
    {"text", "input_text", "output_text", "image", "image_url", "input_image", "tool_use", "tool_result"}
    | {"function", "custom"}
)
