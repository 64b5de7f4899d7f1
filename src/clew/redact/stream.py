"""Secrets out of a stream: what is given out is what the whole text would have given."""

from __future__ import annotations

from clew.redact.assignments import may_name_next
from clew.redact.engine import Engine, apply, default, findings
from clew.redact.marks import Marks
from clew.redact.pem import may_go_on


class Redactor:
    """Takes a text in chunks of any size and gives it back without its secrets.

    A line is given out when it is complete, because no rule looks past a line's end; but lines that may belong to a
    private key, or name what the next line gives, wait until it is known whether they do. So `push` often returns
    nothing, and `close` returns the rest.
    """

    def __init__(self, *, code_file: bool = False, engine: Engine | None = None) -> None:
        self._engine = engine
        self._code_file = code_file
        self._marks = Marks()
        self._waiting: list[str] = []
        self._line: list[str] = []

    def push(self, chunk: str) -> str:
        """What can be given out now that this has arrived."""
        *complete, rest = chunk.split("\n")
        ready = 0
        for piece in complete:
            self._line.append(piece)
            line = "".join(self._line)
            self._line.clear()
            self._waiting.append(line + "\n")
            if not (may_go_on(line) or may_name_next(line)):
                ready = len(self._waiting)
        if rest:
            self._line.append(rest)
        return self._release(ready)

    def close(self) -> str:
        """The rest. Afterwards the redactor may be used for another text."""
        self._waiting.append("".join(self._line))
        self._line.clear()
        out = self._release(len(self._waiting))
        self._marks = Marks()
        return out

    def _release(self, lines: int) -> str:
        if not lines:
            return ""
        text = "".join(self._waiting[:lines])
        del self._waiting[:lines]
        engine = self._engine if self._engine is not None else default()
        return apply(text, findings(text, engine, self._marks, code_file=self._code_file))
