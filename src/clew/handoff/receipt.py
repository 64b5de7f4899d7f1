"""What an epoch did, counted from the text that will be sent and not from what was meant to be in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clew.handoff.filelist import listed as listed_files
from clew.ledger.facts import Ledger
from clew.redact import redact


@dataclass(frozen=True, slots=True)
class Count:
    """Of `detected` facts of a kind: `kept` stand in the view, `retrievable` have a reference, the rest are `lost`."""

    kind: str
    detected: int
    kept: int
    retrievable: int = 0
    lost: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        more = f", {self.retrievable} by reference" if self.retrievable else ""
        gone = f", {len(self.lost)} lost" if self.lost else ""
        return f"{self.kind}: {self.kept} kept of {self.detected} detected{more}{gone}"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Tokens before and after, the counts, and what the check changed in a model's text."""

    before: int
    after: int
    counts: tuple[Count, ...] = ()
    put_back: int = 0
    struck: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    redacted: int = 0
    corrected: tuple[str, ...] = ()  # wrong outcomes and stale values in a model's text
    references: tuple[str, ...] = ()
    rewritten: int = 0  # tokens that the provider has to write to its cache again
    summary_input: int = 0
    summary_output: int = 0
    why: str = ""  # the figures that asked for the epoch

    @property
    def saved(self) -> int:
        return self.before - self.after

    @property
    def saving(self) -> float:
        return self.saved / self.before if self.before else 0.0

    @property
    def lost(self) -> tuple[str, ...]:
        """Pinned facts that the view doesn't hold: with any of these the epoch is refused."""
        return tuple(x for c in self.counts if c.kind in PINNED for x in c.lost)

    @property
    def holds(self) -> bool:
        return not self.lost and self.after < self.before

    def figures(self) -> dict[str, object]:
        """The receipt for programs."""
        kinds = ("kind", "detected", "kept", "retrievable", "lost")
        plain = (
            "put_back",
            "struck",
            "flagged",
            "corrected",
            "redacted",
            "rewritten",
            "summary_input",
            "summary_output",
        )
        counts = [{k: getattr(c, k) for k in kinds} for c in self.counts if c.detected]
        head = {"why": self.why, "before": self.before, "after": self.after, "saving": round(self.saving, 4)}
        return {**head, "counts": counts, **{k: getattr(self, k) for k in plain}}

    def lines(self) -> tuple[str, ...]:
        """The receipt as a person reads it."""
        out = [f"{self.before:,} → {self.after:,} tokens ({self.saving:.0%} less)"]
        out += [c.sentence for c in self.counts if c.detected]
        if self.put_back:
            out.append(f"{self.put_back} facts put back that the summary had dropped")
        if self.struck:
            out.append(f"{len(self.struck)} unsupported values struck out: {', '.join(self.struck[:5])}")
        if self.flagged:
            out.append(f"{len(self.flagged)} statements flagged as unsupported")
        if self.corrected:
            out.append(f"{len(self.corrected)} wrong outcomes or stale values corrected")
        if self.summary_input:
            out.append(f"the summary took {self.summary_input:,} tokens in and {self.summary_output:,} out")
        if self.redacted:
            out.append(f"{self.redacted} secrets masked")
        return tuple(out)


_JUDGED = 4_000  # characters of a fact that have to stand in the view
_NAMED = 60  # characters of a request by which it is named where there is no room for all of it
REQUESTS = "open requests"
PINNED = (REQUESTS, "constraints", "open errors")


def count(
    ledger: Ledger, text: str, *, named: Callable[[int], bool], page: str = "", numbered: Sequence[str] = ()
) -> tuple[Count, ...]:
    """The counts for the text of a whole view.

    `named` says whether a user message over the budget is named with its first words; `page` are the facts that stand
    behind a reference which the view holds; `numbered` the open requests that only their number stands for.
    """
    flat = " ".join(text.split())

    def holds(fact: str) -> bool:
        return fact in text or " ".join(redact(fact[:_JUDGED], force=True).split()) in flat

    few = frozenset(numbered)

    def begun(fact: str) -> bool:
        return " ".join(redact(fact[:_NAMED], force=True).split()) in flat

    def away(fact: str) -> bool:
        return bool(page) and redact(fact, force=True) in page

    def pinned(kind: str, facts: Iterable[tuple[str, int]]) -> Count:
        listed = list(facts)
        kept = [f for f, _ in listed if holds(f)]
        # A request over the budget is named by its first words; a constraint or an error is kept whole or lost.
        over = [
            f
            for f, source in listed
            if not holds(f) and (named(source) or away(f) or (kind == REQUESTS and (f in few or begun(f))))
        ]
        lost = tuple(f for f, _ in listed if not holds(f) and f not in over)
        return Count(kind, len(listed), len(kept), len(over), lost)

    files = listed_files(text)

    def loose(kind: str, facts: Iterable[str]) -> Count:
        listed = list(dict.fromkeys(facts))
        absent = [f for f in listed if f not in text and f not in files]
        over = [f for f in absent if f in page]
        return Count(kind, len(listed), len(listed) - len(absent), len(over), tuple(f for f in absent if f not in over))

    return (
        pinned(REQUESTS, ((r.text, r.source) for r in ledger.open_requests)),
        pinned("constraints", ((c.text, c.source) for c in ledger.current_constraints)),
        pinned("open errors", ((e.text, -1) for e in ledger.open_errors)),
        loose("files", (f.path for f in ledger.files)),
        loose("values", (v.text for v in ledger.values)),
        loose("decisions", (d.text for d in ledger.decisions)),
    )
