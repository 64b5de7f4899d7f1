"""`clew why FILE N`: what the model would have seen at step N, against the transcript, and the reason for each edit."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened
from clew.context import Context
from clew.errors import InputError
from clew.ledger.tools import one_line
from clew.redact import redact
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
        raise InputError(f"{file} has {len(session.messages)} messages, not {step}")
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
            "receipt": list(epoch.receipt.lines()) if epoch is not None else [],
        }  # fmt: skip
        sys.stdout.write(redact(jsonio.dumps(value).decode(), force=True) + "\n")
        return
    say = sys.stdout.write
    say(f"step {step}: {len(view)} messages are sent for {step} of the transcript\n")
    if epoch is not None:
        say(
            f"epoch {epoch.number}, made at message {epoch.at} ({epoch.urgency.value}), written by the {epoch.written_by}\n"
        )
        for line in epoch.receipt.lines():
            say(f"  {line}\n")
    shown = {m.address for m in view}
    for i, m in enumerate(session.messages[:step]):
        say(f"{_line(i, m, edits.get((i, -1)) is not None, m.address in shown)}\n")
        for (at, part), e in edits.items():
            if at == i and part >= 0:
                say(f"      part {part}: {e.strategy}: {e.reason}, {e.before:,} → {e.after:,} tokens {e.reference}\n")
    if epoch is not None and full:
        say(f"\n{epoch.handoff}\n")
    elif epoch is not None:
        say("\n(--full prints the handoff)\n")


def _line(i: int, message: Message, folded: bool, shown: bool) -> str:
    mark = "=" if shown else ("-" if folded else "~")
    what = "as it was" if shown else ("in the handoff" if folded else "changed")
    text = one_line(message.text or ", ".join(c.name for c in message.calls) or "…", _WIDTH)
    return f"{mark} {i:5d} {message.role:9s} {what:14s} {redact(text, force=True)}"
