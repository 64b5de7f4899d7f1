"""What to call a tool call by: its tool, its file, and one line that says what it was about."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath

from clew.ledger.tools import Action, classify
from clew.transcript import ToolCall

_LONGEST = 2000  # characters of a command that are looked at
_SHOWN = 120
_READERS = frozenset({"cat", "head", "tail", "sed", "nl", "less", "more", "bat", "batcat"})
_STOPS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>", "2>&1"})
_CODE = frozenset(
    [
        ".py",
        ".js",
        ".ts",
        ".tsx",
        ".jsx",
        ".go",
        ".rs",
        ".java",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".cs",
        ".rb",
        ".php",
        ".swift",
        ".kt",
        ".scala",
        ".sh",
        ".sql",
        ".lua",
        ".ex",
        ".erl",
        ".hs",
        ".ml",
        ".vue",
        ".svelte",
        ".css",
        ".scss",
        ".html",
        ".md",
        ".rst",
        ".zig",
        ".dart",
        ".r",
        ".jl",
    ]
)


@dataclass(frozen=True, slots=True)
class Label:
    """`verb` is "read" or "change" where the call concerns a file. `key` is equal for calls that ask for the same."""

    tool: str
    kind: str
    target: str
    path: str = ""
    verb: str = ""
    key: str = ""

    @property
    def is_code(self) -> bool:
        return PurePosixPath(self.path).suffix.lower() in _CODE


UNKNOWN = Label("", "", "")


def label(call: ToolCall, cwd: str = "") -> Label:
    """The label of a call; `cwd` is taken off its paths."""
    action = classify(call)
    tool = call.name or "nameless tool"
    path, verb = _file(action)
    path = relative(path, cwd)
    target = relative(action.target, cwd) or path
    shown = target if len(target) <= _SHOWN else target[: _SHOWN - 1] + "…"
    if verb == "read":
        return Label(tool, "file", path, path, verb, f"file\0{path}")
    if action.kind == "command":
        return Label(tool, "command", shown, path, verb, f"command\0{action.command}")
    kind = action.kind if action.kind != "other" else "call"
    return Label(tool, kind, shown, path, verb, f"{tool}\0{call.arguments}" if verb != "change" else "")


def _file(action: Action) -> tuple[str, str]:
    if action.kind == "read" and action.paths:
        return action.paths[0], "read"
    if action.kind in ("write", "edit", "patch") and action.paths:
        return action.paths[0], "change"
    if action.kind == "command":
        path = read_by(action.command)
        return path, "read" if path else ""
    return "", ""


def read_by(command: str) -> str:
    """The one file that a shell command only prints (`sed -n 1,80p FILE`, `cat FILE | head`); empty where it isn't so."""
    if not command or len(command) > _LONGEST or "\n" in command.strip() or "$" in command or "`" in command:
        return ""
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return ""
    if words[:1] == ["cd"] and len(words) > 3 and words[2] == "&&":
        words = words[3:]
    if any(w in _STOPS - {"|"} or w.startswith((">", "<")) for w in words):
        return ""
    first, *later = _stages(words)
    if not first or first[0] not in _READERS or any(not s or s[0] not in _READERS for s in later):
        return ""
    given = [w for w in first[1:] if not w.startswith("-") and not w.isdigit()]
    if first[0] == "sed":
        if "-i" in first or len(given) < 2:
            return ""
        given = given[1:]
    return given[0] if len(given) == 1 else ""


def _stages(words: list[str]) -> list[list[str]]:
    out: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            out.append([])
        else:
            out[-1].append(word)
    return out


def relative(path: str, cwd: str) -> str:
    """The path as it reads from the session's folder."""
    if cwd and path.startswith(cwd.rstrip("/") + "/"):
        return path[len(cwd.rstrip("/")) + 1 :]
    return path.removeprefix("./")
