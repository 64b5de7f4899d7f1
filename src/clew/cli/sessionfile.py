"""What the commands that take a session file have in common: reading it, and progress for what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clew.errors import InputError
from clew.wire.files import SessionFile, read

_PATIENCE = 1.0


def opened(path: Path, format_: str | None = None) -> SessionFile:
    """The session of a file; what was left out is said on stderr."""
    session = read(path, format=format_)
    for sentence in session.left_out:
        sys.stderr.write(f"clew: {path.name}: {sentence}\n")
    if not session.messages:
        raise InputError(f"{path} holds no messages", hint="is it a session file? `clew inspect` says more")
    return session


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A line on stderr that is drawn after a second, where stderr is a terminal, and taken away at the end."""
    began, drawn = time.monotonic(), False
    terminal = sys.stderr.isatty()

    def show(done: int, total: int) -> None:
        nonlocal drawn
        if terminal and time.monotonic() - began > _PATIENCE:
            drawn = True
            sys.stderr.write(f"\r{label}: {done * 100 // max(total, 1):3d}%")
            sys.stderr.flush()

    try:
        yield show
    finally:
        if drawn:
            sys.stderr.write("\r\033[K")
