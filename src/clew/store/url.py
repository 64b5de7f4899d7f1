"""From a URL to a store."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qs, unquote

from clew.errors import ConfigError, StoreMissing
from clew.store.base import Store
from clew.store.memory import MemoryStore
from clew.store.records import Repaired

Later: TypeAlias = Callable[[Hashable, Callable[[], bool]], None]


def open_store(
    url: str,
    *,
    tenant: str = "",
    clock: Callable[[], float] = time.time,
    read_only: bool = False,
    synchronous: str = "",
    later: Later | None = None,
) -> Store:
    """`memory:`, `memory://name`, `sqlite:///path` or a bare path. `synchronous="full"`, or `?synchronous=full` in the
    URL, makes SQLite outlive power loss. `later` is given what need not be done at once: a key, and a function to be
    called for as long as it says that there is more; without it, an append now and then takes longer.

    Nothing is opened, made or checked before the first use.
    """
    if url == "memory:":
        return MemoryStore(tenant=tenant, clock=clock)
    scheme, rest = url.split("://", 1) if "://" in url else ("sqlite", "/" + url)
    if scheme == "memory":
        return MemoryStore(rest.strip("/"), tenant=tenant, clock=clock)
    if scheme == "sqlite":
        # Here, not above: `import clew` and the memory store must not load SQLite.
        from clew.store.sqlite.backend import SqliteStore
        from clew.store.sqlite.connect import Settings

        path, options = _path(url, rest)
        full = "full" in (options, synchronous.lower())
        return SqliteStore(path, tenant=tenant, clock=clock, settings=Settings(full, read_only, later))
    raise ConfigError(f"no store is known for {scheme}://", hint="memory://, sqlite:///path, or a path")


def repair_store(url: str, *, tenant: str = "", clock: Callable[[], float] = time.time) -> Repaired:
    """Reads what can be read of a damaged store into a new one and sets the damaged one aside. Nothing else may use it."""
    from clew.store.sqlite.backend import SqliteStore
    from clew.store.sqlite.repair import repair

    store = open_store(url, tenant=tenant, clock=clock)
    if not isinstance(store, SqliteStore):
        raise ConfigError(f"{url} is no file that could be repaired", hint="only SQLite stores can")
    if not store.path.exists():
        raise StoreMissing(f"there is no store at {store.path}", hint="check the path")
    done = repair(store.path, time.strftime("%Y%m%dT%H%M%S", time.gmtime(clock())))
    store.reindex()
    store.close()
    return done


def _path(url: str, rest: str) -> tuple[Path, str]:
    """The file, and the value of `synchronous`. A bare path is taken as it is, question marks and all."""
    if "://" not in url:
        return Path(url).expanduser().absolute(), ""
    spelled, _, query = rest.partition("?")
    options = parse_qs(query, keep_blank_values=True)
    unknown = options.keys() - {"synchronous"}
    if unknown or not spelled.startswith("/"):
        raise ConfigError(
            f"{url!r} isn't understood", hint="sqlite:///relative.sqlite, sqlite:////absolute.sqlite or a path"
        )
    mode = options.get("synchronous", ["normal"])[0].lower()
    if mode not in ("normal", "full"):
        raise ConfigError(f"synchronous={mode} isn't known", hint="normal or full")
    path = unquote(spelled)[1:]
    if not path:
        raise ConfigError(f"{url!r} names no file", hint="sqlite:///path/to/clew.sqlite")
    return Path(path).expanduser().absolute(), mode
