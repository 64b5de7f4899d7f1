"""One key from the terminal, without waiting for Enter."""

from __future__ import annotations

import sys


def key() -> str:
    """The key that was pressed; "q" at the end of input and on Ctrl-C."""
    try:
        return _windows() if sys.platform == "win32" else _posix()
    except (KeyboardInterrupt, EOFError):
        return "q"


def _posix() -> str:
    import termios
    import tty

    where = sys.stdin.fileno()
    before = termios.tcgetattr(where)
    try:
        tty.setcbreak(where, termios.TCSADRAIN)  # what was typed ahead counts
        return sys.stdin.read(1) or "q"
    finally:
        termios.tcsetattr(where, termios.TCSADRAIN, before)


def _windows() -> str:
    import msvcrt

    pressed: str = msvcrt.getwch()  # type: ignore[attr-defined,unused-ignore] # only there on Windows
    return "q" if pressed in ("\x03", "\x1a") else pressed
