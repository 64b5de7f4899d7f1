"""Recall and search as tools for the model, in each wire's form."""

from __future__ import annotations

from collections.abc import Mapping

from clew.errors import InputError
from clew.jsonio import Json
from clew.recall.originals import line_span

RECALL, SEARCH = "clew_recall", "clew_search"

_SPECS: tuple[tuple[str, str, Mapping[str, Json]], ...] = (
    (
        RECALL,
        "Print in full an original that was shortened or left out earlier in this conversation, by its reference.",
        {
            "type": "object",
            "properties": {
                "ref": {"type": "string", "description": "A reference such as clew:k3v9q2m7x4ab."},
                "lines": {"type": "string", "description": "Only these lines, such as 10-40."},
            },
            "required": ["ref"],
        },
    ),
    (
        SEARCH,
        "Search everything said, done and shown earlier in this conversation, also what is no longer in view.",
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "Words, a path or a piece of code."}},
            "required": ["query"],
        },
    ),
)


def definitions(wire: str) -> list[dict[str, Json]]:
    """The tool list's entries for a wire."""
    out: list[dict[str, Json]] = []
    for name, description, schema in _SPECS:
        if wire == "anthropic":
            out.append({"name": name, "description": description, "input_schema": dict(schema)})
        elif wire == "openai-responses":
            out.append({"type": "function", "name": name, "description": description, "parameters": dict(schema)})
        else:
            function = {"name": name, "description": description, "parameters": dict(schema)}
            out.append({"type": "function", "function": function})
    return out


def line_range(text: str, lines: str) -> str:
    """The lines that are asked for (`7`, `7-20`, `7-` or `-20`), counted from one; the whole where none are. A model reads
    the answer, so what is wrong with its range is told in words.
    """
    rows = text.split("\n")
    try:
        first, last = line_span(lines, len(rows))
    except InputError as e:
        return f"({e})"
    return "\n".join(rows[first - 1 : last])
