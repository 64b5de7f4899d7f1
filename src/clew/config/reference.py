"""The tables of the reference, generated from the schema. `python -m clew.config.reference FILE` writes them into a page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from clew.config.aliases import ALIASES
from clew.config.edit import rendered
from clew.config.key import Key
from clew.config.keys import keys_of
from clew.config.layers import DEEP, PREFIX
from clew.config.schema import Settings, unused

NOT_YET = (
    "Read and checked so that files that have it work; nothing acts on it yet, and a note says so where it is changed."
)
BEGIN, END = "<!-- keys: generated -->", "<!-- /keys -->"


def tables() -> str:
    """A table per section, then the other names that are read."""
    sections: dict[str, list[Key]] = {}
    for key in keys_of(Settings).values():
        sections.setdefault(key.name.rpartition(".")[0], []).append(key)
    parts = [_table(f"`{name}`" if name else "Top level", keys) for name, keys in sections.items()]
    rows = [f"| `{old}` | `{a.key}` | {_reading(a)} |" for old, a in sorted(ALIASES.items())]
    parts.append("\n".join(["### Other names", "", "| read | as | |", "|---|---|---|", *rows]))
    return "\n\n".join(parts)


def written(page: str) -> str:
    """The page with its tables renewed."""
    head, _, rest = page.partition(BEGIN)
    _, _, foot = rest.partition(END)
    return f"{head}{BEGIN}\n\n{tables()}\n\n{END}{foot}"


def variable(name: str) -> str:
    """The environment variable that sets a key."""
    return PREFIX + name.upper().replace(".", DEEP)


def _table(title: str, keys: list[Key]) -> str:
    rows = [f"| `{key.name}` | {_default(key)} | {key.range()} | {key.doc} |" for key in keys]
    note = [NOT_YET, ""] if all(unused(key.name) for key in keys) else []
    return "\n".join([f"### {title}", "", *note, "| key | default | accepts | meaning |", "|---|---|---|---|", *rows])


def _default(key: Key) -> str:
    return "" if key.default is None else f"`{rendered(key.default)}`"


def _reading(alias: Any) -> str:
    if alias.variable:
        return "the name of an environment variable"
    return "deprecated, with a note" if alias.deprecated else ""


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(written(file.read_text()))
