"""Clew is told from anything else that may hold the port."""

from __future__ import annotations

import pytest

from clew.connect.reach import Reached, reach
from tests.connect.gateways import CLEW, http, listening


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (CLEW, Reached("clew", "9.9")),
        (http(b'{"status":"ok"}'), Reached("other")),
        (http(b"<html>"), Reached("other")),
        (http(b"[]"), Reached("other")),
        (http(b'{"status":"ok","version":"9"}', "503 No"), Reached("other")),
        (b"SSH-2.0-OpenSSH\r\n", Reached("other")),
    ],
)
def test_who_answers(reply, found):
    with listening(reply) as url:
        assert reach(url, timeout=2) == found


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://127.0.0.1:99999", "http://", "nonsense"])
def test_nobody_answers(url):
    assert reach(url, timeout=0.5).kind == "nothing"
