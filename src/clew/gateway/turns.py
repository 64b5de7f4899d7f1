"""A model call on its way out: its conversation found, what is new stored, the view put in place of its messages."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from weakref import WeakValueDictionary

from clew.config import Settings
from clew.engine.values import Epoch
from clew.errors import Conflict, StoreError, WindowTooSmall
from clew.gateway import hygiene, reading
from clew.gateway.align import Alignment
from clew.gateway.asgi import Call
from clew.gateway.conversation import Conversation
from clew.gateway.counts import Counts
from clew.gateway.family import Family, Shape, shape_of
from clew.gateway.identity import Identity, bucket, identify
from clew.gateway.late import Late, Passed
from clew.gateway.models import Models
from clew.gateway.overflow import Learned, Overflow
from clew.gateway.prompt_cache import Answered, PromptCache
from clew.gateway.recall_tool import Join, Said, mark_of, offered, unfit, why_not
from clew.gateway.recall_tool.answers import DOWN, answers, in_messages
from clew.gateway.routes import Route
from clew.gateway.spare import Spare
from clew.store import Store
from clew.transcript import Message
from clew.wire import Request, get
from clew.wire.usage import Usage

logger = logging.getLogger("clew.gateway")
_FAMILIES = 128
_BUCKETS = 128
_REMEMBERED = 6  # requests of one bucket: a client's agents take turns
_RETRY_STORE = 5.0  # seconds that a store which is down is left alone
_MILLION = "context-1m"  # Anthropic's beta header that opens the long window
_LONG = 1_000_000
_FAR_OFF = 4  # a reported prompt so many times smaller than what we count isn't believed
_SHRINK = 0.8  # of what was refused as too long: what is sent next at most


@dataclass(slots=True)
class Turn:
    """One model call. `came` is the client's request; `request` the same as the upstream knows the conversation (with
    recall as a tool, more messages and tools); `shown` is that with the view in place of its messages, `body` the bytes
    of it, and `edited` whether they differ from the client's. `epochs` is how many there had been then. With recall as a
    tool, `asked` are the client's messages, and `heard` those that the turn added and the client won't get as they are.
    """

    body: bytes
    edited: bool
    came: Request
    request: Request
    shown: Request
    route: Route
    family: Family
    conversation: Conversation
    places: Alignment
    shape: Shape
    epochs: int = 0
    asked: tuple[Message, ...] | None = None
    heard: list[Message] = field(default_factory=list)


class Turns:
    """Makes turns of calls. Its methods block and are called from worker threads; usable from several at once."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        counts: Counts,
        learned: Learned,
        clock: Callable[[], float] = time.time,
        spare: Spare | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._counts = counts
        self._learned = learned
        self._clock = clock
        self._models = Models(settings)
        self.prompt_cache = PromptCache(settings, self._models, clock)
        self.spare = spare or Spare()
        self._lock = threading.Lock()
        self._families: OrderedDict[tuple[str, str], Family] = OrderedDict()
        # One handle to a tenant's store for all of its conversations: writers of one handle queue, those of several
        # handles find the file busy and wait longer than they must.
        self._stores: WeakValueDictionary[str, Store] = WeakValueDictionary()
        self._before: OrderedDict[str, deque[Request]] = OrderedDict()
        # What clients call conversations whose requests have tools.
        self._tooled: OrderedDict[str, None] = OrderedDict()
        self._store_until = 0.0
        self._late = Late()

    def begin(self, call: Call, route: Route, plain: bytes) -> Turn | None:
        """The turn that a call is; None where it is none of a conversation, or where nothing can be done for it.

        Raises WireError or TooLarge for a body that isn't of the wire's format.
        """
        request = reading.read(plain, route.wire, self._previous(call, route, plain))
        self._remember(call, route, request)
        who = identify(call, request)
        if who.kind != "turn" or self._aside(who, request):
            self._counts.add(f"passed: {who.kind if who.kind != 'turn' else 'side'}")
            return None
        return self._turn(who, call, request, route)

    def harder(self, turn: Turn, told: Overflow) -> bool:
        """After the upstream refused it as too long: a shorter body. False where nothing more can go."""
        with turn.family.lock:
            live = turn.conversation.live
            sent = live.used
            if told.asked > sent:
                live.report({"prompt_tokens": told.asked, "completion_tokens": 0})
            if told.limit and told.limit < turn.shape.window:
                self._learned.learn(turn.route.upstream, turn.request.model, told.limit)
                shape = shape_of(turn.request, self._settings, self._models.get(turn.request.model), window=told.limit)
                if shape is None:
                    return False
                turn.shape = shape
                turn.conversation = turn.family.reopened(turn.conversation, shape)
                live = turn.conversation.live
                self._view(turn.conversation)
            if live.used > _SHRINK * sent and not isinstance(live.make_fit(), Epoch):
                return False
            self._view(turn.conversation)
            self._render(turn)
            return True

    def report(self, turn: Turn, usage: Usage) -> None:
        """What the upstream said the turn used, where that can be true."""
        if usage.prompt <= 0:
            return
        if not _credible(turn, usage):
            self._counts.add("usage not believed")
            return
        session = turn.conversation.live.session_id
        done = Answered((turn.family.tenant, session), turn.shown, turn.request, turn.epochs)
        try:
            with turn.family.lock:
                if self._settings.serve.mode != "observe":
                    told = {"prompt_tokens": usage.prompt, "completion_tokens": usage.output}
                    turn.conversation.live.report(told)
                    self.spare.later((turn.family.tenant, session), turn.conversation.live.rest)
                turn.family.add_usage(session, turn.request.model, self.prompt_cache.answered(done, usage))
        except StoreError:
            self._counts.add("store down")

    def recalled(self, turn: Turn, said: Said, *, used_up: bool) -> None:
        """The turn goes on behind what the upstream said and the results of the gateway's calls in it."""
        with turn.family.lock:
            try:
                heard = [*said.messages, *self._answers(turn, said, used_up=used_up)]
                turn.request = turn.request.replace(messages=[*turn.request.messages, *heard])
                turn.conversation, turn.places = turn.family.find(turn.request, turn.shape)
                turn.conversation.take(turn.conversation.new(turn.request, turn.places))
                self._view(turn.conversation)
                self._render(turn)
            except StoreError:
                self._counts.add("store down")
                heard = [*said.messages, *in_messages([(c, DOWN) for c in said.calls], turn.route.wire)]
                turn.shown = turn.shown.replace(messages=[*turn.shown.messages, *heard])
                turn.body, turn.edited = get(turn.route.wire).render_bytes(turn.shown), True
            turn.heard += heard

    def settle(self, turn: Turn, join: Join, said: Said) -> None:
        """Keeps what the client's answer stands for, so that its next request is understood, here or elsewhere."""
        asked = turn.asked or ()
        mark = mark_of(join.given(), asked[-1] if asked else None)
        if mark is None or not said.messages or not (turn.heard or said.calls):
            return
        with turn.family.lock:
            try:
                results = self._answers(turn, said, used_up=join.last)
            except StoreError:
                results = in_messages([(c, DOWN) for c in said.calls], turn.route.wire)
            try:
                kept = turn.family.kept(turn.route.wire)
                kept.add(mark, asked, [*turn.heard, *said.messages], results)
            except StoreError:
                self._counts.add("store down")

    def close(self) -> None:
        """Lets go of everything; what was stored stays."""
        self._store_until = 0.0
        while self._keep_late():
            pass
        self.spare.close()
        with self._lock:
            families = list(self._families.values())
            self._families.clear()
        for family in families:
            with family.lock:
                family.close()

    @property
    def store_is_down(self) -> bool:
        return time.monotonic() < self._store_until

    # -- inside

    def _aside(self, who: Identity, request: Request) -> bool:
        """Whether it is something that a client with tools asks beside its conversation: under the same name, without any,
        and with nothing said yet.
        """
        if not who.said:
            return False
        with self._lock:
            if request.tools:
                self._tooled[who.said] = None
                self._tooled.move_to_end(who.said)
                if len(self._tooled) > _BUCKETS:
                    self._tooled.popitem(last=False)
                return False
            known = who.said in self._tooled
        return known and all(m.role in ("system", "developer", "user") for m in request.messages)

    def _turn(self, who: Identity, call: Call, request: Request, route: Route) -> Turn | None:
        late = None if route.counts else Passed(who, call, route, replace(request, raw=None), len(request.raw or b""))
        if self.store_is_down:
            self._counts.add("passed: store down")
            self._put_off(late)
            return None
        family = self._family(who)
        with family.lock:
            try:
                try:
                    turn = self._stood(family, call, route, request)
                except Conflict:
                    # Another worker went on with this conversation between our look and our word: look again.
                    family.close()
                    turn = self._stood(family, call, route, request)
            except StoreError as e:
                if isinstance(e, Conflict):
                    self._counts.add("passed: another worker was faster")
                else:
                    self._gone_down(e)
                    self._put_off(late)
                with self._lock:
                    self._families.pop((who.tenant, who.name), None)
                family.close()
                return None
            if turn is None:
                self._counts.add("passed: no room beside system and tools")
            elif self._settings.serve.mode == "observe":
                self._observed(turn)
            else:
                self._render(turn)
        self._come_back()
        if self._late:
            self._late.drop(who)
            self.spare.later("late", self._keep_late)
        return turn

    def _gone_down(self, error: StoreError) -> None:
        """Told once, not for each request that passes."""
        if not self._store_until:
            logger.warning("the store is down, so requests pass as they come: %s", error.message)
        self._store_until = time.monotonic() + _RETRY_STORE
        self._counts.add("passed: store down")

    def _come_back(self) -> None:
        if self._store_until:
            self._store_until = 0.0
            logger.warning("the store is up again")

    def _put_off(self, late: Passed | None) -> None:
        if late is not None:
            self._late.add(late)

    def _keep_late(self) -> bool:
        """Stores one of those that passed while the store was down; whether there are more, and it isn't down again."""
        late = self._late.take()
        if late is None:
            return False
        if self._turn(late.who, late.call, late.request, late.route) is not None:
            self._counts.add("stored later")
        return bool(self._late) and not self.store_is_down

    def _stood(self, family: Family, call: Call, route: Route, came: Request) -> Turn | None:
        """The turn with its conversation found and what is new of it stored; None where there is no room for any."""
        request, tooled = self._with_tools(family, call, route, came)
        window = self._learned.window(route.upstream, request.model)
        if not window and _MILLION in call.header("anthropic-beta"):
            window = _LONG
        shape = shape_of(request, self._settings, self._models.get(request.model), window=window)
        if shape is None:
            return None
        conversation, places = family.find(request, shape)
        turn = Turn(request.raw or b"", False, came, request, request, route, family, conversation, places, shape)
        turn.asked = came.messages if tooled else None
        if not route.counts:
            conversation.take(conversation.new(request, places))
            self._view(conversation)
        return turn

    def _with_tools(self, family: Family, call: Call, route: Route, request: Request) -> tuple[Request, bool]:
        """The request as the upstream knows the conversation, with recall among its tools where it began so; and whether
        it has them.
        """
        serve = self._settings.serve
        if serve.mode == "observe":
            return request, False
        kept = family.kept(request.wire)
        has = kept.known()
        if has is None and serve.recall == "tool":
            why = why_not(call, route, request)
            has = not why and kept.begin(request.model)
            self._counts.add(f"recall tool off: {why}" if why else "recall tool on")
        family.tooled = bool(has)
        if not has:
            return request, False
        request = kept.restored(request)
        if why := unfit(request):
            self._counts.add(f"recall tool left out once: {why}")
            return request, False
        return offered(request), True

    def _answers(self, turn: Turn, said: Said, *, used_up: bool) -> list[Message]:
        live = turn.conversation.live
        self._counts.add("recall tool calls", len(said.calls))
        return answers(live, said.calls, turn.route.wire, most=live.window // 2, used_up=used_up)

    def _view(self, conversation: Conversation) -> None:
        """Whatever has to be done before the view is sent."""
        live = conversation.live
        live.wait_for_summary(self._settings.serve.summary_wait)
        before = len(live.epochs)
        try:
            live.view_messages()
        except WindowTooSmall:
            self._counts.add("view larger than the window")  # the upstream has the last word
        hygiene.look(conversation, self._settings.compression, self._counts)
        self._counts.add("epochs", len(live.epochs) - before)

    def _render(self, turn: Turn) -> None:
        live = turn.conversation.live
        shown = turn.conversation.render(turn.request, turn.places)
        shown = self.prompt_cache.marked(shown, turn.route, turn.family.name, live.handoff)
        turn.shown, turn.epochs = shown, len(live.epochs)
        turn.edited = shown is not turn.came
        turn.body = get(shown.wire).render_bytes(shown)

    def _observed(self, turn: Turn) -> None:
        """Nothing is changed; what would have been saved is counted."""
        shown = turn.conversation.render(turn.request, turn.places)
        saved = sum(len(m.raw) for m in turn.request.messages) - sum(len(m.raw) for m in shown.messages)
        self._counts.add("observed: bytes that would not have been sent", max(0, saved))

    def _family(self, who: Identity) -> Family:
        with self._lock:
            family = self._families.get((who.tenant, who.name))
            if family is None:
                store = self._stores.get(who.tenant) or self._store.for_tenant(who.tenant)
                self._stores[who.tenant] = store
                family = self._families[who.tenant, who.name] = Family(who, store, self._settings, self._clock)
            self._families.move_to_end((who.tenant, who.name))
            over = [self._families.popitem(last=False)[1] for _ in range(len(self._families) - _FAMILIES)]
        for old in over:
            with old.lock:
                old.close()
        return family

    def _previous(self, call: Call, route: Route, plain: bytes) -> Request | None:
        """The request that this one most likely grew out of."""
        with self._lock:
            known = list(self._before.get(bucket(call, route.wire), ()))
        for request in reversed(known):
            if request.messages and plain.find(request.messages[min(1, len(request.messages) - 1)].raw) >= 0:
                return request
        return known[-1] if known else None

    def _remember(self, call: Call, route: Route, request: Request) -> None:
        key = bucket(call, route.wire)
        with self._lock:
            known = self._before.setdefault(key, deque(maxlen=_REMEMBERED))
            first = request.messages[:1]
            for old in [r for r in known if r.messages[:1] and first and r.messages[0] is first[0]]:
                known.remove(old)
            known.append(replace(request, raw=None))
            self._before.move_to_end(key)
            while len(self._before) > _BUCKETS:
                self._before.popitem(last=False)


def _credible(turn: Turn, usage: Usage) -> bool:
    """No request has more tokens than bytes, unless it names files, and then they fit the window; and none has a small
    part of what it counts to, unless its client leaves out much of what the log holds.
    """
    live = turn.conversation.live
    less = bool(turn.places.dropped or turn.places.cleared)
    return (less or live.counted <= _FAR_OFF * usage.prompt) and usage.prompt <= max(len(turn.body), 2 * live.window)
