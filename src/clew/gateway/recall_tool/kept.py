"""What is kept of recall with a conversation: whether it has the tools, and where its transcripts differ. Both stand in
the store, so that every worker agrees, and one that starts anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clew.errors import Conflict, NotFound
from clew.gateway.recall_tool.splice import Mark, Restorer, Splice, from_body
from clew.store import NewSession, Store
from clew.transcript import Message
from clew.wire import Request, get

_KEY = "recall"
_TOOL = "tool"


class Kept:
    """Of one conversation and all of its branches. Not to be used by two requests at once."""

    def __init__(self, store: Store, session: str, wire: str) -> None:
        self._store = store
        self._session = session
        self._wire = wire
        self._restorer = Restorer(wire)
        self._seen = 0
        self._has: bool | None = None

    def known(self) -> bool | None:
        """Whether the conversation has the tools; None where it hasn't begun. Raises StoreError."""
        if self._has is None:
            try:
                self._has = self._store.session(self._session).extra.get(_KEY) == _TOOL
            except NotFound:
                return None
        return self._has

    def begin(self, model: str) -> bool:
        """Begins the conversation with the tools, unless another worker began it without; whether it has them."""
        try:
            self._store.create(NewSession(self._session, source="gateway", model=model, extra={_KEY: _TOOL}))
        except Conflict:
            self._has = None
            return bool(self.known())
        self._has = True
        return True

    def restored(self, request: Request) -> Request:
        """The request as the upstream knows the conversation; itself where it is the same. Raises StoreError."""
        for event in self._store.events(self._session, after=self._seen, kind=_KEY):
            self._seen = event.sequence
            self._restorer.add(from_body(event.body, get(self._wire)))
        if not self._restorer:
            return request
        messages = self._restorer.restored(request.messages)
        same = len(messages) == len(request.messages) and all(
            a is b for a, b in zip(messages, request.messages, strict=True)
        )
        return request if same else request.replace(messages=messages)

    def add(
        self, mark: Mark, asked: Sequence[Message], messages: Iterable[Message], results: Iterable[Message]
    ) -> None:
        """That an answer to what the client asked stands for these messages. Kept in this worker even where the store is
        down. Raises StoreError.
        """
        splice = Splice(mark, self._restorer.number(asked, mark), tuple(messages), tuple(results))
        self._restorer.add(splice)
        self._store.add_event(self._session, _KEY, splice.body())
