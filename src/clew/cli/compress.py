"""`clew compress FILE`: a compacted, valid conversation in the same format; the receipt goes to stderr."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened
from clew.context import compress as compress_messages
from clew.errors import InputError
from clew.jsonio import Json
from clew.wire import get
from clew.wire.convert import convert
from clew.wire.files import SessionFile

_WIRES = {"chat": "openai-chat", "openai": "openai-chat", "responses": "openai-responses"}


def compress(
    file: Path = typer.Argument(..., help="A session file: OpenAI chat JSON or JSONL, Claude Code, Codex, ShareGPT."),
    out: Path | None = typer.Option(None, "-o", "--out", help="Write here instead of standard output."),
    window: int | None = typer.Option(None, "--window", "-w", min=1000, help="The window in tokens."),
    threshold: float | None = typer.Option(None, "--threshold", min=0.01, max=1.0, help="Share of the window to use."),
    focus: str = typer.Option("", "--focus", help="What matters next: kept in more detail."),
    summarizer: str | None = typer.Option(
        None,
        "--summarizer",
        help="Who writes the handoff: anthropic:MODEL, openai:MODEL or a URL. Default: the ledger.",
    ),
    wire: str | None = typer.Option(None, "--wire", help="Another wire format for the result."),
    model: str | None = typer.Option(None, "--model", "-m", help="The model to count for."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say what would go where."),
    as_json: bool = typer.Option(False, "--json", help="The receipt as JSON on stderr."),
) -> None:
    """Compact a conversation once. Exit code: 0 done or nothing to do, 2 unreadable, 3 refused."""
    session = opened(file)
    target = _WIRES.get(wire or "", wire) or session.wire
    messages = session.messages
    if target != session.wire:
        changed = convert(messages, session.wire, target)
        messages = changed.messages
        for loss in changed.lost:
            sys.stderr.write(f"clew: message {loss.place}: {loss.what} can't be carried in {target}\n")
    done = compress_messages(
        messages,
        window,
        focus=focus or None,
        threshold=threshold,
        summarizer=summarizer,
        wire=target,
        model=model or session.model or None,
        system=session.system if get(target).system_key else None,
    )
    _report(done.refusal.reason if done.refusal is not None else "", done.receipt, as_json=as_json)
    if dry_run:
        if done.epoch is not None:
            for e in done.epoch.edits:
                where = f"message {e.message}" + (f", part {e.part}" if e.part >= 0 else "")
                sys.stdout.write(f"{where}: {e.before:,} → {e.after:,} tokens, {e.strategy}: {e.reason}\n")
        return
    _write(out, _file_value(session, target, done.messages))
    if done.refusal is not None and done.refusal.kind not in ("nothing", "larger"):
        raise typer.Exit(3)


def _report(refusal: str, receipt: object, *, as_json: bool) -> None:
    from clew.handoff.receipt import Receipt

    lines = receipt.lines() if isinstance(receipt, Receipt) else ()
    if as_json:
        value = {"refusal": refusal, "receipt": list(lines)}
        sys.stderr.write(jsonio.dumps(value).decode() + "\n")
        return
    if refusal:
        sys.stderr.write(f"nothing was compacted: {refusal}\n")
    for line in lines:
        sys.stderr.write(f"{line}\n")


def _file_value(session: SessionFile, target: str, messages: list[dict[str, Json]]) -> bytes:
    """The conversation in the shape of a request body of its wire."""
    wire = get(target)
    body: dict[str, Json] = {}
    if session.model:
        body["model"] = session.model
    if wire.system_key and session.system is not None:
        body[wire.system_key] = session.system
    if session.tools:
        body["tools"] = list(session.tools)
    body[wire.messages_key] = messages
    return jsonio.dumps(body)


def _write(out: Path | None, data: bytes) -> None:
    if out is None:
        sys.stdout.write(data.decode("utf-8", "replace") + "\n")
        return
    try:
        out.write_bytes(data + b"\n")
    except OSError as e:
        raise InputError(f"{out} can't be written: {e.strerror}", hint="name another file with -o") from e
