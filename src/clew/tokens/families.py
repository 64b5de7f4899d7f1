"""How model families count: the nearest encoding, the ratio to it, and what wraps messages, calls and tools.

Ratios of open vocabularies (Llama, Qwen, DeepSeek, Mistral) were measured against the vocabularies themselves on agent
sessions; Claude's, and everything that wraps calls, against the usage that recorded sessions report. Gemini, Grok,
Kimi, GLM and MiniMax are guesses. Every report corrects the ratio of the counter that is in use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from clew.tokens.encodings import CL100K, O200K


@dataclass(frozen=True, slots=True)
class Family:
    """`ratio` is this family's tokens for one of `encoding`; the rest are its own tokens, never multiplied."""

    encoding: str = O200K
    ratio: float = 1.0
    message: int = 4  # role and frame
    call: int = 8  # a call's frame
    parameter: int = 0  # each argument's frame, where arguments don't travel as JSON
    result: int = 4
    seal: float = 0.26  # tokens of thinking for a character of its signature, beyond the first `seal_frame`
    seal_frame: int = 330
    tools: int = 12  # what listing any tools at all costs
    tool: int = 8  # each tool's frame
    tools_as_types: bool = False  # tools are shown as type declarations, not as JSON


_OPENAI = Family(tools_as_types=True)
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "gpt-o200k": _OPENAI,
        "gpt-cl100k": Family(encoding=CL100K, tools_as_types=True),
        "claude": Family(ratio=1.14, call=55, parameter=10, seal=0.18, seal_frame=0, tools=346),
        "claude-4.7": Family(ratio=1.58, call=7, parameter=24, tools=346),
        "gemini": Family(ratio=1.1),
        "grok": Family(ratio=1.05),
        "deepseek": Family(ratio=1.04),
        "qwen": Family(ratio=1.06),
        "kimi": Family(ratio=1.05),
        "glm": Family(ratio=1.05),
        "minimax": Family(ratio=1.05),
        "mistral": Family(ratio=1.1),
        "llama": Family(encoding=CL100K, ratio=1.0),
        "other": Family(ratio=1.1),
    }
)


def family(name: str) -> Family:
    """The family of that name; what holds for "other" where it is unknown."""
    return FAMILIES.get(name, FAMILIES["other"])
