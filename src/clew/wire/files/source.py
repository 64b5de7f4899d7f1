"""A file as lines with bounds: nothing in it, however large or broken, takes more memory than the limits allow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from clew import jsonio
from clew.errors import InputError, TooLarge
from clew.jsonio import Json
from clew.wire.files.base import Aside, Limits

_BOM = b"\xef\xbb\xbf"
_LONG_NUMBER = re.compile(rb"[0-9]{19}")  # what orjson would round to a float
_SKIP = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end. `offset` is where it starts in the file."""

    number: int
    offset: int
    raw: bytes

    @property
    def value(self) -> Json:
        """Its JSON value; raises ValueError where it is none."""
        return exact(self.raw)


class Source:
    """An open file. What its lines had to leave out is counted in `aside`, once, by the pass that is `noted`."""

    def __init__(self, path: Path | str, limits: Limits) -> None:
        self.path = Path(path)
        self.limits = limits
        self.aside = Aside()
        self._file = _opened(self.path)
        self._document: Json = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def size(self) -> int:
        return self._file.seek(0, 2)

    def lines(self, *, noted: bool = False) -> Iterator[Line]:
        """Every line that is not blank and within the limit."""
        limit = self.limits.line
        number = offset = 0
        while True:
            self._file.seek(offset)
            raw = self._file.readline(limit + 1)
            if not raw:
                return
            number += 1
            start, length = offset, len(raw)
            if length > limit and not raw.endswith(b"\n"):
                length += self._skip_line()
                if noted:
                    self.aside.say(
                        f"line {number} is {length >> 20} MB long, over the limit of {limit >> 20} MB: skipped"
                    )
                raw = b""
            offset = start + length
            raw = raw.rstrip(b"\r\n")
            if number == 1 and raw.startswith(_BOM):
                raw, start = raw[3:], 3
            if raw.strip():
                yield Line(number, start, raw)

    def values(self, *, noted: bool = False, rough: bool = False) -> Iterator[tuple[Line, Json]]:
        """Every line with its JSON value; lines that are none are skipped, bytes that are not UTF-8 replaced. `rough`
        is twice as fast and rounds numbers over 64 bits.
        """
        last = None
        for line in self.lines(noted=noted):
            if last is not None and noted:
                self.aside.add("1 line is not JSON and was skipped", "{n} lines are not JSON and were skipped", last)
            last = None
            try:
                value, mended = lenient(line.raw, rough=rough)
            except jsonio.TooDeep:
                if noted:
                    self.aside.add(
                        "1 line is nested too deeply and was skipped",
                        "{n} lines are nested too deeply and were skipped",
                        line.number,
                    )
                continue
            except ValueError:
                last = line.number
                continue
            if mended and noted:
                self.aside.add(
                    "1 line is not UTF-8: its bad bytes were replaced",
                    "{n} lines are not UTF-8: their bad bytes were replaced",
                    line.number,
                )
            yield line, value
        if last is not None and noted:
            self.aside.say(f"the last line ({last}) is cut off or not JSON: skipped")

    def at(self, offset: int, length: int) -> bytes:
        """Some bytes again, for a second look at a line."""
        self._file.seek(offset)
        return self._file.read(length)

    def document(self) -> Json:
        """The whole file as one JSON value, read once; ValueError where it is none."""
        if self._document is not None:
            return self._document
        if self.size > self.limits.document:
            raise TooLarge(
                f"{self.path}: one JSON document of {self.size >> 20} MB, over the limit of {self.limits.document >> 20} MB",
                hint="split it, or write one message a line (JSONL), which is read with flat memory",
            )
        raw = self.at(0, self.size).removeprefix(_BOM)
        value, mended = lenient(raw)
        if mended:
            self.aside.say("the file is not UTF-8: its bad bytes were replaced")
        self._document = value
        return value

    def _skip_line(self) -> int:
        skipped = 0
        while piece := self._file.readline(_SKIP):
            skipped += len(piece)
            if piece.endswith(b"\n"):
                break
        return skipped


def lenient(raw: bytes, *, rough: bool = False) -> tuple[Json, bool]:
    """The JSON value, and whether bytes had to be replaced to get it; raises ValueError where it is none."""
    load = jsonio.loads if rough else exact
    try:
        return load(raw), False
    except UnicodeDecodeError:
        return load(raw.decode("utf-8", "replace").encode()), True


def exact(raw: bytes) -> Json:
    """The JSON value with every number as it stands."""
    return jsonio.exact(raw) if _LONG_NUMBER.search(raw) else jsonio.loads(raw)


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder", hint="name the files in it, e.g. folder/*.jsonl")
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a regular file", hint="save what it gives to a file first")
        return path.open("rb", buffering=1 << 16)
    except FileNotFoundError as e:
        raise InputError(f"{path} does not exist", hint="check the path") from e
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None) or str(e)
        raise InputError(f"{path} can't be read: {reason}", hint="check its permissions") from e
