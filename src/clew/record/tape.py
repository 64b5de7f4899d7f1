"""The file that a relay writes, one line an exchange, whole lines only."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from clew import jsonio
from clew.record.exchange import Exchange


class Tape:
    """Appends exchanges to a file that only its owner may read. Usable from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.written = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lock = threading.Lock()

    def add(self, exchange: Exchange) -> None:
        line = memoryview(jsonio.dumps(exchange.value()) + b"\n")
        with self._lock:
            while line:
                line = line[os.write(self._file, line) :]
            self.written += 1

    def close(self) -> None:
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
