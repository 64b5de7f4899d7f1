"""Real agents through `clew record` against the scripted upstream: they work, and their traffic is what the docs say.

`CLEW_WRITE_TRAFFIC=1` writes the fixtures of `tests/data/traffic` anew. Without Node it says so, and fails in CI.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew import jsonio
from clew.record import Exchange, elided, read, write
from clew.record.habits import habits
from clew.record.relay import Relay
from clew.testing.clients import CLIENTS, Client, Done, NoNode, Place
from clew.testing.upstream import Errand, Record, Upstream, running
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
FIXTURES = ROOT / "tests" / "data" / "traffic"


@dataclass(frozen=True, slots=True)
class Story:
    """One client's runs: a loop of calls, a second prompt in the same session, and a compaction of its own."""

    client: Client
    place: Place
    runs: tuple[Done, ...]
    records: tuple[Record, ...]
    traffic: tuple[Exchange, ...]


def play(client: Client, folder: Path) -> Story:
    tape = folder / "traffic.jsonl"
    upstream = Upstream(Errand(think=True))
    with running(upstream), running(Relay(upstream.url, tape)) as relay:
        place = Place.at(folder, relay.url)
        runs = [client.run("errand:alpha steps=10 parallel=2", place)]
        (place.work / "notes.txt").write_text("something changed between two runs\n")
        runs.append(client.run("errand:gamma steps=4 delegate=beta substeps=3", place, resume=True))
        if client.compact:
            runs.append(client.run(client.compact, place, resume=True))
        else:
            small = Place(place.home, place.work, place.url, window=WINDOWS[client.name])
            runs.append(client.run("errand:delta steps=12 parallel=3", small, resume=True))
        runs.append(client.run("errand:epsilon steps=3", place, resume=True))
    return Story(client, place, tuple(runs), tuple(upstream.records), tuple(scrubbed(tape, folder)))


WINDOWS = {"codex": 24_000, "opencode": 20_000, "pi": 16_000}  # each is passed in the third run


def scrubbed(tape: Path, folder: Path) -> Iterator[Exchange]:
    """The recording without this machine's folders."""
    text = tape.read_text().replace(str(folder / "shop"), "/work/shop").replace(str(folder / "home"), "/home/user")
    tape.write_text(text.replace(str(folder), "/work"))
    return read(tape)


@pytest.fixture(scope="module", params=CLIENTS, ids=lambda c: c.name)
def story(request, tmp_path_factory) -> Story:
    try:
        told = play(request.param, tmp_path_factory.mktemp(request.param.name))
    except NoNode as e:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"LEFT OUT: {e}")
    if os.environ.get("CLEW_WRITE_TRAFFIC") == "1":
        FIXTURES.mkdir(parents=True, exist_ok=True)
        write(FIXTURES / f"{request.param.name}.jsonl.zst", (elided(e, longest=240, shown=90) for e in told.traffic))
    return told


def test_the_client_does_its_work(story):
    for done in story.runs:
        assert done.code == 0, done.errors[-2000:]
    names = ("alpha", "gamma", None if story.client.compact else "delta", "epsilon")
    for done, name in zip(story.runs, names, strict=True):
        if name and not (story.client.name == "pi" and name == "delta"):
            assert f"done: {story.place.value(name)}" in done.said, done
    if story.client.name == "pi":  # it prints nothing where it compacts after its answer
        assert any(f"done: {story.place.value('delta')}".encode() in jsonio.dumps(e.value()) for e in story.traffic)


def test_no_request_was_refused(story):
    assert [(r.path, r.status, r.why) for r in story.records if r.status >= 400] == []


def test_the_relay_changed_nothing(story):
    """What the upstream got is what was recorded of what the client sent."""
    sent = [e for e in story.traffic if e.method == "POST"]
    got = [r for r in story.records if r.method == "POST"]
    assert len(sent) == len(got) >= 16
    for e, r in zip(sent, got, strict=True):
        assert len(r.raw) == int(e.header("content-length"))
        shape = jsonio.loads(r.raw)
        assert list(shape) == list(e.body)
        assert len(shape.get("messages") or shape.get("input")) == len(e.body.get("messages") or e.body.get("input"))


def test_it_changes_nothing_that_the_page_does_not_name(story):
    """A new version of a client with a new habit fails here; the page and the gateway's rules are then due."""
    page = (ROOT / "docs" / "explanation" / "what-clients-send.md").read_text()
    for h in habits(story.traffic):
        assert f"| {story.client.name} | `{h.where}` | {h.what} |" in page


def test_no_key_is_in_the_recording(story):
    lines = b"".join(jsonio.dumps(e.value()) for e in story.traffic)
    assert b"loopback-only" not in lines


def test_every_exchange_was_recorded_to_its_end(story):
    cut = [(e.n, e.path, e.status, e.cut, e.notes, e.events[-2:]) for e in story.traffic if e.cut or e.status != 200]
    assert cut == []
