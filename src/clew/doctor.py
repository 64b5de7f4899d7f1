"""What is wrong with this installation, and what to do about it: versions, settings, port, clients, store, upstreams."""

from __future__ import annotations

import platform
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from clew import __version__
from clew.config import Settings, config_path, examine, store_url
from clew.connect import CLIENTS, Client, current
from clew.connect.reach import Reached
from clew.errors import ClewError, StoreMissing
from clew.store.url import open_store

Level: TypeAlias = Literal["ok", "note", "problem"]

_GATEWAY = ("aiohttp", "uvicorn")
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - read, not listened on
_PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `do` says what to do; it is empty where nothing need be done."""

    area: str
    level: Level
    says: str
    do: str = ""


@dataclass(frozen=True, slots=True)
class Probes:
    """The looks outside that an examination takes, so that a test can answer them."""

    reach: Callable[[str], Reached]
    connects: Callable[[str], str]  # "" where the address of a URL can be connected to, else why not
    which: Callable[[str], str | None]
    version: Callable[[str], str]  # of a package, "" where it isn't installed


def gateway_url(settings: Settings) -> str:
    """Where clients of this machine find the gateway."""
    host = _ANYWHERE.get(settings.serve.host, settings.serve.host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{settings.serve.port}"


def findings(env: Mapping[str, str], probes: Probes) -> Iterator[Finding]:
    """Everything, in an order in which the first problem explains later ones."""
    yield from _versions(probes)
    try:
        loaded = examine(env=env)
    except ClewError as e:
        yield Finding("settings", "problem", e.message, e.hint or "repair the file: clew config validate")
        return
    place = str(loaded.source) if loaded.source else f"the defaults hold ({config_path(env)} isn't there)"
    for p in loaded.problems:
        yield Finding("settings", "problem", str(p), "clew config validate")
    for n in loaded.notes:
        yield Finding("settings", "note", str(n), "clew config show")
    if not loaded.problems:
        yield Finding("settings", "ok", place)
    url = gateway_url(loaded.settings)
    there = probes.reach(url)
    yield _port(url, there)
    for client in CLIENTS.values():
        yield from _client(client, url, there, env, probes)
    yield _store(loaded.settings, env)
    yield from _upstreams(loaded.settings, probes)


def _versions(probes: Probes) -> Iterator[Finding]:
    parts = [f"Clew {__version__}", f"Python {platform.python_version()}"]
    missing = [name for name in _GATEWAY if not probes.version(name)]
    parts += [f"{name} {probes.version(name)}" for name in _GATEWAY if name not in missing]
    yield Finding("versions", "ok", ", ".join(parts))
    if missing:
        yield Finding("versions", "problem", f"the gateway needs {', '.join(missing)}", "pip install 'clew[gateway]'")


def _port(url: str, there: Reached) -> Finding:
    match there.kind:
        case "clew" if there.version and there.version != __version__:
            says = f"the gateway at {url} is Clew {there.version}, this is {__version__}"
            return Finding("gateway", "note", says, "start it again")
        case "clew":
            return Finding("gateway", "ok", f"Clew answers at {url}")
        case "other":
            says = f"something else answers at {url}"
            return Finding("gateway", "problem", says, "clew config set serve.port PORT, and connect the clients again")
        case "nothing":
            return Finding("gateway", "note", f"nothing answers at {url}", "clew serve, or clew service install")


def _client(client: Client, url: str, there: Reached, env: Mapping[str, str], probes: Probes) -> Iterator[Finding]:
    area, path = f"client {client.name}", client.path(env)
    try:
        text = current(client, env)
        bases, notes = client.bases(text), client.notes(text)
    except ClewError as e:
        yield Finding(area, "problem", e.message if str(path) in e.message else f"{path}: {e.message}", e.hint)
        return
    found = probes.which(client.program)
    ours = [b for b in bases if _same_place(b, url)]
    stray = [b for b in bases if b not in ours and _is_here(b)]
    if ours and there.kind != "clew":
        yield Finding(
            area, "problem", f"{client.title} is connected, but no gateway answers at {url}",
            f"clew serve; or clew connect {client.name} --undo",
        )  # fmt: skip
    elif ours:
        yield Finding(area, "ok", f"{client.title} is connected to {url}")
    elif stray:
        yield Finding(
            area, "note", f"{client.title} uses {stray[0]}, and the gateway's address is {url}",
            f"clew connect {client.name}, if that was meant",
        )  # fmt: skip
    elif found:
        yield Finding(area, "ok", f"{client.title} is installed and not connected")
    for note in notes:
        yield Finding(area, "note", f"{client.title}: {note}", f"see {path}")


def _store(settings: Settings, env: Mapping[str, str]) -> Finding:
    url = store_url(settings, env)
    shown = url.split("?")[0] if "@" not in url else url.split("://")[0] + "://…"
    try:
        store = open_store(url, read_only=True)
        try:
            some = bool(store.sessions(limit=1))
        finally:
            store.close()
    except StoreMissing:
        return Finding("store", "ok", f"{shown} will be made at the first use")
    except ClewError as e:
        return Finding("store", "problem", f"{shown}: {e.message}", e.hint or "clew store check")
    return Finding("store", "ok", f"{shown} can be read" + ("" if some else "; it holds nothing yet"))


def _upstreams(settings: Settings, probes: Probes) -> Iterator[Finding]:
    if not settings.serve.upstreams:
        yield Finding(
            "upstreams", "ok", "none are named: Anthropic, OpenAI and OpenRouter are told by the request's key"
        )
    for name, url in sorted(settings.serve.upstreams.items()):
        where = urlsplit(url)
        shown = f"{name} ({where.scheme}://{where.netloc.rpartition('@')[2]})"
        why = probes.connects(url)
        if why:
            yield Finding(
                "upstreams", "problem", f"{shown} can't be reached: {why}", "check serve.upstreams and the network"
            )
        else:
            yield Finding("upstreams", "ok", f"{shown} can be reached")


def _same_place(a: str, b: str) -> bool:
    """Whether two URLs name one host and port, however this machine is spelled."""
    return _place(a) == _place(b) and _place(a) is not None


def _is_here(url: str) -> bool:
    place = _place(url)
    return place is not None and place[0] == "here"


def _place(url: str) -> tuple[str, int | None] | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    return ("here" if host in ("localhost", "127.0.0.1", "::1") else host, port)


# --- the looks outside, as they really are


def connects(url: str) -> str:
    """Whether a connection can be made to the host of a URL; nothing is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE).close()
    except (OSError, ValueError) as e:
        return str(e) or type(e).__name__
    return ""


def version(package: str) -> str:
    """The installed version of a package; "" where it isn't installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
