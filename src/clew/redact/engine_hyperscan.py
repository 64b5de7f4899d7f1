"""The fast engine: every trigger in one automaton, one pass over the text."""

from __future__ import annotations

import threading
from typing import Any

from clew.redact.triggers import Place, expressions


class HyperscanEngine:
    """Safe for use from several threads: the automaton is shared, the working memory is not."""

    name = "hyperscan"

    def __init__(self) -> None:
        import hyperscan  # heavy, and an extra: only a process that redacts pays for it

        self._hyperscan = hyperscan
        self._table = [(e.kind, e.back) for e in expressions()]
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(
            expressions=[e.pattern.encode() for e in expressions()],
            ids=list(range(len(self._table))),
            flags=[hyperscan.HS_FLAG_CASELESS if e.caseless else 0 for e in expressions()],
        )
        self._local = threading.local()

    def places(self, raw: bytes) -> set[Place]:
        """Every place in the text (one byte a character) where a rule is worth trying."""
        table, out = self._table, set()

        def matched(number: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            kind, back = table[number]
            out.add((end - back, kind))

        self._database.scan(raw, match_event_handler=matched, scratch=self._scratch())
        return out

    def _scratch(self) -> Any:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            scratch = self._local.scratch = self._hyperscan.Scratch(self._database)
        return scratch
