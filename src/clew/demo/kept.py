"""The generated session in-process: what it costs under Clew and under the plain ways, and what of it stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from clew.context import Context
from clew.demo.row import Played, summary
from clew.redact import find
from clew.replay import Replay, make, replay
from clew.replay.policies import Setting
from clew.report.model import Column, Point, Points, Report, Table
from clew.report.of_replay import of_replays
from clew.testing.session import Fact, Session, generate
from clew.transcript import Message
from clew.wire import get

WINDOW = 64_000


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo did, for showing and for tests."""

    session: Session
    replays: tuple[Replay, ...]
    handoff: str
    receipt: tuple[str, ...]
    kept: tuple[Fact, ...]
    found: tuple[Fact, ...]
    lost: tuple[Fact, ...]
    secrets_in_handoff: int
    sentence: str


def run(seed: int = 1, turns: int = 40, progress: Callable[[int, int], None] | None = None) -> Demo:
    """Play the generated session through Clew and through the plain ways, and look for what was planted in it."""
    session = generate(seed, turns=turns)
    wire = get("openai-chat")
    messages = [wire.message(m) for m in session.messages]
    setting = Setting(WINDOW)
    runs = tuple(
        replay(messages, make(name, setting), name, window=WINDOW, progress=progress if name == "clew" else None)
        for name in ("clew", "none", "sliding", "mask")
    )
    with Context(WINDOW, config={}, clock=lambda: 0.0) as ctx:
        for m in messages:
            if m.role == "assistant":
                ctx.view_messages()
            ctx.extend([m])
        view = "\n".join(_words(m) for m in ctx.view_messages())
        standing = [f for f in session.facts if f.stands]
        kept = tuple(f for f in standing if f.text in view)
        found = tuple(f for f in standing if f.text not in view and ctx.search(f.text))
        lost = tuple(f for f in standing if f.text not in view and f not in found)
        epoch = ctx.epochs[-1]
        return Demo(
            session, runs, epoch.handoff, epoch.receipt.lines(), kept, found, lost, len(find(epoch.handoff)),
            str(ctx.status()["sentence"]),
        )  # fmt: skip


def _words(m: Message) -> str:
    return "\n".join([m.text, *(c.arguments for c in m.calls)])


def report(demo: Demo, played: Played | None = None) -> Report:
    """The demo as a report, what went through the gateway first."""
    base = of_replays("a generated session", demo.replays)
    kinds = sorted({f.kind for f in (*demo.kept, *demo.found, *demo.lost)})
    rows = tuple(
        (kind, *(sum(f.kind == kind for f in facts) for facts in (demo.kept, demo.found, demo.lost))) for kind in kinds
    )
    memory = Table(
        "what was planted in the session and still holds",
        (Column("kind"), Column("in view", "count"), Column("by search", "count"), Column("lost", "count")),
        rows,
        note=f"secrets in the handoff: {demo.secrets_in_handoff}",
    )
    last = Points(tuple(Point(line) for line in demo.receipt), "the last receipt")
    first = (summary(played),) if played is not None else ()
    blocks = (*first, *base.blocks[:2], memory, last)
    messages = len(demo.session.messages)
    return Report("clew demo", base.headline, blocks, f"{messages} messages, seed {demo.session.seed}; {demo.sentence}")
