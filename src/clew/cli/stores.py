"""Which store a command means: `--store`, else what is configured."""

from __future__ import annotations

import typer

from clew.config import load, store_url
from clew.store.base import Store
from clew.store.url import open_store

STORE = typer.Option(None, "--store", "-s", help="URL or path; default: what is configured.")
TENANT = typer.Option("", "--tenant", help="Whose history; default: the one without a name.")


def url_of(store: str | None) -> str:
    return store or store_url(load().settings)


def opened(store: str | None, tenant: str = "") -> Store:
    settings = load().settings
    return open_store(store or store_url(settings), tenant=tenant, synchronous=settings.store.synchronous)
