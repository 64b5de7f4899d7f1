"""Which store a command means: `--store`, else what is configured."""

from __future__ import annotations

import typer

from clew.config import load, store_url
from clew.errors import StoreMissing
from clew.store.base import Store
from clew.store.url import open_store

STORE = typer.Option(None, "--store", "-s", help="URL or path; default: what is configured.")
TENANT = typer.Option("", "--tenant", help="Whose history; default: the one without a name.")
JSON = typer.Option(False, "--json", help="JSON on standard output.")


def url_of(store: str | None) -> str:
    return store or store_url(load().settings)


def opened(store: str | None, tenant: str = "") -> Store:
    """The store that is meant; where there is none, it is made when something is put into it."""
    settings = load().settings
    return open_store(store or store_url(settings), tenant=tenant, synchronous=settings.store.synchronous)


def existing(store: str | None, tenant: str = "") -> Store:
    """The store that is meant. Looking for something doesn't make one."""
    handle = opened(store, tenant)
    path = getattr(handle, "path", None)
    if path is not None and not path.exists():
        whose = f" for tenant {tenant!r}" if tenant else ""
        raise StoreMissing(
            f"nothing is stored yet at {url_of(store)}{whose}",
            hint="`clew serve` or `clew sessions import` fills it; --store names another",
        )
    return handle
