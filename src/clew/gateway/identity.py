"""Which conversation a request belongs to: whose it is, what its client calls it, which of the client's agents speaks.

Every rule comes from recorded traffic (`tests/data/traffic`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew import jsonio
from clew.gateway.align import words
from clew.gateway.asgi import Call
from clew.gateway.auth import tenant
from clew.jsonio import Json
from clew.wire import Request
from clew.wire.detect import RESPONSES

Kind: TypeAlias = Literal["turn", "title", "probe", "stateful"]

SESSION_HEADER = "x-clew-session"
# As sent: Claude Code; Codex; OpenCode; others.
_SESSION = ("x-claude-code-session-id", "thread-id", "x-session-id", "session-id", "session_id", "conversation_id")
_AGENT = ("x-claude-code-agent-id", "x-clew-agent")
_TITLE = re.compile(
    r"^You are a title generator|(?:Generate|write|Provide|Create) a (?:short |brief )?(?:title|(?:concise|\d[-\w]*)[^.\n]{0,30} title)"
    r"|Summarize this coding conversation in under \d+ characters|indicates a new conversation topic"
    r"|process Bash commands that an AI coding agent|Extract any file paths that this command"
    r"|Generate 1-3 broad tags|relevant follow-up questions",
    re.MULTILINE | re.IGNORECASE,
)
_BILLING = "x-anthropic-billing-header"  # a system block that holds a nonce
_SHOWN = 80  # characters of the system prompt that tell agents apart: later ones hold dates and folders
_LOOKED_AT = 2_000  # of it, from its beginning: what is none of its words is left out
_NONCE = 20  # letters; a longer word is none
_DAYS = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?"
    r"|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|[ap]m|utc|gmt",
    re.IGNORECASE,
)
_SHELLS = frozenset(
    [
        "bash",
        "shell",
        "exec_command",
        "shell_command",
        "terminal",
        "execute_bash",
        "run_command",
        "run_shell_command",
        "local_shell",
        "execute_command",
        "run_terminal_cmd",
    ]
)


@dataclass(frozen=True, slots=True)
class Identity:
    """`tenant` is whose history, `name` what the conversation is called in it; `kind` says what the request is for.
    `said` is what the client itself calls it, for all of its agents, "" where it has no name for it.
    """

    tenant: str
    name: str
    kind: Kind
    shell: bool
    said: str = ""

    @property
    def session(self) -> str:
        """The id under which a store knows it."""
        return f"gw-{self.name}"


def identify(call: Call, request: Request) -> Identity:
    """Of a request that was taken apart."""
    whose = tenant(call)
    said = _said(call, request)
    # Without an id of the client's own, what it began with is the best name there is; twins are told apart as forks.
    own = said or _beginning(request)
    parts = (request.wire, own, next((v for h in _AGENT if (v := call.header(h))), ""), _agent(call, request))
    return Identity(
        whose,
        jsonio.digest("\n".join(parts).encode("utf-8", "surrogatepass"))[:24],
        _kind(request),
        _shell(request),
        f"{whose} {said}" if said else "",
    )


def bucket(call: Call, wire: str) -> str:
    """Where to look for the request before this one, known before anything of the body is read."""
    said = next((v for h in (SESSION_HEADER, *_SESSION) if (v := call.header(h))), "")
    agent = next((v for h in _AGENT if (v := call.header(h))), "")
    return "\n".join((tenant(call), wire, said, agent, call.header("user-agent")))


def _said(call: Call, request: Request) -> str:
    """What the client calls its conversation, "" where it doesn't."""
    named = next((v for h in (SESSION_HEADER, *_SESSION) if (v := call.header(h))), "")
    if named:
        return named
    key = request.rest.get("prompt_cache_key")
    if isinstance(key, str) and key:
        return key
    metadata = request.rest.get("metadata")
    user = metadata.get("user_id") if isinstance(metadata, dict) else None
    if isinstance(user, str) and "session" in user:  # earlier Claude Code: JSON, or user_…_session_UUID
        return user
    return ""


def _beginning(request: Request) -> str:
    first = next((w for m in request.messages if m.role == "user" and (w := words(m.text))), "")
    return jsonio.digest(first.encode("utf-8", "surrogatepass")) if first else ""


def _agent(call: Call, request: Request) -> str:
    """What tells the agents of one client apart: the program, and how its instructions begin."""
    program = call.header("user-agent").partition("/")[0]
    tooled = "tools" if request.tools else "no tools"
    return f"{program}\n{tooled}\n{_steady(_instructions(request))}"


def _steady(text: str) -> str:
    """How instructions begin, without what changes from request to request: numbers, dates, ids, folders."""
    words = text[:_LOOKED_AT].split()
    return " ".join(w for w in words if not _changes(w))[:_SHOWN]


def _changes(word: str) -> bool:
    if word.isascii() and (len(word) > _NONCE or "/" in word or "\\" in word):
        return True
    return any(c.isdigit() for c in word) or _DAYS.fullmatch(word.strip(",.;:()")) is not None


def _instructions(request: Request) -> str:
    system: Json = request.system
    if isinstance(system, str):
        return system
    if isinstance(system, list):
        texts = [b.get("text") for b in system if isinstance(b, dict)]
        return next((t for t in texts if isinstance(t, str) and not t.startswith(_BILLING)), "")
    lead = request.messages[0] if request.messages else None
    return lead.text if lead is not None and lead.role in ("system", "developer") else ""


def _kind(request: Request) -> Kind:
    if request.wire == RESPONSES and (request.rest.get("previous_response_id") or request.rest.get("conversation")):
        return "stateful"
    if not request.messages or request.one_text or output_limit(request) == 1:
        return "probe"
    if not request.tools:
        heads = "\n".join([_instructions(request)[:4000], request.messages[-1].text[:4000]])
        if _TITLE.search(heads):
            return "title"
    return "turn"


def output_limit(request: Request) -> int:
    """The tokens of the window that a request keeps for its answer, 0 where it doesn't say."""
    for key in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        value = request.rest.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0


def _shell(request: Request) -> bool:
    """Whether the agent can run a command."""
    return any(_tool_name(t).lower() in _SHELLS for t in request.tools)


def _tool_name(tool: Json) -> str:
    if not isinstance(tool, dict):
        return ""
    inner = tool.get("function")
    name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
    return name if isinstance(name, str) else str(tool.get("type", ""))
