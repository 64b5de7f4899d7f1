"""Summary calls when the network or the server misbehaves: each has its class, none hangs, none tells a credential."""

from __future__ import annotations

import socket
import threading
import traceback

import pytest

from clew.errors import SummaryError
from clew.summarise import Cancel
from clew.summarise.client import Client
from clew.summarise.transport import Timeouts
from clew.testing.model import Answer, Provider, chat_stream, json_answer

KEY = "sk-test-A1b2C3d4E5f6G7h8I9j0K1l2M3n4"
QUICK = Timeouts(connect=2, first_byte=0.3, between=0.3, total=2)
EVENTS = {"Content-Type": "text/event-stream"}


def failure(client: Client, cancel: Cancel | None = None) -> SummaryError:
    with pytest.raises(SummaryError) as caught:
        client("p", 50, cancel)
    return caught.value


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(drop=True), "network"),
        (Answer((b"<html>Sign in to the network</html>",), headers={"Content-Type": "text/html"}), "json"),
        (Answer((b"[1, 2]",), headers={"Content-Type": "application/json"}), "json"),
        (Answer((b'{"choices": [', b'"x"'), headers={"Content-Type": "application/json"}, cut=1), "stream"),
        (chat_stream("It stops before", done=False), "stream"),
        (Answer((b"data: not json\n\n",), headers=EVENTS), "stream"),
        (Answer((b'data: {"error": {"message": "Rate limit reached"}}\n\n',), headers=EVENTS), "rate_limit"),
        (Answer((b'data: {"error": {"message": "something odd"}}\n\n',), headers=EVENTS), "server"),
        (json_answer({"error": {"message": "model_not_found"}}), "not_found"),
        (chat_stream(""), "empty"),
        (json_answer({"choices": []}), "empty"),
        (json_answer({"choices": [{"message": {"content": None, "reasoning": "hm"}, "finish_reason": "length"}]}), "empty"),
        (Answer(status=302, headers={"Location": "https://elsewhere.invalid/"}), "other"),
    ],
)  # fmt: skip
def test_each_fault_has_its_class(answer: Answer, kind: str):
    with Provider(answer) as provider:
        assert failure(Client(provider.url, "m", retries=0, timeouts=QUICK)).kind == kind


def test_a_server_that_says_nothing_times_out():
    with Provider(Answer((b"late",), hold=True)) as provider:
        assert failure(Client(provider.url, "m", retries=0, timeouts=QUICK)).kind == "timeout"


def test_a_stream_that_drips_for_ever_ends_at_the_total():
    drip = Answer((b": ping\n\n",) * 400, headers=EVENTS, pause=0.05)
    with Provider(drip) as provider:
        timeouts = Timeouts(connect=2, first_byte=5, between=5, total=0.4)
        assert failure(Client(provider.url, "m", retries=0, timeouts=timeouts)).kind == "timeout"


def test_nobody_listens():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    assert failure(Client(f"http://127.0.0.1:{port}/v1", "m", retries=0)).kind == "network"


@pytest.mark.parametrize("url", ["http://no-such-host.invalid/v1", "https://127.0.0.1:1/v1"])
def test_no_such_address(url: str):
    assert failure(Client(url, "m", retries=0, timeouts=QUICK)).kind in ("network", "timeout")


def test_plain_http_where_tls_is_expected():
    with Provider(chat_stream("x")) as provider:
        assert failure(Client(provider.url.replace("http:", "https:"), "m", retries=0, timeouts=QUICK)).kind in (
            "network",
            "timeout",
        )


@pytest.mark.parametrize("where", ["before the answer", "within the answer"])
def test_another_thread_gives_the_call_up(where: str):
    pieces = (b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n',)
    answer = (
        Answer(pieces, headers=EVENTS, hold=True)
        if where == "before the answer"
        else Answer(pieces * 99, headers=EVENTS, pause=0.2)
    )
    cancel = Cancel()
    with Provider(answer) as provider:
        client = Client(provider.url, "m", retries=0, timeouts=Timeouts(total=30))
        caught: list[str] = []
        thread = threading.Thread(target=lambda: caught.append(failure(client, cancel).kind))
        thread.start()
        assert provider.arrived.wait(10)
        cancel.cancel()
        thread.join(10)
        assert not thread.is_alive()
    assert caught == ["cancelled"]


def test_one_given_up_before_it_began_asks_nobody():
    cancel = Cancel()
    cancel.cancel()
    cancel.cancel()
    with Provider(chat_stream("x")) as provider:
        assert failure(Client(provider.url, "m"), cancel).kind == "cancelled"
    assert provider.asked == []


def test_a_dropped_connection_is_tried_once_more():
    with Provider(Answer(drop=True), chat_stream("fine")) as provider:
        assert Client(provider.url, "m")("p", 5).text == "fine"
    assert len(provider.asked) == 2


@pytest.mark.parametrize("status", [400, 401, 500])
def test_a_credential_that_the_server_repeats_is_told_to_nobody(status: int):
    with Provider(json_answer({"error": {"message": f"bad key {KEY} in Bearer {KEY}"}}, status)) as provider:
        client = Client(provider.url, "m", KEY, retries=0)
        error = failure(client)
    told = "".join(traceback.format_exception(error, chain=True)) + repr(error) + repr(client)
    assert KEY not in told
    assert KEY[8:24] not in told
    assert error.__cause__ is None
    assert error.__context__ is None


def test_a_fault_of_the_network_tells_no_credential_either():
    with Provider(Answer(drop=True)) as provider:
        error = failure(Client(provider.url, "m", KEY, retries=0))
    assert KEY not in "".join(traceback.format_exception(error, chain=True))
    assert error.__context__ is None
