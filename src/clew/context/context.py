"""`Context`: the object people use. It keeps the log, asks the engine, and does what the engine's effects ask."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from clew import catalog, jsonio
from clew import config as configuration
from clew.config import Settings
from clew.context import status
from clew.context import tools as recall_tools
from clew.context.drivers import adrive, drive
from clew.context.limits import carried, limits_of
from clew.context.log import Log
from clew.context.originals import Hit, Originals, find, part_text
from clew.context.persist import keeper
from clew.context.rendering import View, fold
from clew.context.repeats import Repeats
from clew.engine.events import (
    Appended,
    Asked,
    CallModel,
    Cancelled,
    Closing,
    Commit,
    Committed,
    CompactRequested,
    Effect,
    Event,
    Reported,
    Say,
    SummaryArrived,
    SummaryFailed,
    Undone,
)
from clew.engine.machine import apply, step
from clew.engine.plan import shown as rendered
from clew.engine.pressure import estimate
from clew.engine.values import Epoch, Phase, Refusal, State
from clew.errors import Closed, InputError, SummaryError, UnknownReference, WindowTooSmall
from clew.handoff.receipt import Receipt
from clew.handoff.template import SYSTEM_NOTE
from clew.jsonio import Json
from clew.ledger import Ledger
from clew.store import Store
from clew.strategies import Scene, on_arrival
from clew.strategies.base import Edit
from clew.strategies.dedupe import repeatable
from clew.summarise import Cancel, Summariser, from_spec, run
from clew.tokens import Counter
from clew.transcript import Message, Place, Span, ToolCall
from clew.wire import get
from clew.wire import usage as wire_usage
from clew.wire.usage import Usage

logger = logging.getLogger("clew")
_COMMAND = "clew recall REF"
_PAUSE, _PATIENCE = 0.1, 100  # seconds between two looks whether another process is done compacting, and how many looks
_BUSY = Refusal("the summary was given up, or another compaction is under way; nothing changed", "busy")


class Context:
    """One conversation that always fits its window. Safe to use from several threads."""

    def __init__(
        self,
        window: int | None = None,
        threshold: float | None = None,
        model: str | None = None,
        summarizer: Summariser | Callable[..., Json] | str | None = None,
        wire: str = "openai-chat",
        store: Store | str | None = None,
        session_id: str | None = None,
        tools: Sequence[Json] | None = None,
        system: Json | None = None,
        max_output: int | None = None,
        config: Settings | Mapping[str, Json] | str | Path | None = None,
        clock: Callable[[], float] | None = None,
        *,
        overhead: int = 0,
        recall: str = "",
        main_summarizer: Summariser | Callable[..., Json] | str | None = None,
        tenant: str = "",
        source: str = "library",
        prepare_ahead: float = 0.0,
    ) -> None:
        """A window of 200,000 tokens and a threshold of half of it, unless the model or the configuration says
        otherwise. `overhead` is what every request carries besides messages, system and tools. `recall` is "tool" where
        the request offers `tools()`, "command" where the agent has a shell, "" where originals can't be asked for.
        `prepare_ahead` is the share of the threshold from which on a model writes the next handoff in the background.
        """
        self._lock = threading.RLock()
        self._clock = clock or time.time
        self._wire = get(wire)
        settings = configuration.resolve(config)
        known = catalog.lookup(model, settings.models) if model else None
        counter = Counter.of(known) if known is not None else Counter("gpt-o200k")
        self._tools, self._system = jsonio.copy(list(tools or ())), jsonio.copy(system)
        self._sent = 0
        strict = known is not None and known.quirks.alternation and wire == "openai-chat"  # items are no turns
        self._log = Log(self._wire, counter, alternates=self._wire.alternates or strict)
        self._aux, self._main = from_spec(summarizer, settings), from_spec(main_summarizer or "main", settings)
        apart = system if self._wire.system_key else None
        limits = limits_of(
            settings,
            known,
            window=window,
            threshold=threshold,
            max_output=max_output,
            overhead=overhead + carried(counter, settings, self._tools, apart),
            recall={"tool": recall_tools.RECALL, "command": _COMMAND}.get(recall, recall),
            summariser=self._aux,
            main_differs=self._main is not None and self._main != self._aux,
            prepare_ahead=prepare_ahead,
        )
        self._state = State(limits)
        self._epochs: list[Epoch] = []
        self._arrival: dict[int, tuple[Edit, ...]] = {}
        self._originals, self._repeats, self._view = Originals(self._log), Repeats(), View()
        self._cancel: Cancel | None = None
        self._keeper = keeper(store, session_id, tenant=tenant, source=source, model=model or "", clock=self._clock)
        self._resume()
        if system is not None and apart is None and not len(self._log.transcript):
            self.append(self._wire.text_message("system", system).value)

    # -- what users call

    @property
    def session_id(self) -> str:
        return self._keeper.session

    def append(self, message: Json) -> None:
        """Take one wire message (or Responses item) in. The value is copied; it may be changed afterwards."""
        self.extend((message,))

    def extend(self, messages: Iterable[Json]) -> None:
        """Take many in; either all are of the wire's format, or none is taken."""
        read = [m if isinstance(m, Message) else self._wire.message(m) for m in messages]
        with self._lock:
            self._open()
            if read:
                self._keeper.append(read, len(self._log.transcript))
            for m in read:
                self._take(m)

    def view(self) -> list[dict[str, Json]]:
        """What to send now, compacted first if it must be. The list and its messages are the caller's own.

        Raises WindowTooSmall where what has to be shown doesn't fit, whatever is done.
        """
        return [m.value for m in self.view_messages()]

    async def aview(self) -> list[dict[str, Json]]:
        """The same, without blocking the event loop while a model writes."""
        return [m.value for m in await self.aview_messages()]

    def view_messages(self) -> tuple[Message, ...]:
        """The view as values, for callers that render it themselves, from the bytes that arrived."""
        for _ in range(_PATIENCE):
            if not self._must_wait(drive(self, self.step(Asked(self._log, self._clock(), self._date())))):
                break
            time.sleep(_PAUSE)
        return self._shown()

    async def aview_messages(self) -> tuple[Message, ...]:
        for _ in range(_PATIENCE):
            if not self._must_wait(await adrive(self, self.step(Asked(self._log, self._clock(), self._date())))):
                break
            await asyncio.sleep(_PAUSE)
        return self._shown()

    def request(self) -> dict[str, Json]:
        """The view as a request's members: messages (or input), tools, and the system prompt where it stands apart."""
        out: dict[str, Json] = {}
        messages = self.view()  # first: an epoch it makes may add a note to the system prompt
        if self._system is not None and self._wire.system_key:
            out[self._wire.system_key] = self._told()
        if self._tools:
            out["tools"] = jsonio.copy(self._tools)
        out[self._wire.messages_key] = messages
        return out

    def report(self, usage: Json) -> None:
        """What the provider said the last request cost: its usage object, or a body that holds one."""
        read = wire_usage.read(usage, self._wire.name)
        if read is None or read.prompt <= 0:
            return
        with self._lock:
            self._open()
            counted = self._sent or self._state.view_tokens
            self._apply(Reported(read.prompt, counted, self._clock()))
            self._keeper.counters(self._state)

    def compact(self, focus: str | None = None, force: bool = True) -> Epoch | Refusal:
        """Compact now. `focus` is what matters next; `force` goes past a pause after failures."""
        event = CompactRequested(self._log, self._clock(), self._date(), focus or "", force)
        return self._settled(drive(self, self.step(event))) or _BUSY

    def make_fit(self) -> Epoch | Refusal:
        """The provider said the request is too long: shorten harder, with whatever works now."""
        event = CompactRequested(self._log, self._clock(), self._date(), must_fit=True)
        return self._settled(drive(self, self.step(event))) or _BUSY

    def recall(self, ref: str, lines: str = "") -> str:
        """The original behind a reference, whole or by line range. Raises UnknownReference."""
        with self._lock:
            text = self._originals.get(ref.strip())
        if text is None:
            text = self._keeper.original(ref.strip())
        if text is None:
            raise UnknownReference(
                f"nothing is known under {ref}", hint="references are printed by handoffs and markers"
            )
        return recall_tools.line_range(text, lines)

    def search(self, text: str, limit: int = 20) -> list[Hit]:
        """Messages of this conversation that hold the text; what has left the view first."""
        with self._lock:
            return find(self._log, text, shown_from=self._state.base.tail, limit=limit)

    def tools(self) -> list[dict[str, Json]]:
        """Recall and search as tools for the model, to put into the request's tool list."""
        return recall_tools.definitions(self._wire.name)

    def handle_call(self, name: str, args: Mapping[str, Json] | str) -> str:
        """The answer to a call of one of `tools()`; a mistake in the call is answered in words."""
        read = args if isinstance(args, Mapping) else ToolCall("", name, args).input
        given = read if isinstance(read, Mapping) else {}
        if name == recall_tools.RECALL:
            try:
                return self.recall(str(given.get("ref", "")), str(given.get("lines", "")))
            except UnknownReference as e:
                return str(e)
        if name == recall_tools.SEARCH:
            hits = self.search(str(given.get("query", "")))
            return "\n".join(f"{h.reference} {h.role}: {h.snippet}" for h in hits) or "Nothing was found."
        raise InputError(f"{name} is no tool of Clew", hint="it offers clew_recall and clew_search")

    def view_at(self, n: int) -> list[dict[str, Json]]:
        """What the model saw when the conversation had `n` messages."""
        with self._lock:
            if not 0 <= n <= len(self._log.transcript):
                raise InputError(
                    f"there are {len(self._log.transcript)} messages, not {n}", hint="name a number from 0 to that"
                )
            return [m.value for m in fold(self._log, self._epochs, self._arrival, n)]

    def undo(self) -> Epoch | None:
        """Drop the last epoch; what it had left out is in the view again. The epoch, or None if there is none."""
        with self._lock:
            self._open()
            if not self._epochs or self._state.phase is not Phase.IDLE:
                return None
            gone = self._epochs[-1]
            self._keeper.undo(len(self._log.transcript))
            self._drop_last()
            return gone

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Every shortening in force."""
        with self._lock:
            now = self._epochs[-1].edits if self._epochs else ()
            earlier = tuple(e for epoch in self._epochs[:-1] for e in epoch.edits if e.part < 0)
            arrived = (e for i, es in sorted(self._arrival.items()) if i >= self._state.base.at for e in es)
            return (*earlier, *now, *arrived)

    @property
    def epochs(self) -> tuple[Epoch, ...]:
        return tuple(self._epochs)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        return tuple(e.receipt for e in self._epochs)

    @property
    def ledger(self) -> Ledger:
        with self._lock:
            return self._log.ledger()

    def status(self) -> dict[str, Json]:
        """Figures and a sentence: how full the window is, what happened last, what to do."""
        with self._lock:
            return status.of(self._state, self._epochs, len(self._log.transcript), self._keeper.session)

    def close(self) -> None:
        """Let go of the object; what a store holds stays. Calling it again does nothing."""
        with self._lock:
            if self._state.phase is not Phase.CLOSED:
                self._keeper.counters(self._state)
                self._apply(Closing())
                self._stop_calling()
                self._keeper.close()

    def cancel(self) -> bool:
        """Give up a summary that is being written; the transcript and the view stay as they are. Whether there was one."""
        with self._lock:
            if self._state.phase is not Phase.SUMMARISING:
                return False
            for effect in self._apply(Cancelled()):
                if isinstance(effect, Say):
                    self.say(effect)
            self._stop_calling()
            return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- what the drivers call

    def step(self, event: Event) -> tuple[Effect, ...]:
        with self._lock:
            self._open()
            return self._apply(event)

    def call(self, effect: CallModel) -> Event:
        """Ask a summariser; its failure is an event like its answer."""
        asked = self._main if effect.attempt == "main" else self._aux
        if not self._keeper.begin():
            return Cancelled(effect.ticket)
        if asked is None:
            failed = "no summariser is configured"
            return SummaryFailed(self._log, "no_provider", failed, self._clock(), ticket=effect.ticket)
        cancel = Cancel()
        with self._lock:
            if self._state.pending is None or self._state.pending.ticket != effect.ticket:
                return Cancelled(effect.ticket)
            self._cancel = cancel
        try:
            with self._keeper.renewing():
                reply = run(effect.prompts, effect.max_tokens, asked, cancel)
        except SummaryError as e:
            if e.kind == "cancelled":
                return Cancelled(effect.ticket)
            return SummaryFailed(self._log, e.kind, e.message, self._clock(), e.retry_after, effect.ticket)
        used = reply.usage or Usage()
        return SummaryArrived(
            self._log, reply.text, self._clock(), reply.finish, effect.ticket, used.prompt, used.output
        )

    def call_in_background(self, effect: CallModel) -> None:
        def work() -> None:
            try:
                self._settled(drive(self, self.step(self.call(effect))))
            except Closed:
                logger.info("the context was closed while a handoff was prepared")

        threading.Thread(target=work, name="clew-summary", daemon=True).start()

    def give_up(self, effect: CallModel) -> None:
        """The caller of a summary went away: nobody waits for the answer any more."""
        with self._lock:
            if self._state.phase is Phase.SUMMARISING:
                self._apply(Cancelled(effect.ticket))
            self._stop_calling()
            self._release()

    def commit(self, epoch: Epoch) -> Event:
        with self._lock:
            texts = self._gather(epoch)
            chain = self._log.transcript.chain_at(epoch.span.end - 1)
            outcome = self._keeper.commit(epoch, chain, texts, self._clock())
            if isinstance(outcome, Committed):
                self._epochs.append(epoch)
                self._originals.keep(texts)
                self._view.rebase(self._log, epoch.base, self._arrival)
            return outcome

    def say(self, what: Say) -> None:
        logger.log(logging.WARNING if what.level == "warning" else logging.INFO, "%s", what.text)

    # -- inside

    def _settled(self, outcome: Epoch | Refusal | None) -> Epoch | Refusal | None:
        """After the effects are done: the lease is given back, and where another was faster, its epoch is taken over."""
        self._release()
        if isinstance(outcome, Refusal) and outcome.kind == "busy":
            self._catch_up()
        return outcome

    def _told(self) -> Json:
        """The system prompt that stands apart; where the settings want it, with the note that turns were compacted."""
        system = jsonio.copy(self._system)
        if not (self._state.limits.system_note and self._epochs):
            return system
        if isinstance(system, str):
            return f"{system}\n\n{SYSTEM_NOTE}"
        return [*system, {"type": "text", "text": SYSTEM_NOTE}]

    def _must_wait(self, outcome: Epoch | Refusal | None) -> bool:
        """Whether nothing can be sent before another process is done compacting this conversation."""
        settled = self._settled(outcome)
        with self._lock:
            full = estimate(self._state) > self._state.limits.hard
            return full and isinstance(settled, Refusal) and settled.kind == "busy"

    def _release(self) -> None:
        """Give the right to compact back, unless another thread is at it."""
        with self._lock:
            if self._state.phase in (Phase.IDLE, Phase.CLOSED):
                self._keeper.end()

    def _stop_calling(self) -> None:
        if self._cancel is not None:
            self._cancel.cancel()
            self._cancel = None

    def _catch_up(self) -> None:
        """Take over the epochs that another process committed, as far as this log reaches."""
        with self._lock:
            for epoch in list(self._keeper.epochs(self._wire))[len(self._epochs) :]:
                if self._state.phase is Phase.IDLE and epoch.at <= len(self._log.transcript):
                    self._adopt(epoch)

    def _adopt(self, epoch: Epoch) -> None:
        """An epoch that stands in the store already, with what arrived since it was made behind it."""
        since = range(epoch.at, len(self._log.transcript))
        tail = sum(self._log.size(i) - sum(e.saved for e in self._arrival.get(i, ())) for i in since)
        self._epochs.append(epoch)
        self._originals.keep(self._gather(epoch))
        applied = apply(self._state, epoch)
        self._state = replace(applied, tail_tokens=applied.tail_tokens + tail)
        self._view.rebase(self._log, epoch.base, self._arrival)

    def _open(self) -> None:
        if self._state.phase is Phase.CLOSED:
            raise Closed("this context was closed", hint="open another on the same store and session_id to go on")

    def _apply(self, event: Event) -> tuple[Effect, ...]:
        """The effects of an event, commits done already: between an epoch and its commit nobody asks for a view."""
        self._state, effects = step(self._state, event)
        done: list[Effect] = []
        for effect in effects:
            done.append(effect)
            if isinstance(effect, Commit):
                done += self._apply(self.commit(effect.epoch))
        return tuple(done)

    def _date(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).date().isoformat()

    def _take(self, message: Message) -> None:
        """One message into log, view and state, shortened on arrival where that costs no cache."""
        size = self._log.append(message)
        position = len(self._log.transcript) - 1
        if self._state.limits.enabled and message.results:
            scene = Scene(
                self._log.transcript,
                Span(self._state.base.tail, position + 1),
                self._log.measure,
                self._state.limits.recall,
            )
            proposed = on_arrival(scene, position, self._seen_before)
            if proposed:
                self._arrival[position] = tuple(proposed)
                self._originals.keep_edits(proposed)
                size -= sum(e.saved for e in proposed)
            pointers = {e.part for e in proposed}
            for place, result in repeatable(message, position):
                earlier = self._seen_before(result.text) if place.part in pointers else None
                self._repeats.note(result.text, place, earlier)
        self._view.grow(rendered(message, self._arrival.get(position, ())))
        self._apply(Appended(size))

    def _seen_before(self, text: str) -> Place | None:
        """A result of these words that the view holds in full."""
        return self._repeats.find(text, self._in_full)

    def _in_full(self, place: Place) -> bool:
        base = self._state.base
        if place.message < base.tail:
            return False
        edits = base.edits if place.message < base.at else self._arrival
        return all(e.part != place.part for e in edits.get(place.message, ()))

    def _saved_since(self, position: int) -> int:
        """Tokens that edits on arrival save from a message on."""
        return sum(e.saved for i, es in self._arrival.items() if i >= position for e in es)

    def _gather(self, epoch: Epoch) -> list[str]:
        """The originals that an epoch's references stand for and that are no whole message."""
        parts = [part_text(self._log.transcript[e.message], e.part) for e in epoch.edits if e.part >= 0 and e.reference]
        return [*parts, *([epoch.page] if epoch.page else [])]

    def _shown(self) -> tuple[Message, ...]:
        with self._lock:
            state = self._state
            self._sent = state.view_tokens
            self._keeper.counters(state)
            if state.limits.enabled and estimate(state) > state.limits.hard:
                raise WindowTooSmall(status.too_small(state), hint=status.TOO_SMALL_HINT)
            return tuple(self._view.messages)

    def _drop_last(self) -> None:
        """Back to what stood before the last epoch."""
        self._epochs.pop()
        previous = self._epochs[-1] if self._epochs else None
        saved = self._saved_since(previous.at if previous is not None else 0)
        self._apply(Undone(self._log, previous, saved))
        self._view.rebase(self._log, self._state.base, self._arrival)

    def _resume(self) -> None:
        """Play what the store holds: messages in order, each epoch where it was made, also one that was undone later:
        what arrived meanwhile was shown as that epoch had it.
        """
        history = deque(self._keeper.history(self._wire))
        undone: list[int] = []
        for m in self._keeper.messages():
            self._take(m)
            length = len(self._log.transcript)
            while undone and undone[-1] == length:
                undone.pop()
                self._drop_last()
            while history and history[0][0].at == length:
                epoch, dropped = history.popleft()
                if dropped == length:
                    continue
                undone.append(dropped)
                self._adopt(epoch)
        self._state = self._keeper.restore(self._state)
