"""One request and its response as a line of a fixture file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

from clew import jsonio
from clew.errors import InputError
from clew.jsonio import Json

VERSION = 1
Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What passed. `n` counts requests in the order they came, `at` is when, in seconds since the relay began.

    `body` is the request's JSON value, or text where it is none. A streamed response has `events`: (seconds since the
    request, type, data); any other has `answer`. `cut` says who ended it early: "", "client" or "upstream".
    """

    n: int
    at: float
    method: str
    path: str
    wire: str
    headers: Headers
    body: Json
    status: int
    response_headers: Headers = ()
    events: tuple[tuple[float, str, Json], ...] = ()
    answer: Json = None
    cut: str = ""
    notes: tuple[str, ...] = ()

    def header(self, name: str) -> str:
        """A request header's value, "" without one; names in any case."""
        return next((v for k, v in self.headers if k.lower() == name.lower()), "")

    def value(self) -> Json:
        """The JSON object of its line."""
        response: dict[str, Json] = {"status": self.status, "headers": [list(h) for h in self.response_headers]}
        if self.events:
            response["events"] = [list(e) for e in self.events]
        elif self.answer is not None:
            response["body"] = self.answer
        out: dict[str, Json] = {
            "v": VERSION, "n": self.n, "at": self.at, "wire": self.wire, "method": self.method, "path": self.path,
            "request": {"headers": [list(h) for h in self.headers], "body": self.body}, "response": response,
        }  # fmt: skip
        if self.cut:
            out["cut"] = self.cut
        if self.notes:
            out["notes"] = list(self.notes)
        return out

    @classmethod
    def of(cls, value: Json) -> Exchange:
        """The exchange of a line's JSON object."""
        try:
            request, response = value["request"], value["response"]
            return cls(
                n=value["n"],
                at=value["at"],
                method=value["method"],
                path=value["path"],
                wire=value["wire"],
                headers=tuple((k, v) for k, v in request["headers"]),
                body=request["body"],
                status=response["status"],
                response_headers=tuple((k, v) for k, v in response["headers"]),
                events=tuple((t, kind, data) for t, kind, data in response.get("events", ())),
                answer=response.get("body"),
                cut=value.get("cut", ""),
                notes=tuple(value.get("notes", ())),
            )
        except (KeyError, TypeError, ValueError) as e:
            raise InputError(f"not a recorded exchange: {e!r}", hint="files are written by `clew record`") from e


def read(path: Path) -> Iterator[Exchange]:
    """The exchanges of a file in the order in which their requests came."""
    found = []
    with path.open("rb") as raw:
        packed = path.suffix == ".zst"
        lines = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(raw)) if packed else raw
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                found.append(Exchange.of(jsonio.loads(line)))
            except (ValueError, InputError) as e:
                raise InputError(f"{path.name}, line {number}: {e}", hint="is the file whole?") from e
    yield from sorted(found, key=lambda e: e.n)


def write(path: Path, exchanges: Iterable[Exchange]) -> None:
    """A file of these exchanges; compressed where its name ends in `.zst`."""
    raw = b"".join(jsonio.dumps(e.value()) + b"\n" for e in exchanges)
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(raw) if path.suffix == ".zst" else raw)
