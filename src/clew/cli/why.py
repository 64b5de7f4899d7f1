"""`clew why FILE N`: what the model would have seen at step N, against the transcript, and the reason for each edit."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened
from clew.context import Context
from clew.engine.values import Epoch
from clew.errors import InputError
from clew.ledger.tools import one_line
from clew.redact import redact
from clew.strategies import Edit
from clew.transcript import Message

_WIDTH = 100


def why(
    file: Path = typer.Argument(..., help="A session file."),
    step: int = typer.Argument(..., min=0, help="How many messages the conversation had."),
    window: int = typer.Option(64_000, "--window", "-w", min=1000, help="The window in tokens."),
    threshold: float = typer.Option(0.5, "--threshold", min=0.01, max=1.0, help="Share of it that triggers."),
    full: bool = typer.Option(False, "--full", help="The handoff in full."),
    as_json: bool = typer.Option(False, "--json", help="JSON on standard output."),
) -> None:
    """Follow the thread: which messages were shown as they were, which not, why, and what stands for them."""
    session = opened(file)
    if step > len(session.messages):
        raise InputError(f"{file} has {len(session.messages)} messages, not {step}", hint="name a step up to that")
    with Context(window, threshold, wire=session.wire, config={}, clock=lambda: 0.0) as ctx:
        for m in session.messages[:step]:
            if m.role == "assistant":
                ctx.view_messages()
            ctx.extend([m])
        view = ctx.view_messages()
        edits = {(e.message, e.part): e for e in ctx.edits}
        epoch = ctx.epochs[-1] if ctx.epochs else None
    if as_json:
        value = {
            "step": step,
            "view": [m.value for m in view],
            "edits": [
                {"message": e.message, "part": e.part, "strategy": e.strategy, "reason": e.reason, "before": e.before,
                 "after": e.after, "reference": e.reference}
                for e in edits.values()
            ],
            "epoch": epoch.number if epoch is not None else 0,
            "receipt": epoch.receipt.figures() if epoch is not None else None,
        }  # fmt: skip
        sys.stdout.write(redact(jsonio.dumps(value).decode(), force=True) + "\n")
        return
    sys.stdout.write(f"step {step}: {len(view)} messages are sent for {step} of the transcript\n")
    for line in (*_about(epoch), *_lines(session.messages[:step], view, edits, epoch)):
        sys.stdout.write(f"{line}\n")
    if epoch is not None:
        sys.stdout.write(f"\n{epoch.handoff}\n" if full else "\n(--full prints the handoff)\n")


def _about(epoch: Epoch | None) -> Iterator[str]:
    """The epoch that made the view, with its receipt."""
    if epoch is None:
        yield "no epoch yet: everything is shown"
        return
    yield f"epoch {epoch.number}, made at message {epoch.at} ({epoch.urgency.value}: {epoch.receipt.why}), written by the {epoch.written_by}"
    yield from (f"  {line}" for line in epoch.receipt.lines())


def _lines(
    said: Sequence[Message], view: Sequence[Message], edits: Mapping[tuple[int, int], Edit], epoch: Epoch | None
) -> Iterator[str]:
    """Transcript against view, as a diff: `=` shown as it was, `~` shown changed, `-` not shown, `+` shown in its place."""
    shown = {m.address for m in view}
    for i, m in enumerate(said):
        if epoch is not None and i == epoch.base.cut:
            yield f"+       handoff {epoch.number}, in {len(epoch.base.handoff)} messages"
        gone = edits.get((i, -1))
        mark = "=" if m.address in shown else ("-" if gone is not None else "~")
        yield f"{mark} {i:5d} {m.role:9s} {_text(m)}"
        for e in (gone, *(e for (at, part), e in edits.items() if at == i and part >= 0)):
            if e is None or (e is gone and mark == "="):
                continue
            part = f"part {e.part}: " if e.part >= 0 else ""
            after = f" → {e.after:,}" if e.part >= 0 else ""
            yield f"        {part}{e.strategy}: {e.reason}, {e.before:,}{after} tokens {e.reference}"


def _text(message: Message) -> str:
    words = message.text or ", ".join(f"{c.name} {c.arguments}" for c in message.calls) or "…"
    return redact(one_line(words, _WIDTH), force=True)
