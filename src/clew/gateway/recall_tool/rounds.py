"""One turn of a conversation that has the tools: the upstream is asked again until it calls none of them alone."""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from clew import jsonio
from clew.errors import ClewError
from clew.gateway import asgi
from clew.gateway.asgi import Send
from clew.gateway.recall_tool.join import Join, Said
from clew.gateway.recall_tool.joining import joining
from clew.gateway.upstream import Answer, Broken, Unreachable
from clew.jsonio import Json

ROUNDS = 8  # of calls that are answered in a turn; then the tools say so, and after that nothing is asked any more
_ERROR_SHOWN = 1 << 20


class Turn(Protocol):
    """What a turn's rounds need done; each of them may wait for the store or the upstream."""

    @property
    def ask(self) -> Callable[[], Awaitable[tuple[Answer, bytes]]]:
        """Sends what the conversation has come to: the answer, and what of its body was read already."""

    async def took(self, said: Said) -> None:
        """What a round used."""

    async def answer(self, said: Said, *, used_up: bool) -> None:
        """Puts what was said and the calls' results at the conversation's end."""

    async def settle(self, join: Join, said: Said) -> None:
        """Keeps what the client's answer stands for."""


Relay = Callable[[Answer, bytes], Awaitable[None]]


def join_of(answer: Answer, wire: str) -> Join | None:
    """What reads this answer; None for one that goes to the client as it comes."""
    if answer.status != 200:
        return None
    return joining(wire, answer.header("content-type"), answer.header("content-encoding"))


class Rounds:
    """`relay` gives the client an answer as it is."""

    def __init__(self, turn: Turn, wire: str, send: Send, relay: Relay) -> None:
        self._turn = turn
        self._wire = wire
        self._send = send
        self._relay = relay
        self._begun = False

    async def run(self, join: Join, answer: Answer, first: bytes) -> None:
        """Raises Broken where the upstream breaks off in the middle of an answer."""
        try:
            while True:
                await self._through(join, answer, first)
                said = join.said()
                if not join.goes_on:
                    break
                await self._turn.took(said)
                used_up = join.round > ROUNDS
                await self._turn.answer(said, used_up=used_up)
                answer.close()
                again = await self._again(join)
                if again is None:
                    return
                answer, first = again
                join.next(answer.header("content-encoding"), last=used_up)
            if join.touched:
                await self._turn.settle(join, said)
            await self._close(join, answer)
            await self._turn.took(said)
        finally:
            answer.close()

    async def _through(self, join: Join, answer: Answer, first: bytes) -> None:
        """One round's bytes."""
        try:
            if first:
                await self._give(answer, join.feed(first))
            async for piece in answer.pieces():
                await self._give(answer, join.feed(piece))
            await self._give(answer, join.end())
        except zlib.error as e:
            raise Broken("the upstream's answer isn't encoded as it says") from e

    async def _again(self, join: Join) -> tuple[Answer, bytes] | None:
        """The next round's answer; None where there is none, and the client was told."""
        try:
            answer, first = await self._turn.ask()
        except (Unreachable, Broken) as e:
            if not self._begun:
                raise
            await self._fail(join, {"type": "api_error", "message": f"clew: {e}", "code": "clew"})
            return None
        after = join_of(answer, self._wire)
        if type(after) is type(join):
            return answer, first
        if not self._begun:  # nothing was given yet: the client gets the error, or whatever it is, as it came
            await self._relay(answer, first)
        else:
            body = first or await answer.read(_ERROR_SHOWN)
            await self._fail(join, _error(body, answer.header("content-encoding")))
        answer.close()
        return None

    async def _give(self, answer: Answer, out: bytes, *, more: bool = True) -> None:
        if out and not self._begun:
            await self._start(answer, [])
        if out:
            await self._send({"type": "http.response.body", "body": out, "more_body": more})

    async def _close(self, join: Join, answer: Answer) -> None:
        """The client's last bytes."""
        if not self._begun:
            await self._start(answer, [("content-length", str(len(join.closing)))])
        await self._send({"type": "http.response.body", "body": join.closing})

    async def _fail(self, join: Join, error: Json) -> None:
        await self._send({"type": "http.response.body", "body": join.failure(error)})

    async def _start(self, answer: Answer, more: list[tuple[str, str]]) -> None:
        self._begun = True
        headers = asgi.passed_on(answer.headers, without=["content-length", "content-encoding"])
        await asgi.start(self._send, answer.status, [*headers, *more])


def _error(body: bytes, encoding: str) -> Json:
    """What an error answer says, as all three formats have it."""
    try:
        value = jsonio.loads(asgi.decoded(body, encoding, 4 * _ERROR_SHOWN) or b"")
    except (ValueError, ClewError):
        value = None
    told = value.get("error") if isinstance(value, dict) else None
    return told or {"type": "api_error", "message": "clew: the upstream's answer to a recalled turn was no answer"}
