"""`clew compress FILE`: a compacted, valid conversation in the same format; the receipt goes to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from clew import jsonio
from clew.cli.sessionfile import opened
from clew.context import Compressed
from clew.context import compress as compress_messages
from clew.engine.values import Epoch
from clew.errors import InputError
from clew.jsonio import Json
from clew.transcript import Message
from clew.wire import get
from clew.wire.convert import convert
from clew.wire.files import SessionFile

_WIRES = {"chat": "openai-chat", "openai": "openai-chat", "responses": "openai-responses"}
_LOGS = {"claude-code": "Claude Code", "codex": "Codex", "sharegpt": "ShareGPT"}
_HEAD = 1 << 20  # bytes of a first line


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
    """Compact a conversation once. A list of messages stays a list, a message a line stays that; a client's own log
    becomes the body of a request. Exit code: 0 done or nothing to do, 2 unreadable, 3 refused.
    """
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
    _report(done, as_json=as_json)
    if dry_run:
        if done.epoch is not None:
            sys.stdout.writelines(f"{line}\n" for line in _places(done.epoch, messages))
    else:
        _write(out, _file_value(session, target, done.messages, _shape(file)))
    if done.refusal is not None and done.refusal.kind not in ("nothing", "larger"):
        raise typer.Exit(3)


def _report(done: Compressed, *, as_json: bool) -> None:
    refusal = done.refusal.reason if done.refusal is not None else ""
    if as_json:
        receipt = done.receipt.figures() if done.receipt is not None else None
        by = done.epoch.written_by if done.epoch is not None else ""
        sys.stderr.write(jsonio.dumps({"refusal": refusal, "written_by": by, "receipt": receipt}).decode() + "\n")
        return
    if refusal:
        sys.stderr.write(f"nothing was compacted: {refusal}\n")
    if done.receipt is not None and done.epoch is not None:
        sys.stderr.writelines(f"{line}\n" for line in done.receipt.lines())
        sys.stderr.write(f"the handoff was written by the {done.epoch.written_by}\n")


def _places(epoch: Epoch, messages: Sequence[Message]) -> Iterator[str]:
    """What would go where: head, handoff, tail; what is shortened in them, and where the originals' tokens went."""
    head, (start, end) = epoch.base.head, (epoch.span.start, epoch.span.end)
    gone = sum(e.before for e in epoch.edits if e.part < 0)
    if head:
        yield f"{_range(0, head)}: stay at the beginning"
    if start < end:
        yield f"{_range(start, end)}: {gone:,} tokens go into the handoff"
    if end < len(messages):
        yield f"{_range(end, len(messages))}: stay at the end"
    for e in epoch.edits:
        if e.part >= 0:
            yield f"message {e.message}, part {e.part}: {e.before:,} → {e.after:,} tokens, {e.strategy}: {e.reason}"
    yield f"\n{epoch.handoff}"


def _range(start: int, end: int) -> str:
    return f"message {start}" if end - start == 1 else f"messages {start}-{end - 1}"


def _shape(file: Path) -> str:
    """How the file holds its messages: one body, a list of them, or one a line."""
    with file.open("rb") as f:
        head = f.readline(_HEAD).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"["):
        return "list"
    try:
        first = jsonio.loads(head)
    except ValueError:
        first = None
    return "lines" if isinstance(first, dict) and "role" in first else "body"


def _file_value(session: SessionFile, target: str, messages: list[dict[str, Json]], shape: str) -> bytes:
    """The conversation in the shape it was in; where that is a client's own log, as the body of a request."""
    wire = get(target)
    if session.format in _LOGS:
        sys.stderr.write(f"clew: written as a request body ({target}), not as a log of {_LOGS[session.format]}\n")
        shape = "body"
    if shape == "list":
        return jsonio.dumps(messages)
    if shape == "lines":
        return b"\n".join(jsonio.dumps(m) for m in messages)
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
