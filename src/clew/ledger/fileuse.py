"""What a shell command does to files: read, created, modified, deleted, renamed, with line ranges where they are said."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.ledger.facts import Verb
from clew.ledger.shell import Simple

_SED_RANGE = re.compile(r"^(\d+)(?:,(\d+))?p?[;pq}]?")
_COUNT = re.compile(r"^-n?(\d+)$")
_NO_FILE = re.compile(r"[*?${}()\[\]<>|\x00\n]|^-|^/dev/|^&|^\d+$|^\.{1,2}$|^https?:|/$|=")
_PLAUSIBLE = re.compile(
    r"/|\.\w{1,12}$|^[A-Z][A-Za-z]+file$|^(?:Makefile|Dockerfile|LICENSE|README|CHANGELOG|AUTHORS|Jenkinsfile|Procfile)$|^\.\w+"
)


@dataclass(frozen=True, slots=True)
class Use:
    verb: Verb
    path: str
    lines: tuple[int, int] = (0, 0)
    onto: str = ""  # where it went, of a renamed one
    sure: bool = True  # False: created or modified, by whether it was there before


def uses(command: Simple, directory: str = "") -> tuple[Use, ...]:
    """What one simple command does. Paths are as written, under `directory` where the script has changed to it."""
    found = [*_redirected(command), *_named(command)]
    return tuple(
        Use(u.verb, joined(directory, u.path), u.lines, joined(directory, u.onto) if u.onto else "", u.sure)
        for u in found
    )


def joined(directory: str, path: str) -> str:
    """A path under a directory; absolute, home and already joined ones stay."""
    path = re.sub(r"^(?:\./)+", "", path)
    if not directory or path.startswith(("/", "~", "$")) or re.match(r"[A-Za-z]:[\\/]", path):
        return path
    base = directory.rstrip("/")
    while path.startswith("../"):
        path, base = path[3:], base.rsplit("/", 1)[0] if "/" in base else ""
    return f"{base}/{path}" if base else path


def is_path(word: str, *, loose: bool = False) -> bool:
    """Whether a word is a file's path, and not a pattern, an option, a directory or a device."""
    return (
        bool(word)
        and len(word) < 400
        and _NO_FILE.search(word) is None
        and (loose or _PLAUSIBLE.search(word) is not None)
    )


def _redirected(command: Simple) -> list[Use]:
    out = [
        Use("created" if op == ">" else "modified", path, sure=False)
        for op, path in command.writes
        if is_path(path, loose=True)
    ]
    if command.program not in ("while", "done", "read"):
        out += [Use("read", p) for p in command.reads if is_path(p)]
    return out


def _named(command: Simple) -> list[Use]:
    words = command.words
    if not words:
        return []
    program, args = command.program, words[1:]
    if program == "git":
        return _git(args)
    plain = [w for w in args if not w.startswith("-")]
    paths = [w for w in plain if is_path(w, loose=True)]
    if program in ("cat", "nl", "less", "more", "bat", "head", "tail"):
        return _shown(program, args)
    if program == "sed":
        return _sed(args)
    if program == "perl" and any(re.match(r"-\w*i", a) for a in args):
        return [Use("modified", p) for p in plain[-2:] if is_path(p)]
    if program == "tee":
        verb: Verb = "modified" if "-a" in args else "created"
        return [Use(verb, p, sure=False) for p in paths]
    if program in ("rm", "unlink", "trash"):
        whole = _recursive(args)
        gone = [p.rstrip("/") if whole else p for p in plain]
        return [Use("deleted", p) for p in gone if is_path(p, loose=True)]
    if program == "mv" and len(plain) == 2 and all(is_path(p, loose=True) for p in plain):
        return [Use("renamed", plain[0], onto=plain[1])]
    if (
        program == "cp"
        and len(plain) == 2
        and is_path(plain[1], loose=True)
        and is_path(plain[0], loose=True)
        and not _recursive(args)
    ):
        return [Use("created", plain[1], sure=False)]
    if program == "touch":
        return [Use("created", p, sure=False) for p in paths]
    if program == "truncate":
        return [Use("modified", p) for p in paths]
    if program in ("gofmt", "goimports", "black", "isort", "autopep8", "yapf") and (
        program in ("black", "isort") or "-w" in args or "-i" in args
    ):
        return (
            [Use("modified", p) for p in paths if _PLAUSIBLE.search(p) and re.search(r"\.\w+$", p)]
            if "--check" not in args
            else []
        )
    return []


def _recursive(args: tuple[str, ...]) -> bool:
    return any(re.match(r"-\w*[rRa]", a) is not None for a in args)


def _shown(program: str, args: tuple[str, ...]) -> list[Use]:
    lines = (0, 0)
    paths, skip = [], False
    for i, word in enumerate(args):
        if skip:
            skip = False
            continue
        if program in ("head", "tail") and word in ("-n", "-c"):
            skip = True
            count = args[i + 1] if i + 1 < len(args) else ""
            if word == "-n" and program == "head" and count.isdigit():
                lines = (1, int(count))
            continue
        m = _COUNT.match(word)
        if m is not None and program == "head":
            lines = (1, int(m[1]))
        elif not word.startswith(("-", "+")) and is_path(word, loose=True):
            paths.append(word)
    return [Use("read", p, lines) for p in paths]


def _sed(args: tuple[str, ...]) -> list[Use]:
    in_place = any(re.match(r"-\w*i|--in-place", a) for a in args)
    plain, scripts, skip = [], 0, False
    for i, word in enumerate(args):
        if skip:
            skip = False
            continue
        if word in ("-e", "-f", "--expression"):
            scripts, skip = scripts + 1, True
        elif word == "" and i and args[i - 1] == "-i":
            continue
        elif not word.startswith("-"):
            plain.append(word)
    script = "" if scripts else (plain.pop(0) if plain else "")
    paths = [p for p in plain if is_path(p, loose=True)]
    if in_place:
        return [Use("modified", p) for p in paths]
    m = _SED_RANGE.match(script)
    lines = (int(m[1]), int(m[2] or m[1])) if m is not None else (0, 0)
    return [Use("read", p, lines) for p in paths]


def _git(args: tuple[str, ...]) -> list[Use]:
    rest = list(args)
    while rest[:1] in (["-C"], ["-c"]):
        rest = rest[2:]
    plain = [w for w in rest[1:] if not w.startswith("-")]
    match rest[:1]:
        case ["mv"] if len(plain) == 2:
            return [Use("renamed", plain[0], onto=plain[1])]
        case ["rm"] if "--cached" not in rest:
            return [Use("deleted", p) for p in plain if is_path(p, loose=True)]
        case ["checkout"] if "--" in rest:
            return [Use("modified", p) for p in rest[rest.index("--") + 1 :] if is_path(p, loose=True)]
        case ["restore"] if "--staged" not in rest:
            return [Use("modified", p) for p in plain if is_path(p)]
        case ["show"]:
            shown = [w.split(":", 1)[1] for w in plain if ":" in w and not w.startswith("http")]
            return [Use("read", p) for p in shown if is_path(p)]
    return []


_STATUS = re.compile(
    r"^(?P<x>[MADRC? ])(?P<y>[MADRC? ]) (?P<path>\S[^\n]*)$|^(?P<v>[MAD])[ \t]+(?P<p>\S+)$", re.MULTILINE
)
_LONG_STATUS = re.compile(r"^\s+(modified|new file|deleted|renamed):\s+(.+)$", re.MULTILINE)
_COMMITTED = re.compile(r"^ (create|delete|rename) (?:mode \d+ )?(.+?)(?: \(\d+%\))?$", re.MULTILINE)
_RENAMED = re.compile(r"^(.*?)\s+(?:->|=>)\s+(.*)$")
_LETTERS: dict[str, Verb] = {
    "M": "modified",
    "A": "created",
    "D": "deleted",
    "R": "renamed",
    "C": "created",
    "?": "created",
}
_WORDS: dict[str, Verb] = {
    "modified": "modified", "new file": "created", "deleted": "deleted", "renamed": "renamed", "create": "created",
    "delete": "deleted", "rename": "renamed",
}  # fmt: skip


def reported(commands: tuple[Simple, ...], text: str) -> tuple[Use, ...]:
    """What the output of git or a patch tool says of files: status letters, and what a commit made and took away."""
    verbs = {next((w for w in c.words[1:] if not w.startswith("-")), "") for c in commands if c.program == "git"}
    out: list[Use] = []
    if "status" in verbs or not commands:
        for m in _STATUS.finditer(text[:20_000]):
            letter = m["v"] or (m["x"] if m["x"] not in " ?" else m["y"])
            out += _of(_LETTERS[letter], m["p"] or m["path"]) if letter != " " else []
        if commands:
            out += [u for m in _LONG_STATUS.finditer(text[:20_000]) for u in _of(_WORDS[m[1]], m[2])]
    if "commit" in verbs or "merge" in verbs or "pull" in verbs:
        out += [u for m in _COMMITTED.finditer(text[:20_000]) for u in _of(_WORDS[m[1]], m[2])]
    return tuple(out)


def _of(verb: Verb, path: str) -> list[Use]:
    path = path.strip().strip('"')
    moved = _RENAMED.match(path)
    if verb == "renamed" and moved is not None and "{" not in path:
        return [Use("renamed", moved[1], onto=moved[2])]
    return [Use(verb, path)] if is_path(path, loose=True) and verb != "renamed" else []
