"""What each provider refuses, in its own words. Written on plain JSON, apart from `clew.wire`, so that a mistake in
one shows in the other.
"""

from __future__ import annotations

from collections.abc import Mapping

from clew.catalog import Model
from clew.jsonio import Json
from clew.testing.upstream.rules import anthropic, chat, responses
from clew.testing.upstream.rules.seals import Seals


def check(wire: str, body: Json, headers: Mapping[str, str], model: Model, seals: Seals) -> None:
    """Raises the refusal that this provider would answer with. For Responses, `body` has its whole input."""
    match wire:
        case "anthropic":
            anthropic.check(body, headers, model, seals)
        case "openai-chat":
            chat.check(body, model)
        case _:
            responses.check(body, seals)
