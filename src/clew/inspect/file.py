"""One file looked through: read once, then split, priced and judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from clew.catalog import Model, lookup
from clew.errors import InputError
from clew.inspect import findings, split
from clew.inspect.breaches import breaches
from clew.inspect.cost import costs, price_all
from clew.inspect.figures import plural
from clew.inspect.gather import Chain, Gathered, gather
from clew.inspect.repeats import repeats
from clew.inspect.requests import Walked, walk
from clew.inspect.values import Compacted, Inspection, Options, Point
from clew.wire.files import Head, Record, iter_records

# What a file that names no model is taken for.
ASSUMED = {"anthropic": "claude-sonnet-4-6", "openai-chat": "gpt-5.4", "openai-responses": "gpt-5.4"}
_Extra = Mapping[str, Mapping[str, Any]]


def inspect_file(path: Path | str, options: Options | None = None, extra: _Extra | None = None) -> Inspection:
    """Everything found in one session file; InputError where it can't be read. Memory holds a few words for each part of
    a message. `extra` is the user's own table of models.
    """
    options = options or Options()
    records = iter_records(path, format=options.format)
    head, rest = _head(records, path)
    name, source = _model_name(head, options)
    model = lookup(name, extra)
    found = gather(head, rest, model)
    chains = [c for c in found.chains.values() if c.messages]
    walked = [walk(c, drops_reasoning=model.quirks.drops_reasoning) for c in chains]
    made = _assembled(found, chains, walked, model, options)
    priced = [price_all(w.sent, _models(model, options, extra)) for w in walked]
    shown, counts = breaches(chains, head.format, None if model.guessed or source == "assumed" else model)
    made = replace(
        made,
        path=str(path),
        bytes=Path(path).stat().st_size,
        model=name,
        model_source=source,
        costs=costs(priced),
        secrets=found.watch.families(),
        problems=shown,
        problem_counts=counts,
        notes=tuple(_notes(made, model, source, walked, chains)),
    )
    return replace(made, headline=findings.headline(made), findings=findings.findings(made))


def _head(records: Iterator[Record], path: Path | str) -> tuple[Head, Iterator[Record]]:
    first = next(records, None)
    if not isinstance(first, Head):
        raise InputError(f"{path}: no message in it", hint="is it a session file?")
    return first, records


def _model_name(head: Head, options: Options) -> tuple[str, Literal["named", "file", "assumed"]]:
    if options.model:
        return options.model, "named"
    if head.model:
        return head.model, "file"
    return ASSUMED.get(head.wire, ASSUMED["openai-chat"]), "assumed"


def _models(model: Model, options: Options, extra: _Extra | None) -> _Lookup:
    return _Lookup(model, named=bool(options.model), extra=extra)


class _Lookup:
    """The model of a request: the one the user named, else the one the report names."""

    def __init__(self, model: Model, *, named: bool, extra: _Extra | None) -> None:
        self._model = model
        self._named = named
        self._of = cache(lambda name: lookup(name, extra))

    def __call__(self, name: str) -> Model:
        return self._model if self._named or not name else self._of(name)


def _assembled(
    found: Gathered, chains: Sequence[Chain], walked: Sequence[Walked], model: Model, options: Options
) -> Inspection:
    points = walked[0].points if walked else ()
    peak = max((p for w in walked for p in w.points), key=lambda p: p.prompt, default=Point(0, 0, ()))
    again = repeats(chains)
    touched, files = split.by_file(chains)
    by_kind = split.by_kind(chains, sum(w.unseen for w in walked))
    return Inspection(
        path="",
        bytes=0,
        format=found.head.format,
        wire=found.head.wire,
        model="",
        model_source="file",
        window=options.window or model.window,
        session_id=found.head.session_id,
        title=found.head.title,
        chains=len(chains),
        messages=sum(len(c.messages) for c in chains),
        turns=len({(c.name, e.position) for c in chains for e in c.entries if e.turn}),
        requests=sum(len(w.points) for w in walked),
        reported=sum(w.reported for w in walked),
        tokens=sum(e.tokens for c in chains for e in c.entries),
        sent=sum(p.prompt for w in walked for p in w.points),
        peak=peak.prompt,
        peak_request=peak.request,
        by_kind=by_kind,
        by_tool=split.by_tool(chains),
        by_file=touched,
        files_touched=files,
        heaviest=split.heaviest(chains),
        repeats=again.shown,
        copies=again.copies,
        repeated_tokens=again.tokens,
        repeated_sent=again.sent,
        old_sent=split.old(chains),
        growth=thinned(points, options.points, walked[0].compactions if walked else ()),
        compactions=tuple(c for w in walked for c in w.compactions),
        left_out=tuple(found.left_out),
    )


def thinned(points: Sequence[Point], most: int, compactions: Sequence[Compacted] = ()) -> tuple[Point, ...]:
    """At most about so many points, evenly chosen; the first, the last, the peak and both sides of a compaction stay."""
    if len(points) <= most:
        return tuple(points)
    keep = {round(i * (len(points) - 1) / (most - 1)) for i in range(most)}
    keep.add(max(range(len(points)), key=lambda i: points[i].prompt))
    for c in compactions:
        keep |= {i for i in (c.request - 2, c.request - 1) if 0 <= i < len(points)}
    return tuple(points[i] for i in sorted(keep))


def _notes(
    made: Inspection, model: Model, source: str, walked: Sequence[Walked], chains: Sequence[Chain]
) -> Iterator[str]:
    """What the figures rest on, where it isn't the file itself."""
    if source == "assumed":
        yield f"the file names no model: taken for {model.name}, say which with --model"
    elif model.guessed:
        yield (
            f"{model.name} is not in the catalog: window and prices are guesses. Add it under `models:` in config.yaml, "
            "or name another with --model"
        )
    if made.reported and made.reported == made.requests:
        yield f"tokens of requests are the provider's own ({plural(made.reported, 'report')}); what each part took is counted"
    elif made.requests:
        some = f" ({made.reported:,} of {made.requests:,} requests are reported)" if made.reported else ""
        yield (
            f"the file reports no usage{some}: requests are told from the turns, tokens are counted"
            if not some
            else (f"usage is reported for a part of the conversations{some}; the rest is counted")
        )
    if ignored := sum(w.ignored for w in walked):
        yield f"usage is told for only {plural(ignored, 'request')}, too few to go by: counted instead"
    timed = any(t is not None for c in chains for t in c.times) or made.reported
    if made.requests > 1 and not timed:
        yield "the file has no times: the forecast takes it that the cache never expired"
    if made.window != model.window:
        yield f"window named as {made.window:,}; the catalog says {model.window:,}"
    elif made.chains > 1:
        yield "growth is the main conversation's; all other figures are of all conversations in the file"
