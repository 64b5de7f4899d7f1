"""What a tool call does and what came back, read the same way for every agent.

Agents name their tools as they like and wrap what comes back: `Action` says what kind of thing a call is and on what,
`Output` is the text without its wrapping, with the exit code where anything says it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from clew import jsonio
from clew.transcript import ToolCall, ToolResult

Kind: TypeAlias = Literal[
    "command", "read", "write", "edit", "patch", "search", "fetch", "todo", "delegate", "ask", "think", "other"
]

_NAMES: tuple[tuple[Kind, str], ...] = (  # the first that matches
    ("patch", r"apply_?patch|^patch$"),
    ("todo", r"todo|^task(?:create|update|list)$|update_?plan|plan_?update"),
    ("think", r"^think|thinking$"),
    ("ask", r"ask_?user|question|clarify"),
    ("delegate", r"^(?:task|agent|delegate|spawn|subagent)|delegate_|sub_?agent"),
    ("command", r"bash|shell|terminal|exec|stdin|^run$|run_?command|command|powershell|cmd$"),
    ("edit", r"edit|str_?replace|replace|insert_?lines?|update_?file"),
    ("write", r"write|create_?file|save_?file|new_?file"),
    ("fetch", r"fetch|visit|browse|http|download|curl|navigate|web_?page|open_?url"),
    ("search", r"grep|glob|search|find|list|^ls$|tree|lookup|query"),
    ("read", r"read|view|cat|open|inspect|show|load|get_?file"),
)
_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in _NAMES)
_PATH_KEYS = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "filepath", "absolute_path")
_COMMAND_KEYS = ("command", "cmd", "script", "code", "input", "commands")
_PATCH_FILE = re.compile(r"^\*\*\* (Add|Update|Delete|Move to)(?: File)?: (.+)$", re.MULTILINE)
_DIFF_FILE = re.compile(r"^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)
_INNER_EXEC = re.compile(r"exec_command\(\s*(\{.*?\})\s*\)", re.DOTALL)
_EXIT = re.compile(
    r"\W{0,3}(?:(?:Command|Process|Script|Shell|Program|error: script \S+)\b.{0,30}?)?"
    r"\b(?:exit(?:ed)?(?: with)? (?:code|status)|exit[_ ]?(?:code|status)?\s*[:=]|return ?code|rc\s*[:=])\W{0,3}?(-?\d{1,3})\b",
    re.IGNORECASE,
)
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "return_code", "code", "status_code", "exit_status")
_TEXT_KEYS = ("output", "stdout", "content", "result", "text", "data", "message")
_SESSION_KEYS = ("session_id", "bash_id", "shell_id", "process_id", "task_id")
_RUNNING = re.compile(
    r"Process running with session(?: ID)?:? (\S+)|running in (?:the )?background(?: with ID: (\w+))?|still running",
    re.IGNORECASE,
)
_FAILED_LEAD = re.compile(
    r"\A\s*(?:<tool_use_error>|Error(?: when|:|\b.{0,40}failed)|exec_command failed|Traceback \(most recent|"
    r"(?:fatal|error|panic): |File (?:does not exist|not found)|ENOENT|The user doesn't want to proceed|API Error|\[?ERROR\]?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Action:
    """What a call does: its kind, the files it names, the command, and the line range it asks for."""

    kind: Kind
    tool: str
    paths: tuple[str, ...] = ()
    command: str = ""
    target: str = ""  # what to call it by in one line
    lines: tuple[int, int] = (0, 0)
    patch: tuple[tuple[str, str], ...] = ()  # (verb, path) of a patch
    directory: str = ""
    session: str = ""  # of the running command that it feeds or looks at


@dataclass(frozen=True, slots=True)
class Output:
    """What came back, unwrapped. `exit_code` is None where nothing says it; `failed` where it or the text does."""

    text: str
    exit_code: int | None = None
    failed: bool = False
    running: bool = False
    guessed: bool = False  # `failed` by nothing but how the text begins
    session: str = ""  # by which a running command is called later

    @property
    def lines(self) -> int:
        stripped = self.text.strip("\n")
        return stripped.count("\n") + 1 if stripped.strip() else 0


def classify(call: ToolCall) -> Action:
    """The action of a call. Unknown tools are `other`, with whatever path or text names their target."""
    name = call.name.rsplit("__", 1)[-1].rsplit(".", 1)[-1].lower()
    kind: Kind = next((k for k, pattern in _KINDS if pattern.search(name)), "other")
    given = call.input
    if not isinstance(given, Mapping):
        return _free_text(call, kind, given if isinstance(given, str) else call.arguments)
    text = next((str(given[k]) for k in ("input", "patch", "diff") if isinstance(given.get(k), str)), "")
    if "*** Begin Patch" in text:
        return _patched(call.name, text)
    path = next((str(given[k]) for k in _PATH_KEYS if isinstance(given.get(k), str)), "")
    command = _command(given)
    if kind in ("other", "think") and command and name not in ("calculate", "think"):
        kind = "command" if "command" in given or "cmd" in given else kind
    if "*** Begin Patch" in command:
        return _patched(call.name, command)
    if kind == "edit" and str(given.get("command", "")) == "view":
        kind = "read"
    if kind in ("edit", "read") and str(given.get("command", "")) == "create":
        kind = "write"
    return Action(
        kind,
        call.name,
        paths=(path,) if path else (),
        command=command if kind == "command" else "",
        target=_target(kind, given, path, command),
        lines=_range(given),
        directory=next((str(given[k]) for k in ("workdir", "cwd", "directory") if isinstance(given.get(k), str)), ""),
        session=next((str(given[k]) for k in _SESSION_KEYS if isinstance(given.get(k), (str, int))), "")
        if not command
        else "",
    )


def _free_text(call: ToolCall, kind: Kind, text: str) -> Action:
    if "*** Begin Patch" in text:
        return _patched(call.name, text)
    return Action(kind, call.name, command=text if kind == "command" else "", target=one_line(text))


def _patched(tool: str, text: str) -> Action:
    verbs = {"Add": "created", "Update": "modified", "Delete": "deleted", "Move to": "renamed"}
    files = tuple((verbs[m[1]], m[2].strip()) for m in _PATCH_FILE.finditer(text))
    if not files:
        files = tuple(("modified", m[1]) for m in _DIFF_FILE.finditer(text))
    return Action("patch", tool, tuple(p for _, p in files), target=", ".join(p for _, p in files), patch=files)


def _command(given: Mapping[str, Any]) -> str:
    for key in _COMMAND_KEYS:
        value = given.get(key)
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            # ["bash", "-lc", "…"]: the script is what ran
            return value[-1] if len(value) > 2 and value[1].startswith("-") else " ".join(value)
        if isinstance(value, str) and value:
            inner = _INNER_EXEC.search(value) if key == "input" else None
            if inner is not None:
                try:
                    parsed = jsonio.loads(inner[1])
                except ValueError:
                    return value
                return str(parsed.get("cmd", value)) if isinstance(parsed, dict) else value
            return value
    return ""


def _target(kind: Kind, given: Mapping[str, Any], path: str, command: str) -> str:
    if kind == "command":
        return one_line(command)
    if kind == "search":
        what = next((str(given[k]) for k in ("pattern", "query", "regex", "search_string", "q") if given.get(k)), "")
        return one_line(f"{what!r} in {path}" if what and path else what or path or _values(given))
    if kind in ("delegate", "todo", "ask"):
        return one_line(str(given.get("description") or given.get("subject") or _values(given)))
    return path or one_line(str(given.get("url") or _values(given)))


def _values(given: Mapping[str, Any]) -> str:
    return " ".join(f"{k}={v}" for k, v in given.items() if isinstance(v, (str, int, float)) and str(v).strip())


def _range(given: Mapping[str, Any]) -> tuple[int, int]:
    def number(*keys: str) -> int:
        return next((int(given[k]) for k in keys if isinstance(given.get(k), (int, float))), 0)

    view = given.get("view_range")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(v, int) for v in view):
        return (view[0], view[1])
    start = number("offset", "start_line", "line_start", "from", "line")
    limit, end = number("limit", "num_lines"), number("end_line", "line_end", "to")
    return (start or (1 if limit or end else 0), end or (start or 1) + limit - 1 if limit or end else 0)


def one_line(text: str, width: int = 160) -> str:
    """The text on one line, cut in the open."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def unwrap(result: ToolResult) -> Output:
    """The text without what agents wrap around it: JSON envelopes, tags, headers; and the exit code."""
    text = result.text
    code: int | None = None
    if text[:1] in "{[":
        text, code = _from_json(text)
    text, named = _from_call_id(text)
    text, tagged = _from_tags(text)
    code = tagged if code is None else code
    if code is None:
        text, code = _from_header(text)
    failed = result.is_error or named == "Error" or (code is not None and code != 0)
    guessed = not failed and code is None and _FAILED_LEAD.search(text) is not None
    running = _RUNNING.search(result.text[:300])
    session = (running[1] or running[2] or "") if running is not None else ""
    return Output(text, code, failed or guessed, running is not None, guessed, session)


def _from_json(text: str) -> tuple[str, int | None]:
    try:
        value = jsonio.loads(text)
    except ValueError:
        return text, None
    if isinstance(value, list) and value and all(isinstance(v, dict) and v.get("type") == "text" for v in value):
        return "\n".join(str(v.get("text", "")) for v in value), None
    if not isinstance(value, dict):
        return text, None
    meta = value.get("metadata")
    code = next(
        (v for src in (value, meta) if isinstance(src, dict) for k in _EXIT_KEYS if isinstance(v := src.get(k), int)),
        None,
    )
    streams = [value[k] for k in ("stdout", "stderr") if isinstance(value.get(k), str) and value[k]]
    if streams:
        return "\n".join(streams), code
    inner = next((value[k] for k in _TEXT_KEYS if isinstance(value.get(k), str)), None)
    # An envelope is a text with an exit code beside it; any other object is data and stays as it is.
    envelope = inner is not None and (
        code is not None or set(value) <= {*_TEXT_KEYS, "type", "success", "error", "is_error"}
    )
    return (inner, code) if inner is not None and envelope else (text, code if "exit_code" in value else None)


_CALL_ID = re.compile(r"Call id: \S+\n(Observation|Error):\n")


def _from_call_id(text: str) -> tuple[str, str]:
    """Without the lead that says which call it answers, and what that lead calls it."""
    lead = _CALL_ID.match(text)
    return (text[lead.end() :], lead[1]) if lead is not None else (text, "")


def _from_tags(text: str) -> tuple[str, int | None]:
    code = re.match(r"\s*<returncode>(-?\d+)</returncode>", text)
    if code is None:
        return text, None
    body = re.search(r"<output>\n?(.*?)\n?</output>", text, re.DOTALL)
    return (body[1] if body else text[code.end() :]), int(code[1])


def _from_header(text: str) -> tuple[str, int | None]:
    head = text[:400]
    # Only a line of its own says it, among the first or as the last: texts speak of exit codes, too.
    lines = [*head.split("\n")[:5], text[-200:].rstrip().rsplit("\n", 1)[-1]]
    found = next((m for line in lines if (m := _EXIT.match(line)) is not None), None)
    code = int(found[1]) if found else None
    at = head.find("\nOutput:\n")
    if at >= 0 and re.match(r"(?:Exit code|Chunk ID|Wall time|Script )", head):
        return text[at + len("\nOutput:\n") :], code
    return text, code
