"""The setting files written and restored. A file is replaced in one step or not at all; what it was before lies beside
it until it is restored.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from clew import jsonio
from clew.connect.client import Client
from clew.errors import ConfigError, InputError
from clew.gateway.auth import is_loopback
from clew.gateway.routes import KNOWN

_BACKUP = ".before-clew"
_RECORD = ".clew"  # what was written, so that a later change is noticed; and whether there was a file at all
_PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written where. `before` is None where there is no file yet."""

    path: Path
    before: bytes | None
    after: bytes
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, in a sentence, and what the user should know beside it."""

    says: str
    notes: tuple[str, ...] = ()


def current(client: Client, env: Mapping[str, str]) -> str:
    """The setting file's text; empty where there is none."""
    return _text(_read(_target(client, env)) or b"", client)


def plan(client: Client, url: str, env: Mapping[str, str]) -> Plan:
    """What `connect` would write."""
    path = _target(client, env)
    before = _read(path)
    text = _text(before or b"", client)
    with _named(path):
        after = client.connected(text, url.rstrip("/"), env)
        notes = (*client.notes(text), *_elsewhere(client, text, after))
    return Plan(path, before, after.encode(), notes)


def connect(client: Client, url: str, env: Mapping[str, str]) -> Done:
    """Points the client at `url`. What its file was before the first time is kept."""
    p = plan(client, url, env)
    if not p.changes:
        return Done(f"{client.title} is already connected to {url}", p.notes)
    backup, record = _beside(p.path)
    if not record.exists():
        if p.before is not None:
            write(backup, p.before, _mode(p.path))
        _record(record, p.after, existed=p.before is not None)
        write(p.path, p.after, _mode(p.path))
    else:
        existed = bool(jsonio.loads(record.read_bytes()).get("existed"))
        write(p.path, p.after, _mode(p.path))
        _record(record, p.after, existed=existed)
    kept = f"; what it was is in {backup}" if backup.exists() else ""
    return Done(f"{client.title} now uses {url} ({p.path}{kept})", p.notes)


def undo(client: Client, env: Mapping[str, str]) -> Done:
    """Restores the file byte for byte. One that was changed since only loses what Clew had set."""
    path = _target(client, env)
    backup, record = _beside(path)
    if not record.exists():
        return Done(f"{client.title} was not connected by Clew: {path} is left as it is")
    known = jsonio.loads(record.read_bytes())
    now, was = _read(path), _read(backup)
    if known.get("existed") and was is None:
        raise InputError(f"{backup} is gone, so {path} can't be restored", hint="take Clew's address out by hand")
    notes: tuple[str, ...] = ()
    if now is None:
        says = f"{path} is gone already; nothing was restored"
    elif sha256(now).hexdigest() == known.get("wrote"):
        _restore(path, was)
        says = f"{client.title} is as it was ({path})"
    else:
        with _named(path):
            text = client.disconnected(_text(now, client), _text(was or b"", client))
        write(path, text.encode(), _mode(path))
        says = f"{client.title} no longer uses Clew ({path})"
        notes = ("the file was changed after it was connected; those changes stay",)
    for file in (backup, record):
        file.unlink(missing_ok=True)
    return Done(says, notes)


def _elsewhere(client: Client, text: str, after: str) -> Iterator[str]:
    """A word on each address outside this machine that gives way: Clew doesn't go there by itself."""
    known = {urlsplit(u).hostname for u in KNOWN.values()}
    for base in dict.fromkeys(client.bases(text)):
        host = urlsplit(base).hostname or ""
        if base not in client.bases(after) and host not in known and not is_loopback(host):
            yield (
                f"{client.title} used {base} until now; the gateway sends its requests to the provider itself, unless it "
                f"is told: clew serve --upstream NAME={base}"
            )


def _restore(path: Path, was: bytes | None) -> None:
    if was is None:
        path.unlink()
    else:
        write(path, was, _mode(path))


def _target(client: Client, env: Mapping[str, str]) -> Path:
    """The file itself: many keep their settings elsewhere and have a link to them."""
    return Path(os.path.realpath(client.path(env)))


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + _BACKUP), path.with_name(path.name + _BACKUP + _RECORD)


def _record(file: Path, wrote: bytes, *, existed: bool) -> None:
    write(file, jsonio.dumps({"existed": existed, "wrote": sha256(wrote).hexdigest()}), _PRIVATE)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as e:
        raise InputError(f"{path} can't be read: {e.strerror}", hint="check its permissions") from e


def _text(data: bytes, client: Client) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise ConfigError(f"{client.title}'s settings are no UTF-8: {e.reason}", hint="repair the file") from e


def _mode(path: Path) -> int:
    """The file's own permissions; those of one that is made are the user's alone, as it may come to hold keys."""
    return path.stat().st_mode & 0o777 if path.exists() else _PRIVATE


def write(path: Path, data: bytes, mode: int) -> None:
    """A file written in one step: another one is filled and takes its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as e:
        raise InputError(f"{path.parent} can't be written: {e.strerror}", hint="check its permissions") from e
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except OSError as e:
        Path(name).unlink(missing_ok=True)
        raise InputError(f"{path} can't be written: {e.strerror}", hint="is the disk full?") from e


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except ConfigError as e:
        raise ConfigError(f"{path}: {e.message}", hint=e.hint) from e
