"""The generated session through the gateway, for real: HTTP, streams, a scripted provider that counts and caches."""

from __future__ import annotations

import time
from collections.abc import Callable

from clew.catalog import Model, lookup
from clew.config import from_mapping
from clew.demo.player import Player, tale
from clew.demo.row import Played, Row, Way
from clew.demo.whole import Whole
from clew.economics import Reason
from clew.economics.bill import Why, bill
from clew.gateway.serving import Serving
from clew.store import open_store
from clew.testing.session import Session
from clew.testing.upstream import Upstream, running
from clew.wire.usage import Usage

_SAID: Reason = "warm"  # of a bill whose split the provider reported


def play(session: Session, way: Way, seen: Callable[[Row], None] = lambda _: None) -> Played:
    """Starts upstream and gateway on loopback and plays the session; `seen` gets every request's figures at once."""
    story, known = tale(session, way), lookup(way.model)
    whole = Whole(known, story.tools, story.system)
    upstream = Upstream(story.policy(), window=way.window)
    began = time.monotonic()
    rows: list[Row] = []
    with running(upstream):
        given = {
            "serve": {"port": 0, "upstreams": {"scripted": upstream.url}},
            "models": {way.model: {"window": way.window}},
        }
        with running(Serving(from_mapping(given).settings, open_store("memory:"))) as gateway:
            agent = Player(story, gateway.url)
            heard, turn = 0, 0
            for n in story.replies:
                fresh = story.messages[heard:n]
                turn += sum(m.is_user_turn for m in fresh)
                agent.hear(fresh)
                whole.add(fresh)
                used = agent.speak(story.messages[n])
                everything = whole.bill(used.output, time.monotonic())
                last = rows[-1] if rows else None
                row = Row(
                    request=len(rows) + 1,
                    turn=turn,
                    whole=everything.input,
                    sent=used.prompt,
                    read=used.cache_read,
                    written=used.cache_write,
                    uncached=used.input,
                    epochs=gateway.gateway.counts.all().get("epochs", 0),
                    cost=_cost(known, used) + (last.cost if last else 0.0),
                    whole_cost=everything.cost + (last.whole_cost if last else 0.0),
                )
                rows.append(row)
                seen(row)
                whole.add(story.messages[n : n + 1])
                heard = n + 1
            agent.close()
    return Played(way, tuple(rows), len(upstream.refused), agent.same, time.monotonic() - began)


def _cost(model: Model, used: Usage) -> float:
    return bill(
        model, used.prompt, used.cache_read, used.cache_write_5m, used.cache_write_1h, used.output, Why(_SAID)
    ).cost
