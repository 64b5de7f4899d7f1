"""A provider's API as a summariser: OpenAI's chat completions, which most speak, and Anthropic's messages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from clew import jsonio
from clew.errors import SummaryError
from clew.jsonio import Json
from clew.redact import redact
from clew.summarise import kinds
from clew.summarise.base import Cancel, Reply
from clew.summarise.transport import Answer, Timeouts, post
from clew.wire import usage
from clew.wire.sse import Stream

Dialect: TypeAlias = Literal["openai-chat", "anthropic"]

TIMEOUTS = Timeouts()
_ANTHROPIC_VERSION = "2023-06-01"
_RETRIED = frozenset({"network", "server", "rate_limit"})
_LONGEST_WAIT = 5.0  # seconds that a retry inside a call may be put off; a longer pause is the engine's business
_PAUSE = 0.5


@dataclass(frozen=True, slots=True)
class Client:
    """One model at one address. Equal clients ask the same model with the same credential."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    dialect: Dialect = "openai-chat"
    window: int = 0
    timeouts: Timeouts = TIMEOUTS
    effort: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, repr=False)
    retries: int = 1

    def __call__(self, prompt: str, max_tokens: int, cancel: Cancel | None = None) -> Reply:
        """Ask. What passes quickly (a dropped connection, an overloaded server) is tried once more at once."""
        cancel = cancel or Cancel()
        end = time.monotonic() + self.timeouts.total
        for attempt in range(self.retries + 1):
            try:
                return self._ask(prompt, max_tokens, cancel)
            except SummaryError as e:
                pause = e.retry_after if e.retry_after is not None else _PAUSE
                late = time.monotonic() + pause >= end
                if attempt == self.retries or e.kind not in _RETRIED or pause > _LONGEST_WAIT or late:
                    raise
                cancel.wait(pause)
        raise AssertionError("a call either answers or raises")

    def _ask(self, prompt: str, max_tokens: int, cancel: Cancel) -> Reply:
        body = jsonio.dumps(self._body(prompt, max_tokens))
        failed: str
        try:
            with post(self._endpoint, self._headers(), body, self.timeouts, cancel) as answer:
                return self._read(answer)
        except SummaryError:
            cancel.check()
            raise
        except (OSError, ValueError, HTTPException) as e:
            cancel.check()
            kind, failed = kinds.of_exception(e), str(e)
        # Raised outside the handler: the exception that led here holds the request, and with it the credential.
        raise self._error(kind, failed or "no answer")

    @property
    def _endpoint(self) -> str:
        wanted = "/messages" if self.dialect == "anthropic" else "/chat/completions"
        base = self.url.rstrip("/")
        if base.endswith(wanted):
            return base
        if self.dialect == "anthropic" and not base.endswith("/v1"):
            base += "/v1"
        return base + wanted

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "User-Agent": "clew",
        }
        if self.dialect == "anthropic":
            headers["anthropic-version"] = _ANTHROPIC_VERSION
            if self.key:
                headers["x-api-key"] = self.key
        elif self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return headers

    def _body(self, prompt: str, max_tokens: int) -> dict[str, Json]:
        body: dict[str, Json] = {"model": self.model, "messages": [{"role": "user", "content": prompt}], "stream": True}
        host = urlsplit(self.url).hostname or ""
        if self.dialect == "anthropic":
            return {**body, "max_tokens": max_tokens, **self.extra}
        newer = host.endswith("openai.com")  # the limit's old name is refused there by models that reason
        body["max_completion_tokens" if newer else "max_tokens"] = max_tokens
        body["stream_options"] = {"include_usage": True}
        if self.effort:
            body |= (
                {"reasoning": {"effort": self.effort}} if "openrouter" in host else {"reasoning_effort": self.effort}
            )
        return {**body, **self.extra}

    def _read(self, answer: Answer) -> Reply:
        if answer.status != 200:
            raise self._refused(answer)
        if "text/event-stream" not in answer.headers.get("content-type", ""):
            return self._whole(answer.body())
        stream = Stream(self.dialect)
        for chunk in answer.chunks():
            stream.feed(chunk)
        stream.close()
        said = stream.assembled()
        if said.error is not None:
            told = kinds.message_of(said.error)
            raise self._error(kinds.of_message(told), told)
        if not said.finished:
            raise self._error("stream", "the stream ended before the answer did")
        return self._reply(said.body, said.stop_reason, said.usage)

    def _whole(self, raw: bytes) -> Reply:
        """An answer in one piece: some servers don't stream."""
        try:
            body = jsonio.loads(raw)
        except ValueError:
            raise self._error("json", f"the answer is no JSON: {raw[:80].decode('utf-8', 'replace')}") from None
        if not isinstance(body, dict):
            raise self._error("json", "the answer is no JSON object")
        if body.get("error"):
            told = kinds.message_of(body)
            raise self._error(kinds.of_message(told), told)
        return self._reply(body, "", usage.read(body, self.dialect))

    def _reply(self, body: Json, stop: str, used: usage.Usage | None) -> Reply:
        body = body if isinstance(body, dict) else {}
        if self.dialect == "anthropic":
            text, finish = _blocks(body.get("content")), stop or str(body.get("stop_reason") or "")
        else:
            choices = body.get("choices")
            first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
            message = first.get("message")
            text = _blocks(message.get("content")) if isinstance(message, dict) else ""
            finish = stop or str(first.get("finish_reason") or "")
        if not text.strip():
            raise self._error("empty", f"the answer holds no text (stopped by {finish or 'nothing it said'})")
        return Reply(text, finish or "stop", used, str(body.get("model") or self.model))

    def _refused(self, answer: Answer) -> SummaryError:
        raw = answer.body()
        try:
            told = kinds.message_of(jsonio.loads(raw))
        except ValueError:
            told = raw[:200].decode("utf-8", "replace")
        wait = kinds.retry_after(answer.headers, datetime.now(UTC))
        return self._error(kinds.of_status(answer.status, told), f"HTTP {answer.status}: {told}", wait)

    def _error(self, kind: str, told: str, wait: float | None = None) -> SummaryError:
        """The error without the credential, which some servers repeat to whoever sent it."""
        if self.key:
            told = told.replace(self.key, "[REDACTED]")
        where = urlsplit(self.url).hostname or "the summariser"
        flat = " ".join(redact(told, force=True).split())[:300]
        return SummaryError(
            f"{self.model} at {where}: {flat}", kind=kind, hint=kinds.ADVICE.get(kind, ""), retry_after=wait
        )


def _blocks(content: Json) -> str:
    """The text of a message's content, a string or blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(str(b["text"]) for b in content if isinstance(b, dict) and isinstance(b.get("text"), str))
