"""Epochs and counters as JSON and back, so that another process shows the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace

from clew.engine.values import Base, Epoch, State, Trouble, Urgency
from clew.handoff.receipt import Count, Receipt
from clew.handoff.record import Record
from clew.handoff.template import Sections
from clew.jsonio import Json
from clew.strategies.base import Edit
from clew.transcript import Span
from clew.wire import Wire

FORMAT = 1
_TROUBLE = Trouble.__slots__
_SETS = ("kept", "paired")
_COUNTERS = (
    "rent",
    "strikes",
    "level",
    "reported",
    "reported_view",
    "after_epoch",
    "last_request",
    "refused_at",
    "said",
)


def epoch_out(epoch: Epoch) -> dict[str, Json]:
    """An epoch as JSON. Messages of the base travel as their text, so that they come back byte for byte."""
    base = epoch.base
    return {
        "format": FORMAT,
        "number": epoch.number,
        "at": epoch.at,
        "urgency": epoch.urgency.value,
        "span": [epoch.span.start, epoch.span.end],
        "base": {
            "messages": [m.raw.decode("utf-8", "surrogatepass") for m in base.messages],
            "tail": base.tail,
            "edits": [asdict(e) for i in sorted(base.edits) for e in base.edits[i]],
            "tokens": base.tokens,
            "handoff": [base.handoff.start, base.handoff.end],
            "head": base.head,
            "at": base.at,
            "cut": base.cut,
        },
        "edits": [asdict(e) for e in epoch.edits],
        "handoff": epoch.handoff,
        "sections": dict(epoch.sections.by_heading),
        "receipt": asdict(epoch.receipt),
        "written_by": epoch.written_by,
        "focus": epoch.focus,
        "repairs": list(epoch.repairs),
        "record": {**asdict(epoch.record), **{k: sorted(getattr(epoch.record, k)) for k in _SETS}},
        "level": epoch.level,
        "page": epoch.page,
    }


def epoch_in(body: Mapping[str, Json], wire: Wire) -> Epoch:
    """The epoch that `epoch_out` wrote."""
    b = body["base"]
    edits: dict[int, tuple[Edit, ...]] = {}
    for e in b["edits"]:
        edit = Edit(**e)
        edits[edit.message] = (*edits.get(edit.message, ()), edit)
    messages = tuple(wire.message(m.encode("utf-8", "surrogatepass")) for m in b["messages"])
    return Epoch(
        number=body["number"],
        at=body["at"],
        urgency=Urgency(body["urgency"]),
        span=Span(*body["span"]),
        base=Base(messages, b["tail"], edits, b["tokens"], Span(*b["handoff"]), b["head"], b["at"], b["cut"]),
        edits=tuple(Edit(**e) for e in body["edits"]),
        handoff=body["handoff"],
        sections=Sections(dict(body["sections"])),
        receipt=_receipt(body["receipt"]),
        written_by=body["written_by"],
        focus=body["focus"],
        repairs=tuple(body["repairs"]),
        record=_record(body["record"]),
        level=body["level"],
        page=body["page"],
    )


def _receipt(given: Mapping[str, Json]) -> Receipt:
    counts = tuple(Count(**{**c, "lost": tuple(c["lost"])}) for c in given["counts"])
    lists = {k: tuple(given.get(k, ())) for k in ("struck", "flagged", "corrected", "references")}
    return Receipt(**{**given, **lists, "counts": counts})


def _record(given: Mapping[str, Json]) -> Record:
    lists = {k: tuple(given[k]) for k in ("pages", "verbatim", "shortened")}
    return Record(**{**given, **lists, **{k: frozenset(given[k]) for k in _SETS}})


def counters_out(state: State) -> dict[str, Json]:
    """The counters that decide when the next epoch comes."""
    return {**{k: getattr(state, k) for k in _COUNTERS}, "trouble": {k: getattr(state.trouble, k) for k in _TROUBLE}}


def counters_in(state: State, body: Mapping[str, Json]) -> State:
    """The state with the counters as they were."""
    known = {k: body[k] for k in _COUNTERS if k in body}
    return replace(state, **known, trouble=Trouble(**body["trouble"]))
