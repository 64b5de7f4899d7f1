"""The two backends do the same, whatever is asked of them in whatever order."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from clew import transcript
from clew.errors import ClewError
from clew.store import NewSession, Store, open_store
from clew.store.query import Query, Scope, Term, TermKind
from clew.store.records import Epoch, Original
from clew.testing.builders import Clock, message, user

WORDS = st.sampled_from(["alpha", "beta_gamma", "a/b.py", "naïve", "重启服务", "x" * 300, "same"])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join) | st.text(max_size=12)


class Backends(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        path = Path(self.folder.name, "p.sqlite")
        self.stores: list[Store] = [open_store("memory://", clock=self.clock), open_store(str(path), clock=self.clock)]
        self.made = 0

    def teardown(self) -> None:
        self.stores[1].close()
        self.folder.cleanup()

    def both(self, act):
        """The same result, or the same error with the same words."""
        out = []
        for store in self.stores:
            try:
                out.append(act(store))
            except ClewError as e:
                out.append((type(e), str(e).replace(str(store.url), "")))
        assert out[0] == out[1]
        return out[0]

    @initialize(target=sessions)
    def begin(self):
        self.both(lambda s: s.create(NewSession("s0")))
        self.both(lambda s: s.append("s0", [user(f"first {n}") for n in range(6)], at=0))
        return "s0"

    @rule(target=sessions, source=st.sampled_from(["cli", "subagent"]), title=TEXTS)
    def create(self, source, title):
        self.made += 1
        self.both(lambda s: s.create(NewSession(f"s{self.made}", source, title=title)))
        return f"s{self.made}"

    @rule(
        target=sessions,
        parent=sessions,
        back=st.integers(-1, 5),
        kind=st.sampled_from(["branch", "branch", "compression"]),
    )
    def fork(self, parent, back, kind):
        """Shares all but the last few messages; with `back` -1 one more than there are."""
        lengths = {s.id: s.length for s in self.stores[0].sessions()}
        shared = max(0, lengths.get(parent, 0) - back)
        self.made += 1
        new = NewSession(f"s{self.made}", parent=parent, shared=shared, kind=kind)
        out = self.both(lambda s: s.create(new))
        return new.id if not isinstance(out, tuple) else multiple()

    @rule(session=sessions, texts=st.lists(TEXTS, min_size=1, max_size=5), back=st.integers(0, 3))
    def append(self, session, texts, back):
        def act(store):
            length = store.session(session).length
            return store.append(session, [user(t) for t in texts], at=max(0, length - back))

        self.both(act)

    @rule(session=sessions)
    def resend(self, session):
        self.both(lambda s: s.append(session, [m.message for m in s.messages(session)], at=0))

    @rule(session=sessions, end=st.booleans())
    def end_or_reopen(self, session, end):
        self.both(lambda s: s.end(session, "reset") if end else s.reopen(session))

    @rule(session=sessions, text=TEXTS)
    def original(self, session, text):
        address = transcript.text_address(text)
        self.both(lambda s: s.add_originals(session, [Original(address, text, position=0, part=0)]))
        self.both(lambda s: s.original(transcript.reference(address)))

    @rule(session=sessions, number=st.integers(1, 3), position=st.integers(0, 6), held=st.booleans())
    def epoch(self, session, number, position, held):
        def act(store):
            lease = store.acquire(session, "me", 10) if held else None
            return store.commit_epoch(
                session, Epoch(number, store.chain(session, position - 1), position, {"n": number}), lease
            )

        self.both(act)

    @rule(session=sessions, who=st.sampled_from(["me", "you"]), seconds=st.integers(1, 30))
    def lease(self, session, who, seconds):
        self.both(lambda s: s.acquire(session, who, seconds))

    @rule(seconds=st.integers(-3600, 60))
    def time_passes(self, seconds):
        self.clock.tick(seconds)

    @rule(session=sessions, at=st.integers(0, 9), keep=st.integers(0, 2))
    def state(self, session, at, keep):
        self.both(lambda s: s.put_state(session, "k", at, {"at": at}, keep=keep))

    @rule(names=st.lists(sessions, min_size=1, max_size=3), preview=st.booleans())
    def delete(self, names, preview):
        def act(store):
            freed = store.delete(names, preview=preview)
            return (freed.sessions, freed.messages, freed.contents, freed.originals)

        self.both(act)

    @rule(secret=st.sampled_from(["alpha", "naïve", "务"]))
    def purge(self, secret):
        self.both(lambda s: s.purge(secret, "***").total > 0)

    @rule(words=st.lists(WORDS, min_size=1, max_size=2), kind=st.sampled_from(TermKind), without=st.booleans())
    def find(self, words, kind, without):
        scope = Scope(without_sources=("subagent",) if without else (), newest=True)
        query = Query(tuple((Term(w, kind),) for w in words))
        self.both(lambda s: sorted((h.session, h.position, h.text, h.root) for h in s.find(query, scope, limit=500)))

    @rule()
    def vacuum(self):
        self.stores[1].vacuum()

    @invariant()
    def the_same_sessions(self):
        self.both(lambda s: s.sessions())
        self.both(lambda s: s.sessions(recent=True))

    @invariant()
    def sound(self):
        self.both(lambda s: list(s.check()))

    @invariant()
    def the_same_inside(self):
        for s in self.stores[0].sessions():
            self.both(
                lambda store, name=s.id: [
                    (m.position, m.address, m.chain, m.message.raw, m.time, m.owner, m.tool)
                    for m in store.messages(name)
                ]
            )
            self.both(lambda store, name=s.id: list(store.epochs(name)))
            for at in (None, 4):
                self.both(lambda store, name=s.id, at=at: store.get_state(name, "k", at=at))


TestBackends = Backends.TestCase
TestBackends.settings = settings(
    max_examples=30, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def test_messages_of_any_text_come_back(tmp_path):
    store = open_store(str(tmp_path / "t.sqlite"))
    odd = ["", "\x00", "\ud800", "\ue000\ue001", "a" * 100_000, "😀", "\r\n", '"; DROP TABLE messages; --']
    for n, text in enumerate(odd):
        store.create(NewSession(f"s{n}", title=text))
        m = message({"role": "user", "content": text})
        store.append(f"s{n}", [m], at=0)
        assert store.messages(f"s{n}")[0].message.raw == m.raw
        assert store.messages(f"s{n}")[0].message.text == m.text
    assert not store.check()
