"""An inspection as a report: what is worth acting on first, then where the tokens went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from clew.inspect import KIND_NAMES, KINDS, Inspection, Outcome, Totals, Unreadable, totals
from clew.inspect import figures as f
from clew.inspect.values import Cost, Share
from clew.report.model import (
    Bar,
    Bars,
    Block,
    Column,
    Fact,
    Facts,
    Mark,
    Point,
    Points,
    Report,
    Series,
    Stack,
    Table,
    Tone,
    Value,
    Words,
)

KIND_COLORS = {
    "unseen": "grey", "system": "yellow", "tools": "red", "summary": "pink", "user": "violet", "assistant": "teal",
    "reasoning": "green", "call": "orange", "result": "blue",
}  # fmt: skip
_ROWS = 8
_FILES = 100
_TONES: dict[str, Tone] = {"secrets": "bad", "problems": "warn", "window": "warn", "cache misses": "warn"}


def of_inspection(i: Inspection) -> Report:
    """One file, from the headline to what was left out."""
    return Report(i.path, i.headline, tuple(_blocks(i)), subtitle=_subtitle(i))


def _subtitle(i: Inspection) -> str:
    parts = [i.format, i.model, f.size(i.bytes), f.plural(i.messages, "message")]
    if i.chains > 1:
        parts.append(f.plural(i.chains, "conversation"))
    return " · ".join(p for p in (*parts, i.title) if p)


def _blocks(i: Inspection) -> Iterator[Block]:
    if i.findings:
        yield Points(tuple(Point(x.sentence, _TONES.get(x.kind, "plain")) for x in i.findings))
    yield Facts(tuple(_facts(i)))
    if i.growth:
        yield _growth(i)
    if i.by_kind:
        yield _kinds(i.by_kind, i.sent, "Where the tokens went")
    if i.by_tool:
        yield _tools(i.by_tool, i.sent)
    if i.by_file:
        yield _files(i)
    if i.heaviest:
        yield _heaviest(i)
    if i.repeats:
        yield _repeats(i)
    if i.requests:
        yield _cost(i)
    yield from _trouble(i)
    if i.left_out:
        yield Points(tuple(Point(s, "quiet") for s in i.left_out), "Left out")
    if i.notes:
        yield Points(tuple(Point(s, "quiet") for s in i.notes), "What the figures rest on")


def _facts(i: Inspection) -> Iterator[Fact]:
    yield Fact("requests", i.requests, "count")
    yield Fact("tokens sent", i.sent, "tokens")
    yield Fact("counted once", i.tokens, "tokens")
    if i.requests:
        yield Fact("peak", i.peak, "tokens", f"of {f.tokens(i.window)}")
        recorded = i.costs.source == "recorded"
        yield Fact("billed" if recorded else "cost, forecast", i.costs.paid.cost, "money")
        yield Fact("read from cache", i.costs.paid.read / max(1, i.costs.paid.input), "percent")
        yield Fact("without a cache", i.costs.uncached.cost, "money")
    yield Fact("secrets", i.secret_count, "count")
    yield Fact("problems", i.problem_count, "count")


def _growth(i: Inspection) -> Stack:
    used = [n for n, kind in enumerate(KINDS) if any(p.parts[n] for p in i.growth)]
    x = tuple(p.request for p in i.growth)
    marks = tuple(
        Mark(next((n for n, request in enumerate(x) if request >= c.request), len(x) - 1), "compaction")
        for c in i.compactions
        if not c.chain
    )
    far = "" if i.peak * 3 >= i.window else f"The window of {f.tokens(i.window)} is far above the picture."
    return Stack(
        "Growth: what each request carried",
        tuple(
            Series(KIND_NAMES[KINDS[n]], tuple(float(p.parts[n]) for p in i.growth), KIND_COLORS[KINDS[n]])
            for n in used
        ),
        x=x,
        x_name="request",
        limit=float(i.window) or None,
        limit_name="window",
        marks=marks,
        note=far,
    )


def _kinds(shares: Sequence[Share], sent: int, title: str) -> Bars:
    return Bars(
        title,
        tuple(
            Bar(name, s.sent, s.sent / sent if sent else 0.0, f"{f.tokens(s.tokens)} in {s.count:,}" if s.count else "",
                KIND_COLORS[s.name])
            for s in shares
            for name in (next(n for kind, n in KIND_NAMES.items() if kind == s.name),)
        ),
        note="Tokens sent over all requests and their share; then tokens counted once, and in how many parts.",
    )  # fmt: skip


def _tools(shares: Sequence[Share], sent: int) -> Table:
    rows = [(s.name, s.count, s.tokens, s.sent, s.sent / sent if sent else 0.0) for s in shares]
    return Table(
        "Tools",
        (Column("tool", stretch=True), Column("calls", "count"), Column("tokens", "tokens"), Column("sent", "tokens"),
         Column("share", "percent")),
        tuple(rows[:_ROWS]),
        note=_more(len(rows) - _ROWS, "tool"),
    )  # fmt: skip


def _files(i: Inspection) -> Table:
    rows = [(t.path, t.reads or None, t.changes or None, t.tokens, t.sent, _part(t.sent, i)) for t in i.by_file[:_ROWS]]
    return Table(
        "Files",
        (Column("file", "path", stretch=True), Column("reads", "count"), Column("changes", "count"),
         Column("tokens", "tokens"), Column("sent", "tokens"), Column("share", "percent")),
        tuple(rows),
        note=_more(i.files_touched - len(rows), "file"),
    )  # fmt: skip


def _heaviest(i: Inspection) -> Table:
    def what(tool: str, kind: str) -> str:
        return f"{tool} {'call' if kind == 'call' else ''}".strip() if tool else kind

    rows = [
        (what(h.tool, h.kind), h.target, h.line or None, h.tokens, h.requests, h.sent, _part(h.sent, i))
        for h in i.heaviest[:_ROWS]
    ]
    return Table(
        "Largest single parts",
        (Column("what"), Column("of", "path", stretch=True), Column("line", "count"), Column("tokens", "tokens"),
         Column("requests", "count"), Column("sent", "tokens"), Column("share", "percent")),
        tuple(rows),
    )  # fmt: skip


def _repeats(i: Inspection) -> Table:
    rows = [(r.kind, r.target, r.times, r.same or None, r.total, r.tokens or None, r.sent or None) for r in i.repeats]
    return Table(
        "Asked for again",
        (Column("what"), Column("of", "path", stretch=True), Column("times", "count"), Column("same", "count"),
         Column("tokens", "tokens"), Column("copies", "tokens"), Column("sent", "tokens")),
        tuple(rows[:_ROWS]),
        note="same: came back word for word; copies and sent: the tokens of those, once and over all requests. "
        + _more(len(rows) - _ROWS, "repeat"),
    )  # fmt: skip


def _cost(i: Inspection) -> Table:
    c = i.costs

    def row(name: str, cost: Cost) -> tuple[Value, ...]:
        return (name, cost.read, cost.written, cost.uncached, cost.output, cost.cost)

    rows = [row("billed (recorded usage)", c.paid)] if c.source == "recorded" else []
    rows.append(row("forecast by the cache model", c.forecast))
    rows.append(row("without a cache", c.uncached))
    note = f"At the list prices of {i.model}."
    if c.missed:
        worst = "; ".join(
            f"request {m.request}: {f.tokens(m.tokens)}, {f.money(m.cost)}, {m.reason}"
            + (f" after {f.waited(m.idle)}" if m.idle and m.idle > 60 else "")
            for m in c.misses[:3]
        )
        note += (
            f" {f.plural(c.missed, 'cache miss', 'cache misses')} for {f.money(c.missed_cost)}; the costliest: {worst}."
        )
    return Table(
        "The bill",
        (Column("", stretch=True), Column("read", "tokens"), Column("written", "tokens"), Column("uncached", "tokens"),
         Column("output", "tokens"), Column("cost", "money")),
        tuple(rows),
        note=note,
    )  # fmt: skip


def _trouble(i: Inspection) -> Iterator[Block]:
    if i.compactions:
        rows = tuple(
            (c.request, c.kind, c.trigger, c.before, c.after or None, c.line or None) for c in i.compactions[:_ROWS]
        )
        yield Table(
            "Compactions by the client",
            (Column("before request", "count"), Column("kind"), Column("trigger"), Column("from", "tokens"),
             Column("to", "tokens"), Column("line", "count")),
            rows,
            note=_more(len(i.compactions) - _ROWS, "compaction"),
        )  # fmt: skip
    if i.secrets:
        yield Table(
            "Secrets in plain text, masked",
            (Column("family"), Column("times", "count"), Column("different", "count"), Column("line", "count"),
             Column("mask"), Column("first seen in", stretch=True)),
            tuple(
                (s.family, s.count, s.distinct, s.places[0].line or None, s.places[0].mask, s.places[0].where)
                for s in i.secrets
            ),
        )  # fmt: skip
    if i.problems:
        firsts = {p.code: p for p in reversed(i.problems)}
        breaches = tuple(
            (code, n, firsts[code].message, firsts[code].line or None, firsts[code].sentence)
            for code, n in i.problem_counts
            if code in firsts
        )
        yield Table(
            "Protocol problems",
            (Column("code"), Column("times", "count"), Column("message", "count"), Column("line", "count"),
             Column("first", stretch=True)),
            breaches,
            note="`clew validate` lists them all.",
        )  # fmt: skip


def _part(sent: int, i: Inspection) -> float:
    return sent / i.sent if i.sent else 0.0


def _more(n: int, name: str) -> str:
    return f"and {f.plural(n, f'more {name}')} …" if n > 0 else ""


def of_many(outcomes: Sequence[Outcome]) -> Report:
    """A table of files with totals, and where the tokens of all of them went."""
    found = [o for o in outcomes if isinstance(o, Inspection)]
    bad = [o for o in outcomes if isinstance(o, Unreadable)]
    sums = totals(outcomes)
    blocks: list[Block] = []
    points = list(_sayings(sums, found))
    if points:
        blocks.append(Points(tuple(points)))
    if found:
        blocks.append(_table(found, sums))
        blocks.append(_kinds(sums.by_kind, sums.sent, "Where the tokens of all files went"))
        blocks.append(_tools(sums.by_tool, sums.sent))
    if bad:
        blocks.append(Points(tuple(Point(_why(o), "bad") for o in bad), "Not read"))
    if any(i.model_source == "assumed" for i in found):
        blocks.append(
            Words("A file that names no model is taken for one: see each file, or name one with --model.", "quiet")
        )
    return Report(f.plural(len(outcomes), "file"), _headline(sums), tuple(blocks), f.size(sums.bytes))


def _headline(t: Totals) -> str:
    if not t.files:
        return "None of the files could be read."
    said = f"{f.plural(t.requests, 'request')} in {f.plural(t.files, 'file')} sent {f.tokens(t.sent)} tokens"
    top = next((s for s in t.by_kind if s.name != "unseen"), None)
    if top is not None and t.sent:
        name = next(n for kind, n in KIND_NAMES.items() if kind == top.name)
        said += f", {f.percent(top.sent, t.sent)} of them {name}"
    how = "billed" if t.recorded == t.files else "about"
    return said + (
        f"; {how} {f.money(t.paid.cost)}, {f.money(t.uncached.cost)} without a cache." if t.paid.cost else "."
    )


def _sayings(t: Totals, found: Sequence[Inspection]) -> Iterator[Point]:
    if t.sent and t.old_sent:
        yield Point(
            f"{f.percent(t.old_sent, t.sent)} of everything sent was tool results more than 10 requests old "
            f"({f.tokens(t.old_sent)} tokens)."
        )
    if t.sent and t.repeated_sent:
        yield Point(f"{f.percent(t.repeated_sent, t.sent)} was results that had come before, word for word.")
    if t.missed_cost:
        yield Point(
            f"Cache misses cost {f.money(t.missed_cost)}, {f.percent(t.missed_cost, t.paid.cost)} of the bill.", "warn"
        )
    if t.secrets:
        files = sum(1 for i in found if i.secrets)
        yield Point(f"Secrets stand in plain text {f.plural(t.secrets, 'time')} in {f.plural(files, 'file')}.", "bad")
    if t.problems:
        files = sum(1 for i in found if i.problem_count)
        yield Point(f"{f.plural(t.problems, 'protocol problem')} in {f.plural(files, 'file')}.", "warn")


def _table(found: Sequence[Inspection], t: Totals) -> Table:
    """A row for each file as they came; of very many, those that sent most."""
    hidden = len(found) - _FILES
    if hidden > 0:
        found = sorted(found, key=lambda i: -i.sent)[:_FILES]
    common = _common([i.path for i in found])
    rows = tuple(
        (
            i.path[len(common) :], tuple(float(p.prompt) for p in i.growth), i.requests, i.sent, i.peak,
            _result_share(i), i.costs.paid.cost, i.secret_count or None, i.problem_count or None,
        )
        for i in found
    )  # fmt: skip
    results = next((s.sent for s in t.by_kind if s.name == "result"), 0)
    total = (f.plural(t.files, "file"), None, t.requests, t.sent, t.peak, results / t.sent if t.sent else 0.0,
             t.paid.cost, t.secrets or None, t.problems or None)  # fmt: skip
    return Table(
        "Files",
        (Column("file", "path", stretch=True), Column("growth", "spark"), Column("requests", "count"),
         Column("sent", "tokens"), Column("peak", "tokens"), Column("results", "percent"), Column("cost", "money"),
         Column("secrets", "count"), Column("problems", "count")),
        rows,
        total,
        note=(f"in {common}" if common else "") + (f" The {_FILES} that sent most; --json has all." if hidden > 0 else ""),
    )  # fmt: skip


def _result_share(i: Inspection) -> float:
    return next((s.sent for s in i.by_kind if s.name == "result"), 0) / i.sent if i.sent else 0.0


def _common(paths: Sequence[str]) -> str:
    """The folder that all of them are in, with its separator; nothing for one."""
    parents = [PurePath(p).parent.parts for p in paths]
    if len(paths) < 2:
        return ""
    shared = 0
    while all(len(p) > shared for p in parents) and len({p[shared] for p in parents}) == 1:
        shared += 1
    if not shared:
        return ""
    prefix = str(PurePath(*parents[0][:shared]))
    return prefix if prefix.endswith(("/", "\\")) else prefix + paths[0][len(prefix)]


def _why(o: Unreadable) -> str:
    return f"{o.sentence} ({o.hint})" if o.hint else o.sentence
