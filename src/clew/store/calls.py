"""Which tool a message is about: its first call's, or that of the call a result answers."""

from __future__ import annotations

from clew import jsonio
from clew.store.indexed import clean
from clew.transcript import Message

_MOST_OPEN = 64  # calls that no result came for; older ones are forgotten


class OpenCalls:
    """Calls still without a result, by id, carried from append to append."""

    def __init__(self, text: str = "{}") -> None:
        self._open: dict[str, str] = jsonio.loads(text)

    def tool(self, message: Message) -> str:
        """The tool of the next message."""
        named = ""
        for result in message.results:
            named = named or self._open.get(result.call_id, "")
            self._open.pop(result.call_id, None)
        for call in message.calls:
            named = named or call.name
            self._open[call.id] = call.name
        return clean(named)

    def text(self) -> str:
        while len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        return jsonio.dumps(self._open).decode()
