"""A model's reply against the ledger: a failure with its class, or sections that hold what must be held.

Whatever the reply says, what comes out has every open request, current constraint and open error word for word, no
typed value without a source, no order to the reader and no secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clew.handoff import pinned
from clew.handoff import template as t
from clew.handoff.language import NAMES, detect, spoken
from clew.handoff.orders import without_leave, without_orders
from clew.handoff.outcomes import corrected
from clew.handoff.quotes import without_inventions
from clew.handoff.shape import cleaned, declined, sectioned
from clew.handoff.slots import strike, unsupported_names
from clew.handoff.stale import current
from clew.handoff.support import Source
from clew.handoff.template import Sections
from clew.ledger.facts import Ledger
from clew.redact import find, redact
from clew.tokens import rough_text

Kind: TypeAlias = Literal["empty", "longer", "truncated", "language", "refused", "unstructured", "vague", "unsupported"]

_LONGER = 1.5  # times the budget
_CUT_SHORT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "refusal", "safety"})
_SECTIONS = 3  # at least, for a text to count as a record
_KNOWN = 12  # facts of the ledger from which on a text that names none of them says nothing
_INVENTED, _INVENTED_SHARE = 20, 0.6  # struck slots, and their share, that make a text worth less than the ledger's
_FILL = 0.25  # of the budget, for what the ledger knows besides
_STATEMENT = 5  # content words that make a line a statement
_USERS, _OF_USERS = (t.TASK, t.CONSTRAINTS, t.PENDING), 2  # sections of what users want, where fewer words make one
_SUPPORTED = 0.4  # share of them that a source must hold
_QUOTED = 160


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a reply is no handoff. The kind is a class that the engine has a rule for."""

    kind: Kind
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The sections to show, and what was done to the model's own. `corrected` names wrong outcomes and stale values."""

    sections: Sections
    put_back: int = 0
    struck: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    redacted: int = 0
    corrected: tuple[str, ...] = ()


def check(
    reply: str, ledger: Ledger, source: str, budget: int, finish: str, *, shown: frozenset[int] = frozenset()
) -> Verdict | Failure:
    """The reply as a handoff, or why it is none. `source` is what supports a statement, `finish` the provider's reason
    for stopping, `shown` the user messages that the view holds verbatim besides.
    """
    plain = cleaned(reply)
    failure = _unusable(plain, ledger, budget, finish)
    if failure is not None:
        return failure
    sections = sectioned(plain)
    failure = _no_record(sections, ledger)
    if failure is not None:
        return failure
    return _checked(sections, ledger, Source(source), budget, shown)


def text(sections: Sections, recall: str, said: str = "") -> str:
    """The handoff message's whole text. `said` are the users' own words, which stand after the sections."""
    body = t.render_body(sections)
    return t.frame(f"{body}\n\n## {t.SAID}\n{said}" if said else body, recall=recall)


def _unusable(plain: str, ledger: Ledger, budget: int, finish: str) -> Failure | None:
    if finish in _FILTERED:
        return Failure("refused", "the provider withheld the summary")
    if not plain:
        return Failure("empty", "the summary is empty")
    if declined(plain):
        return Failure("refused", f"the model declined: {' '.join(plain.split())[:80]}")
    size = rough_text(plain)
    if size > _LONGER * budget:
        return Failure("longer", f"the summary has about {size:,} tokens; {budget:,} were asked for")
    if finish in _CUT_SHORT or _breaks_off(plain):
        return Failure("truncated", "the summary stops before its end")
    wanted, got = spoken(r.text for r in ledger.requests[-8:]), detect(plain)
    if wanted and got and got not in wanted:
        asked = " or ".join(NAMES[x] for x in sorted(wanted))
        return Failure("language", f"the summary is in {NAMES[got]}; the user writes {asked}")
    return None


def _breaks_off(plain: str) -> bool:
    """Whether it ends in a bare heading, an open fence or quote of code, while later sections are missing."""
    last = plain.rstrip().rsplit("\n", 1)[-1]
    if t.CONTEXT in plain and not last.startswith("#"):
        return False
    return last.startswith("#") or plain.count("```") % 2 == 1 or last.count("`") % 2 == 1


def _no_record(sections: Sections, ledger: Ledger) -> Failure | None:
    if sections.empty:
        if sections.preamble:
            return Failure("unstructured", "the summary has none of the sections that were asked for")
        return Failure("empty", "every section of the summary is empty")
    if len(sections.by_heading) < _SECTIONS and not sections[t.ACTIONS]:
        return Failure(
            "unstructured", f"the summary has only {len(sections.by_heading)} of the {len(t.SECTIONS)} sections"
        )
    facts = [*(f.path.rsplit("/", 1)[-1] for f in ledger.files), *(c.text for c in ledger.commands)]
    facts += [v.text for v in ledger.values] + [x for r in ledger.tests for x in r.failing]
    said = "\n".join(sections.by_heading.values())
    if len(facts) >= _KNOWN and not any(x in said for x in facts):
        return Failure("vague", f"the summary names none of {len(facts)} files, commands and values of the turns")
    return None


def _checked(
    sections: Sections, ledger: Ledger, source: Source, budget: int, shown: frozenset[int]
) -> Verdict | Failure:
    bodies: dict[str, str] = {}
    struck: list[str] = []
    flagged: list[str] = []
    changed: list[str] = []
    slots = 0
    rules = [c.text for c in ledger.current_constraints]
    sections, secrets = _without_secrets(sections)  # before anything of it is quoted in a report
    for heading, body in sections.by_heading.items():
        kept, orders = without_orders(body, source)
        flagged += [f"order taken out: {_short(x)}" for x in orders]
        kept, leave = without_leave(kept, rules, source, binding=heading == t.CONSTRAINTS)
        flagged += [f"against a rule of the user's, taken out: {_short(x)}" for x in leave]
        kept, wrong = corrected(heading, kept, ledger)
        changed += wrong
        looked = strike(kept, source, ledger)
        said, invented = without_inventions(heading, looked.text, source)
        slots += looked.slots + len(invented)
        struck += [*looked.struck, *map(_short, invented)]
        flagged += _unproven(kept, source, _OF_USERS if heading in _USERS else _STATEMENT)
        bodies[heading] = said
    if len(struck) >= _INVENTED and len(struck) > _INVENTED_SHARE * slots:
        return Failure(
            "unsupported", f"{len(struck)} of {slots} paths, commands and values in the summary have no source"
        )
    kept_sections, stale = current(Sections(bodies), ledger)
    changed += [f"out of date: {_short(x)}" for x in stale]
    pinned_sections, back = pinned.put_back(kept_sections, ledger, shown)
    room = int(budget * _FILL)
    whole, more = pinned.fill(pinned_sections, ledger, room, rough_text)
    return Verdict(whole, back + more, _once(struck), _once(flagged), secrets, _once(changed))


def _without_secrets(sections: Sections) -> tuple[Sections, int]:
    bodies = {h: redact(body, force=True) for h, body in sections.by_heading.items()}
    return Sections(bodies), sum(len(find(body)) for body in sections.by_heading.values())


def _unproven(body: str, source: Source, least: int) -> list[str]:
    """Statements of free text that share too few words with any source, and names that none holds."""
    out = [f"name not found: {n}" for n in unsupported_names(body, source)]
    for line in body.split("\n"):
        words, share = source.share(line)
        if words >= least and share < _SUPPORTED:
            out.append(f"no source found: {_short(line)}")
    return out


def _short(line: str) -> str:
    flat = redact(" ".join(line.split()), force=True)
    return flat if len(flat) <= _QUOTED else flat[: _QUOTED - 1] + "…"


def _once(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(redact(x, force=True) for x in items))
