"""What a settings field says of itself: default, range and meaning, told once where the field is declared."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from clew.errors import ConfigError

T = TypeVar("T")
Check: TypeAlias = Callable[[Any], str]

HIDDEN = "********"
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclasses.dataclass(frozen=True, slots=True)
class Secret:
    """A credential as the user wrote it: the text itself, or `${NAME}`, which is looked up only when it is used."""

    text: str = dataclasses.field(repr=False)

    @property
    def variable(self) -> str | None:
        """The environment variable it points to, if it does."""
        match = REFERENCE.fullmatch(self.text)
        return match[1] if match else None

    def reveal(self, env: Mapping[str, str] | None = None) -> str:
        """The credential, for the request that needs it; ConfigError when its variable isn't set."""
        name = self.variable
        if name is None:
            return self.text
        value = (os.environ if env is None else env).get(name, "").strip()
        if not value:
            raise ConfigError(
                f"the environment variable {name} is not set", hint=f"the settings name it as ${{{name}}}"
            )
        return value

    def __str__(self) -> str:
        return self.text if self.variable else HIDDEN


def about(
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    others: bool = False,
    spelled: Mapping[str, str] | None = None,
    check: Check | None = None,
) -> dict[str, Any]:
    """A field's metadata: what it means and accepts.

    `others` lets a text be none of `choices` (they then serve to catch slips); `spelled` maps further spellings to the
    one that is kept; `check` returns a complaint or "".
    """
    return {
        "doc": doc,
        "low": low,
        "high": high,
        "choices": choices,
        "others": others,
        "spelled": spelled or {},
        "check": check,
    }


def setting(default: T, doc: str, *, private: bool = False, **accepts: Any) -> T:
    """A dataclass field with `about` it. A private one stays out of `repr`: it may hold a credential."""
    meta = about(doc, **accepts)
    if isinstance(default, dict):
        return cast("T", dataclasses.field(default_factory=default.copy, metadata=meta, repr=not private))
    return dataclasses.field(default=default, metadata=meta, repr=not private)
