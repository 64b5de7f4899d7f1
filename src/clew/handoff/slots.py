"""Typed slots of a model's text: paths, commands, counts, exit codes, versions, amounts, ids, addresses.

A slot that no source holds is struck out. Free text around it stays as it is; what is glued to a slot is judged like a
text of its own, so that nothing gets by in another's shadow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from clew.handoff.paths import PATH, core, lined, spellings
from clew.handoff.support import Source
from clew.ledger.facts import Ledger

MARK = "[unsupported]"

_PATTERN = re.compile(
    rf"""
    (?P<keep>\[(?:REDACTED|unsupported|superseded|media)[^\]\n]*\])
  | (?P<reference>\bclew:[a-z0-9]+)
  | (?P<tool>\[tool:\s*(?P<tool_name>[^\]\n]+)\])
  | (?P<url>\bhttps?://[^\s<>`"'\])]+)
  | (?P<code>`(?P<inner>[^`\n]+)`)
  | (?P<email>\b[\w.+-]+@[\w-]+\.[\w.-]*\w)
  | (?P<date>\b\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}})?Z?)?)
  | (?P<amount>[$€£¥]\s?\d[\d,]*(?:\.\d+)?[kKM]?\b | \b\d[\d,]*(?:\.\d+)?\s?(?:[€£]|USD|EUR|dollars?|euros?)(?!\w))
  | (?P<tests>\b\d+\s*/\s*\d+\s+(?:tests?\s+)?(?:pass|fail)\w* | \b\d[\d,]*\s+(?:tests?\s+)?(?:passed|passing|failed|failing|failures?|skipped)\b)
  | (?P<exit>\b(?:exit(?:ed)?|return(?:ed)?)(?:\s+with)?(?:\s+(?:code|status))?\s+(?P<exit_code>-?\d{{1,3}})\b)
  | (?P<path>{PATH})
  | (?P<ticket>\#?\b[A-Z]{{1,5}}-?\d{{3,}}\b)
  | (?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{7,40}}\b)
  | (?P<version>(?<![\w.])v?\d+\.\d+(?:\.\d+)+(?:[-+.]?(?:rc|alpha|beta|dev|a|b)\.?\d*)?(?![\w.]*\d))
  | (?P<unit>(?<![\w.,])\d[\d,]*(?:\.\d+)?\s?(?:%|[kKMGT]i?B\b|ms\b|s\b|sec(?:ond)?s?\b|min(?:ute)?s?\b|hours?\b|days?\b
        |bytes\b|tokens?\b|lines?\b|files?\b|matches\b|errors?\b|warnings?\b|tests?\b|rows?\b|requests?\b|px\b))
  | (?P<port>\bport\s+(?P<port_number>\d{{2,5}})\b)
  | (?P<number>(?<![\w.,])\d[\d,]*\.\d+(?![\w.]) | (?<![\w.,])\d(?:,?\d){{2,}}(?![\w,]|\.\d))
    """,
    re.VERBOSE,
)
_TRAILING = ".,;:!?)'\"…"
_NUMBER = re.compile(r"\s*\d{1,6}\.\s")  # of an item of a list
_IDENTIFIER = re.compile(r"\b(?:[A-Za-z]+_[A-Za-z0-9_]+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+)\b")
_CUT = re.compile(r"…|\s\|\s")  # where a quote leaves something out
_ENDLESS = re.compile(r"\S{400,}")
_SHOWN = 60  # characters of such a thing that a report quotes
_PROMPT = re.compile(r"^(?P<lead>\s*(?:[\w.@:~-]*[$❯]) )(?P<typed>[A-Za-z./~]\S*[^\n]*?)\s*$")
_IN_CODE = re.compile(r"[^\s'\"`;|&<>(){}\[\],=]+")


@dataclass(slots=True)
class Struck:
    """A text after its slots were looked at."""

    text: str
    slots: int = 0
    struck: list[str] = field(default_factory=list)


def strike(text: str, source: Source, ledger: Ledger) -> Struck:
    """The text with a mark in place of every slot that neither the source nor the ledger holds."""
    out = Struck("")
    known = _Known(source, ledger)

    def judged(match: re.Match[str]) -> str:
        kind = match.lastgroup  # the outermost group closes last
        assert kind is not None
        if kind == "keep":
            return match[0]
        out.slots += kind != "tool"  # a tool's name says nothing of what was done with it
        slot = match[0] if kind in ("code", "tool") else match[0].rstrip(_TRAILING)
        if match.string[match.end() :].startswith("…") and slot.lstrip("…/") in source.text:
            return match[0]  # cut short in the open
        if known.holds(kind, match, slot):
            return match[0]
        if kind == "path" and (inner := core(slot)) != slot:
            if not inner or known.path(inner):
                return match[0]
            out.struck.append(inner)
            return match[0].replace(inner, MARK, 1)
        out.struck.append(slot.strip("`"))
        return _left(kind) + match[0][len(slot) :]

    def prompted(line: str) -> str | None:
        """A line as a terminal shows a command: it stands whole in a source, or it goes."""
        typed = _PROMPT.match(line)
        if typed is None:
            return None
        out.slots += 1
        if known.code(typed["typed"]):
            return line
        out.struck.append(typed["typed"])
        return f"{typed['lead']}{MARK}"

    def endless(match: re.Match[str]) -> str:
        """What is longer than any word stands as it is in a source, or goes; the patterns would take too long over it."""
        if match[0] in source.text:
            return match[0]
        out.slots += 1
        out.struck.append(f"{match[0][:_SHOWN]}…")
        return MARK

    cut = _ENDLESS.sub(endless, text)
    lines = [prompted(line) or _line(line, judged) for line in cut.split("\n")]
    out.text = "\n".join(x for x in lines if MARK not in x or any(c.isalnum() for c in _numberless(x)))
    return out


def _line(line: str, judged: Callable[[re.Match[str]], str]) -> str:
    number = _NUMBER.match(line)
    done = [number[0]] if number is not None else []
    rest = line[number.end() :] if number is not None else line
    while (found := _PATTERN.search(rest)) is not None:
        done += [rest[: found.start()], judged(found)]
        rest = rest[found.end() :]
    return "".join([*done, rest])


def unsupported_names(text: str, source: Source) -> list[str]:
    """Identifiers in free text that no source holds: reported, not struck."""
    plain = re.sub(r"`[^`\n]*`|\[[^\]\n]*\]", " ", text)
    plain = " ".join(w for w in plain.split() if "/" not in w)
    return [n for n in dict.fromkeys(_IDENTIFIER.findall(plain)) if not source.whole(n)]


def _numberless(line: str) -> str:
    """What a line says besides its marks and its number: nothing is left of a line that was all slots."""
    return re.sub(r"^\s*\d+\.\s", "", line).replace(MARK, "")


def _left(kind: str) -> str:
    return "[tool: unknown]" if kind == "tool" else MARK


class _Known:
    """The source and the ledger, asked slot by slot."""

    def __init__(self, source: Source, ledger: Ledger) -> None:
        self.source = source
        self.codes = {c.exit_code for c in ledger.commands if c.exit_code is not None}
        self.counts = {
            (w, n) for r in ledger.tests for w, n in (("pass", r.passed), ("fail", r.failed), ("skip", r.skipped))
        }
        self.totals = {(r.passed, r.passed + r.failed + s) for r in ledger.tests for s in (0, r.skipped)}
        self.ranges = {f.path: [a.lines for a in f.actions if a.lines[1]] for f in ledger.files}

    def holds(self, kind: str, match: re.Match[str], text: str) -> bool:
        """Whether a slot of this kind is supported. Dates are: the model was told today's to write others by."""
        match kind:
            case "reference" | "email":
                return self.source.whole(text)
            case "tool":
                return all(self.source.whole(n) for n in re.findall(r"[\w.-]+", match["tool_name"]))
            case "url":
                return text.rstrip("/") in self.source.text
            case "code":
                return self.code(match["inner"])
            case "amount":
                return self.amount(text)
            case "tests":
                return self.tests(text)
            case "exit":
                return self.exit(match["exit_code"])
            case "path":
                return self.path(text)
            case "ticket":
                return self.source.whole(text.lstrip("#"))
            case "hash":
                return self.source.starts(text)
            case "version":
                return self.source.number(text.removeprefix("v")) or self.source.whole(text)
            case "unit" | "port" | "number":
                return self.source.number(_digits(text))
        return True

    def path(self, path: str) -> bool:
        if not _looks_like_path(path, self.source):
            return True
        bare, line = lined(path)
        return any(self._file(x) and (line is None or self._lines(x, line)) for x in spellings(bare))

    def _file(self, bare: str) -> bool:
        if self.source.whole(bare, within="-"):
            return True
        if not bare.startswith(("/", "~")):
            return False
        # A directory that is known and a path below it that is known, put together.
        cuts = [i for i, c in enumerate(bare) if c == "/" and i > 1]
        return any(self.source.whole(bare[:i], within="-") and self._below(bare[i + 1 :]) for i in cuts)

    def _below(self, rest: str) -> bool:
        return bool(rest) and self.source.whole(rest, within="-/")

    def _lines(self, bare: str, line: re.Match[str]) -> bool:
        numbers = [int(n) for n in line.groups() if n]
        for path, ranges in self.ranges.items():
            if (path.endswith(bare) or bare.endswith(f"/{path}")) and any(
                a <= n <= b for a, b in ranges for n in numbers
            ):
                return True
        return all(self.source.number(str(n)) for n in numbers)

    def code(self, inner: str) -> bool:
        text = " ".join(inner.split())
        if MARK in text or "[REDACTED" in text or not any(c.isalnum() for c in text):
            return True
        if text in self.source.flat:
            return len(text) > 3 or self.source.whole(text, within="-")
        pieces = [x for x in (y.strip() for y in _CUT.split(text)) if any(c.isalnum() for c in x)]
        if "…" in text and pieces and all(x in self.source.flat for x in pieces):
            return True
        if " " not in text:
            return self._token(text)
        tokens = _IN_CODE.findall(text)
        return len(tokens) > 1 and self.source.together(tokens)

    def _token(self, text: str) -> bool:
        bare = text.strip("\"'()[]{};,").removesuffix("()").rstrip(_TRAILING)
        head, line = lined(bare)
        if "/" in bare or line is not None:
            return any(self._file(x) and (line is None or self._lines(x, line)) for x in spellings(head))
        return self.source.whole(bare)

    def tests(self, text: str) -> bool:
        pair = re.match(r"(\d+)\s*/\s*(\d+)", text)
        if pair is not None:
            a, b = int(pair[1]), int(pair[2])
            failed = "fail" in text
            known = any((b - a if failed else a) == p and b == whole for p, whole in self.totals)
            return known or self.source.near(re.compile(rf"\b{a}\s*/\s*{b}\b"))
        number = re.match(r"[\d,]+", text)
        assert number is not None
        word = next(w for w in ("pass", "fail", "skip") if w in text)
        value = int(number[0].replace(",", ""))
        if (word, value) in self.counts:
            return True
        either = rf"\b{value}\s+(?:tests?\s+)?{word}|\b{word}\w*\s*[:=]\s*{value}\b"
        return self.source.near(re.compile(either, re.IGNORECASE))

    def exit(self, number: str) -> bool:
        said = re.compile(rf"(?:exit\w*|code|status|returncode|rc)\W{{1,6}}(?:\w+\W{{1,3}})?{number}\b", re.IGNORECASE)
        return int(number) in self.codes or self.source.near(said)

    def amount(self, text: str) -> bool:
        if self.source.whole(text, within=",") and self.source.number(re.sub(r"[^\d.,]", "", text).strip(".,")):
            return True
        digits = re.escape(re.sub(r"[^\d.]", "", text))
        thousands = re.compile(
            rf"(?:[$€£¥]\s?{digits}|\b{digits}\s?(?:[€£$]|USD|EUR|dollars?|euros?))(?![\d]|[.,]\d)", re.IGNORECASE
        )
        return thousands.search(re.sub(r"(?<=\d),(?=\d{3})", "", self.source.text)) is not None


def _looks_like_path(text: str, source: Source) -> bool:
    """Not “and/or”: a root, an ending, two slashes, or a directory that the source knows."""
    if (
        text.startswith(("/", "./", "../", "~/"))
        or text.count("/") > 1
        or "\\" in text
        or re.search(r"\.\w{1,5}(?::\d+)?", text)
    ):
        return True
    return source.whole(text.split("/", maxsplit=1)[0] + "/", within="")


def _digits(text: str) -> str:
    found = re.search(r"\d[\d,]*(?:\.\d+)?", text)
    return found[0].rstrip(",") if found is not None else ""
