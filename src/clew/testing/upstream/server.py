"""The server: requests in, rules and policy asked, replies out, everything recorded."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self

from aiohttp import web

from clew import jsonio
from clew.catalog import Model, lookup, models
from clew.errors import ClewError
from clew.jsonio import Json
from clew.testing.dice import Dice
from clew.testing.upstream import refusal, rules
from clew.testing.upstream.deliver import deliver
from clew.testing.upstream.meter import Meter
from clew.testing.upstream.refusal import Refusal
from clew.testing.upstream.rules import anthropic, chat, responses
from clew.testing.upstream.rules.seals import Seals
from clew.testing.upstream.speak import Turn
from clew.testing.upstream.speak.responses import items
from clew.testing.upstream.values import Answer, Ask, Call, Policy, Record, Refuse, Reply, Say, Think, Usage
from clew.wire import Request, detect, get

_LARGEST = 32 << 20
_CREATED = 1_770_000_000  # when every reply says that it was made


class Upstream:
    """`policy` decides the replies. `window` replaces every model's window; `extra` adds models the catalog doesn't
    know; `bias` multiplies its token counts, unknown to the client; `clock` drives the cache's time to live.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        seed: int = 0,
        window: int = 0,
        extra: Mapping[str, Model] | None = None,
        bias: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.records: list[Record] = []
        self.asks: list[Ask] = []
        self.url = ""
        self._policy = policy
        self._seed = seed
        self._window = window
        self._extra = dict(extra or {})
        self._seals = Seals(seed)
        self._meter = Meter(clock, bias)
        self._kept: dict[str, list[Json]] = {}  # Responses: what each response's id stands for
        self._last: dict[str, Request] = {}
        self._runner: web.AppRunner | None = None

    @property
    def refused(self) -> list[Record]:
        """The requests that got an error."""
        return [r for r in self.records if r.status >= 400]

    async def start(self, port: int = 0) -> str:
        """Listens on loopback; the URL, without `/v1`."""
        app = web.Application(client_max_size=2 * _LARGEST)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self.url

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        wire = _wire(request)
        name = Dice(self._seed, len(self.records)).letters(16)
        try:
            if request.method != "POST":
                return self._small(request, raw, wire)
            body = _parsed(raw)
            if request.path.endswith("/count_tokens"):
                return self._counted(request, raw, body)
            ask, answer = self._asked(request, wire, body)
        except Refusal as e:
            return self._refuse(request, raw, wire, e, name)
        if isinstance(answer, Refuse):
            words = answer.message or refusal.default_words(wire, answer.status)
            return self._refuse(request, raw, wire, Refusal(words, status=answer.status), name, answer.retry_after)
        return await self._answer(request, raw, ask, answer, name)

    async def _answer(
        self, request: web.Request, raw: bytes, ask: Ask, answer: Answer, name: str
    ) -> web.StreamResponse:
        reply = answer if isinstance(answer, Reply) else getattr(answer, "reply", Reply(()))
        usage, why = self._used(request, ask, reply)
        turn = Turn(ask, reply, usage, self._seals, name, _CREATED)
        if ask.wire == "openai-responses" and ask.body.get("store", True):
            given = ask.body["input"]
            given = given if isinstance(given, list) else [{"role": "user", "content": given}]
            self._kept[turn.id("resp_")] = [*given, *items(turn)]
        self._note(request, raw, ask.wire, 200, usage, why)
        return await deliver(request, turn, answer)

    def _asked(self, request: web.Request, wire: str, body: Json) -> tuple[Ask, Answer]:
        """What the policy says to a request that no rule forbids."""
        model = self._model(wire, str(body.get("model", "")))
        if not (request.headers.get("authorization") or request.headers.get("x-api-key")):
            raise Refusal(_NO_KEY[wire == "anthropic"], status=401)
        if wire == "anthropic" and "anthropic-version" not in request.headers:
            raise Refusal("anthropic-version: header is required")
        whole = self._whole(body) if wire == "openai-responses" else body
        rules.check(wire, whole, request.headers, model, self._seals)
        parsed = self._parsed(request, wire, whole)
        tokens, tools = self._meter.prompt(parsed, model)
        match wire:
            case "anthropic":
                anthropic.window(tokens, body, model)
            case "openai-chat":
                chat.window(tokens, tools, body, model)
            case _:
                responses.window(tokens, body, model)
        ask = Ask(len(self.asks), wire, dict(request.headers), whole, parsed, model, tokens)
        self.asks.append(ask)
        return ask, self._policy(ask)

    def _parsed(self, request: web.Request, wire: str, body: Json) -> Request:
        key = f"{_tenant(request)} {wire}"
        parsed = get(wire).request(body, previous=self._last.get(key))
        self._last[key] = parsed
        return parsed

    def _whole(self, body: Json) -> Json:
        """A Responses body with the input that its previous response stands for before its own."""
        previous = body.get("previous_response_id")
        if previous is None:
            return body
        if previous not in self._kept:
            words = f"Previous response with id '{previous}' not found."
            raise Refusal(words, param="previous_response_id", code="previous_response_not_found")
        given = body.get("input", [])
        given = given if isinstance(given, list) else [{"role": "user", "content": given}]
        return {**body, "input": [*self._kept[previous], *given]}

    def _model(self, wire: str, name: str) -> Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self._extra.get(name) or lookup(name)
        if model.guessed and name:
            words = f"The model `{name}` does not exist or you do not have access to it."
            said = f"model: {name}" if wire == "anthropic" else words
            raise Refusal(said, status=404, code="model_not_found")
        return replace(model, window=self._window) if self._window else model

    def _used(self, request: web.Request, ask: Ask, reply: Reply) -> tuple[Usage, str]:
        reasoning = sum(self._meter.text(p.text, ask.model) for p in reply.parts if isinstance(p, Think))
        said = sum(self._meter.text(p.text, ask.model) for p in reply.parts if isinstance(p, Say))
        called = sum(
            self._meter.text(jsonio.dumps([p.name, p.input]).decode(), ask.model)
            for p in reply.parts
            if isinstance(p, Call)
        )
        return self._meter.use(_tenant(request), ask.request, ask.model, reasoning + said + called, reasoning)

    def _small(self, request: web.Request, raw: bytes, wire: str) -> web.StreamResponse:
        """Requests beside the conversation: the list of models, a probe of the root."""
        listed = [m.name for m in models()] + list(self._extra)
        if request.path.rstrip("/").endswith("/models"):
            if "anthropic-version" in request.headers:
                data: list[Json] = [{"type": "model", "id": n, "display_name": n} for n in listed]
                value: Json = {"data": data, "has_more": False, "first_id": listed[0], "last_id": listed[-1]}
            else:
                value = {
                    "object": "list",
                    "data": [{"id": n, "object": "model", "owned_by": "scripted"} for n in listed],
                }
        elif request.path == "/":
            value = {}
        else:
            raise Refusal(f"Invalid URL ({request.method} {request.path})", status=404)
        self._note(request, raw, wire, 200, None, "")
        return web.Response(body=jsonio.dumps(value), content_type="application/json")

    def _counted(self, request: web.Request, raw: bytes, body: Json) -> web.StreamResponse:
        model = self._model("anthropic", str(body.get("model", "")))
        tokens, _ = self._meter.prompt(get("anthropic").request(body), model)
        self._note(request, raw, "anthropic", 200, None, "counted")
        return web.json_response({"input_tokens": tokens})

    def _refuse(
        self, request: web.Request, raw: bytes, wire: str, e: Refusal, name: str, after: float | None = None
    ) -> web.StreamResponse:
        self._note(request, raw, wire, e.status, None, e.message)
        headers = {"request-id": f"req_{name}"}
        if after is not None:
            headers["retry-after"] = f"{after:g}"
        body = jsonio.dumps(refusal.body(wire, e, f"req_{name}"))
        return web.Response(status=e.status, body=body, headers=headers, content_type="application/json")

    def _note(self, request: web.Request, raw: bytes, wire: str, status: int, usage: Usage | None, why: str) -> None:
        self.records.append(
            Record(request.method, request.path_qs, dict(request.headers), raw, wire, status, usage, why)
        )


_NO_KEY = ("You didn't provide an API key.", "x-api-key header is required")


def _wire(request: web.Request) -> str:
    try:
        return detect({}, request.path)
    except ClewError:
        return "anthropic" if "anthropic-version" in request.headers else "openai-chat"


def _parsed(raw: bytes) -> Json:
    if len(raw) > _LARGEST:
        raise Refusal("Request exceeds the maximum size", status=413)
    try:
        body = jsonio.loads(raw)
    except ValueError:
        raise Refusal("We could not parse the JSON body of your request.") from None
    if not isinstance(body, dict):
        raise Refusal("We could not parse the JSON body of your request: an object is expected.")
    return body


def _tenant(request: web.Request) -> str:
    return request.headers.get("x-api-key") or request.headers.get("authorization") or ""
