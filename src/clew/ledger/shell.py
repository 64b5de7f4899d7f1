"""A shell script taken apart, as far as a ledger needs it: its simple commands with their words and redirections.

Not a shell: what can't be told apart is left as words. Bodies of here-documents are skipped, quotes are honoured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 40_000  # characters of a script that are looked at
_HEREDOC = re.compile(r"<<-?\s*(?P<q>['\"]?)(?P<word>[\w.-]+)(?P=q)")
_TOKEN = re.compile(
    r"""
    (?P<space>[ \t]+|\\\n)
  | (?P<end>\n|&&|\|\||;;?|&(?![>&])|\|&?)
  | (?P<redirect>(?:\d|&)?>>?(?:&\d|&-|\|)?|<<<|<)
  | (?P<comment>\#[^\n]*)
  | (?P<word>(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\([^()]*\)|`[^`]*`|[^\s|&;<>'"\\`]|['"\\`])+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_PREFIXES = frozenset(
    {"sudo", "time", "nohup", "command", "exec", "env", "then", "do", "else", "if", "while", "!", "{", "("}
)
_TAKE_VALUE = frozenset({"-u", "-n", "-k", "-s"})
_RUNNERS = {
    ("npx",), ("bunx",), ("uvx",), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("uv", "run"), ("poetry", "run"),
    ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("mise", "exec"), ("mise", "x"), ("bundle", "exec"), ("rtk",),
    ("devenv", "shell"), ("xvfb-run",), ("doppler", "run"), ("dotenv",),
}  # fmt: skip
_SUBCOMMANDS = frozenset({
    "git", "go", "cargo", "npm", "pnpm", "yarn", "bun", "docker", "kubectl", "gh", "pip", "pip3", "uv", "poetry", "mise",
    "make", "just", "task", "terraform", "helm", "dotnet", "mvn", "gradle", "./gradlew", "gradlew", "rails", "rake", "apt",
    "apt-get", "brew", "conda", "systemctl", "aws", "gcloud", "az", "deno", "swift", "flutter", "composer", "php", "mix",
})  # fmt: skip
LOOKS = frozenset({
    "cat", "ls", "find", "grep", "egrep", "fgrep", "rg", "ag", "sed", "head", "tail", "less", "which", "command", "type", "wc",
    "stat", "file", "tree", "test", "[", "[[", "diff", "cmp", "awk", "sort", "uniq", "cut", "tr", "jq", "pwd", "echo", "printf",
    "cd", "true", "false", "sleep", "export", "set", "fd", "nl", "basename", "dirname", "whereis", "env", "date", "xargs",
    "pgrep", "ps", "lsof", "kill", "pkill", "read", "source", ".", "mkdir", "exit", "return", "done", "fi", "xxd", "od",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command: its words without quotes, and what it redirects to (">" or ">>", path) or reads from."""

    words: tuple[str, ...]
    writes: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    joined_by: str = ""  # the operator before it: "&&", "||", "|", ";" or a line end as ";"
    heredoc: bool = False

    @property
    def program(self) -> str:
        return self.words[0].rsplit("/", 1)[-1] if self.words else ""


def simple_commands(script: str) -> tuple[Simple, ...]:
    """The simple commands of a script, in order, assignments and wrappers such as `sudo` or `npx` taken off."""
    text = _without_bodies(script[:LONGEST])
    out: list[Simple] = []
    words: list[str] = []
    writes: list[tuple[str, str]] = []
    reads: list[str] = []
    operator, pending, heredoc = "", "", False

    def close(following: str) -> None:
        nonlocal operator, heredoc
        stripped = _unwrapped(words)
        if stripped or writes:
            out.append(Simple(stripped, tuple(writes), tuple(reads), operator, heredoc))
        words.clear()
        writes.clear()
        reads.clear()
        operator, heredoc = following, False

    for m in _TOKEN.finditer(text):
        kind, token = m.lastgroup, m.group()
        if kind == "end":
            close(";" if token in ("\n", ";", ";;", "&") else token)
            pending = ""
        elif kind == "redirect":
            pending = "" if token.endswith(("&1", "&2", "&-")) else token
        elif kind == "word":
            word = unquoted(token)
            if word == _MARK:
                heredoc = True
            elif pending.startswith("<"):
                reads += [word] if pending == "<" else []
            elif pending:
                writes.append((">>" if ">>" in pending else ">", word))
            else:
                words.append(word)
            pending = ""
    close("")
    return tuple(out)


_MARK = "\x00here"


def _without_bodies(script: str) -> str:
    """The script with every here-document's body cut out and a mark left for it."""
    if "<<" not in script:
        return script
    out: list[str] = []
    at = 0
    while (m := _HEREDOC.search(script, at)) is not None:
        line_end = script.find("\n", m.end())
        out.append(script[at : m.start()])
        out.append(f" {_MARK} ")
        if line_end < 0:
            at = m.end()
            continue
        out.append(script[m.end() : line_end + 1])
        close = re.compile(rf"^\s*{re.escape(m['word'])}[ \t)]*$", re.MULTILINE).search(script, line_end + 1)
        at = close.end() if close is not None else len(script)
    return "".join(out) + script[at:]


def unquoted(word: str) -> str:
    """A word as the program would see it; variables stay as they are written."""
    if not any(c in word for c in "'\"\\"):
        return word
    return re.sub(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", _inner, word, flags=re.DOTALL)


def _inner(m: re.Match[str]) -> str:
    if m[1] is not None:
        return m[1]
    if m[2] is not None:
        return re.sub(r"\\([\"\\$`])", r"\1", m[2])
    return m[3]


def _unwrapped(words: list[str]) -> tuple[str, ...]:
    """Without leading assignments and programs that only run another."""
    at = 0
    while at < len(words):
        word = words[at].lstrip("(")
        if _ASSIGNMENT.match(word) or word in _PREFIXES or not word:
            at += 1
            while at < len(words) and words[at].startswith("-") and words[at - 1] in ("sudo", "env", "time"):
                at += 2 if words[at] in _TAKE_VALUE else 1
            continue
        if word == "timeout":
            at += 1
            while at < len(words) and (words[at].startswith("-") or re.fullmatch(r"[\d.]+[smhd]?", words[at])):
                at += 1
            continue
        runner = next((r for r in _RUNNERS if tuple(words[at : at + len(r)]) == r), None)
        if runner is None or len(words) <= at + len(runner):
            break
        at += len(runner)
        while at < len(words) - 1 and words[at].startswith("-"):
            at += 1
    rest = words[at:]
    return (rest[0].lstrip("("), *rest[1:]) if rest else ()


def keys(commands: tuple[Simple, ...]) -> frozenset[str]:
    """What the script runs, coarsely: program and what it is run on. Two scripts that share a key do the same thing
    again. Programs that only look have a key only where nothing else is run.
    """
    found = {_key(c) for c in commands if c.words and c.program not in LOOKS}
    return frozenset(found or {_key(c) for c in commands[-1:] if c.words})


def _key(command: Simple) -> str:
    program, rest = command.program, [w for w in command.words[1:] if not w.startswith("-")]
    if (
        program in ("python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh", "deno", "bun")
        and "-m" in command.words
    ):
        at = command.words.index("-m")
        return " ".join((program.rstrip("3"), *command.words[at + 1 : at + 2]))
    if program in ("python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh") and not rest:
        return program.rstrip("3") + " -"
    if program in _SUBCOMMANDS or rest:
        deep = (
            2
            if program in ("npm", "pnpm", "yarn", "mise", "docker", "gh", "uv")
            and rest[:1] in (["run"], ["pr"], ["compose"])
            else 1
        )
        return " ".join((program.rstrip("3") if program.startswith("python") else program, *rest[:deep]))
    return program
