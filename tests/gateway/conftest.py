"""A gateway on loopback with a scripted upstream behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from clew.config import Settings
from clew.config.loader import from_mapping
from clew.gateway.serving import Serving
from clew.store import Store, open_store
from clew.testing.upstream import running
from tests.gateway.raw import RawUpstream, ok


def settings(url: str, **changes: Any) -> Settings:
    """A gateway's settings in front of one upstream."""
    return from_mapping({"serve": {"port": 0, "upstreams": {"up": url}}} | changes).settings


@pytest.fixture(scope="module")
def passing() -> Iterator[tuple[RawUpstream, Serving]]:
    """One upstream for the tests of a file, whose answers each test sets with `up.plays`, and one gateway before it."""
    with running(RawUpstream(ok())) as up, running(Serving(settings(up.url), open_store("memory:"))) as gateway:
        yield up, gateway


@pytest.fixture
def serve() -> Iterator[Callable[..., Serving]]:
    """Starts gateways: `serve(upstream_url, store=…, **settings)`."""
    with ExitStack() as stack:

        def start(url: str, store: Store | None = None, **changes: Mapping[str, Any]) -> Serving:
            made = store if store is not None else open_store("memory:")
            return stack.enter_context(running(Serving(settings(url, **changes), made)))

        yield start
