"""When the model fails: who is asked next, how long nobody is, and what is kept. On the clock that is passed in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from clew.engine import events as ev
from clew.engine.failures import COOLDOWNS, KEEPS_SESSION, TIMEOUTS
from clew.engine.machine import step
from clew.engine.values import Phase
from tests.engine.build import asked, conversation, log_and_state, requested
from tests.engine.replies import good

CHAIN = {
    "json": 30, "stream": 30, "no_provider": 600, "empty": 60, "longer": 60, "truncated": 60, "language": 60,
    "refused": 60, "rate_limit": 60, "server": 60, "network": 60, "not_found": 60, "auth": 60, "quota": 60,
    "overflow": 60, "unstructured": 60, "vague": 60, "unsupported": 60, "lost": 60, "other": 60,
}  # fmt: skip


def waiting(**more):
    """A model was asked because the threshold was reached; there is room left."""
    log, state = log_and_state(conversation(9), model=True, **more)
    state, (call,) = asked(log, state, 100.0)
    assert isinstance(call, ev.CallModel)
    return log, state


def fail(log, state, kind="server", now=110.0, **more):
    return step(state, ev.SummaryFailed(log, kind, "it said so", now, **more))


def test_the_table_of_pauses_is_the_one_promised():
    assert {k: int(v) for k, v in COOLDOWNS.items()} == CHAIN
    assert TIMEOUTS == (60.0, 300.0, 900.0)
    assert {"auth", "quota", "network"} == KEEPS_SESSION


@pytest.mark.parametrize("kind", sorted(set(CHAIN) - KEEPS_SESSION))
def test_after_the_last_model_the_ledger_writes_and_a_pause_begins(kind):
    log, state = waiting()
    after, effects = fail(log, state, kind)
    say, commit = effects
    assert isinstance(say, ev.Say)
    assert kind in say.text
    assert "the ledger wrote the handoff" in say.text
    assert commit.epoch.written_by == "ledger"
    assert after.trouble.until == 110.0 + CHAIN[kind]
    assert (after.trouble.kind, after.trouble.error, after.trouble.fallback) == (kind, "it said so", True)
    done, _ = step(after, ev.Committed(111.0))
    assert done.trouble.dropped == len(commit.epoch.span)


@pytest.mark.parametrize("kind", sorted(KEEPS_SESSION))
def test_what_may_pass_keeps_the_session_as_it_was_until_the_pause_is_over(kind):
    log, state = waiting()
    before = state.view_tokens
    after, effects = fail(log, state, kind)
    assert after.phase is Phase.IDLE
    assert (after.view_tokens, after.number) == (before, 0)
    refused, say = effects
    assert refused.refusal.kind == "failed"
    assert "nothing was changed" in say.text
    after, _ = step(after, ev.Appended(1))  # not held back by its length alone
    still, effects = asked(log, after, 110.0 + CHAIN[kind] - 1)
    assert effects == ()
    assert still.number == 0
    _, (call,) = asked(log, after, 110.0 + CHAIN[kind])
    assert isinstance(call, ev.CallModel)


def test_an_epoch_by_the_ledger_says_why_no_model_wrote_it_and_what_helps():
    log, state = waiting()
    after, _ = fail(log, state, "not_found")
    after, _ = step(after, ev.Committed(110.0))
    assert "handoff by the ledger" in after.said
    assert "not_found" in after.said
    assert "auxiliary.compression.model" in after.said


@pytest.mark.parametrize("kind", sorted(KEEPS_SESSION))
def test_at_the_wall_the_ledger_writes_whatever_failed(kind):
    log, state = waiting()
    after, _ = fail(log, state, kind)
    full = replace(after, limits=replace(after.limits, window=after.view_tokens - 1))
    done, effects = asked(log, full, 111.0)
    assert done.phase is Phase.COMMITTING
    assert effects[-1].epoch.written_by == "ledger"


def test_timeouts_in_a_row_wait_longer_and_a_success_starts_over():
    log, state = waiting()
    waits = []
    for _ in range(4):
        after, _ = fail(log, state, "timeout", 200.0)
        waits.append(after.trouble.until - 200.0)
        state = replace(state, trouble=after.trouble)
    assert waits == [60.0, 300.0, 900.0, 900.0]
    well, _ = step(state, ev.SummaryArrived(log, good(state.pending.ledger), 300.0))
    assert well.trouble.timeouts == 0
    assert well.trouble.until == 0.0
    other, _ = fail(log, state, "server")
    assert other.trouble.timeouts == 0


def test_the_provider_may_ask_for_a_longer_pause_but_not_for_a_shorter_one():
    log, state = waiting()
    assert fail(log, state, "rate_limit", 100.0, retry_after=400.0)[0].trouble.until == 500.0
    assert fail(log, state, "rate_limit", 100.0, retry_after=5.0)[0].trouble.until == 160.0


def test_the_main_model_is_asked_after_the_auxiliary_one_and_only_where_it_differs():
    log, state = waiting(main_differs=True)
    second, (call,) = fail(log, state, "auth")
    assert (call.attempt, second.phase) == ("main", Phase.SUMMARISING)
    assert call.ticket != state.pending.ticket
    assert call.prompts == state.pending.prompts
    assert second.trouble.aux_failed.startswith("auth")
    assert second.trouble.until == 0.0
    done, (commit,) = step(second, ev.SummaryArrived(log, good(second.pending.ledger), 120.0, ticket=call.ticket))
    assert commit.epoch.written_by == "model"
    assert done.trouble.aux_failed.startswith("auth")  # said until the auxiliary model works again
    third, effects = fail(log, second, "server")
    assert effects[-1].epoch.written_by == "ledger"
    assert "main model" in effects[0].text
    assert third.trouble.until == 110.0 + 60


def test_an_unusable_reply_is_a_failure_of_its_class():
    log, state = waiting()
    for text, kind in (
        ("", "empty"),
        ("I'm sorry, but I can't help with that.", "refused"),
        ("Some words.", "unstructured"),
    ):
        after, effects = step(state, ev.SummaryArrived(log, text, 110.0))
        assert after.trouble.kind == kind
        assert effects[-1].epoch.written_by == "ledger"
    cut, _ = step(state, ev.SummaryArrived(log, good(state.pending.ledger)[:-40], 110.0, "length"))
    assert cut.trouble.kind == "truncated"


def test_a_pause_lets_the_ledger_write_and_a_manual_compaction_asks_again_at_once():
    log, state = waiting()
    after, _ = fail(log, state, "server")
    done, _ = step(after, ev.Committed(111.0))
    for m in conversation(9)[2:]:
        done, _ = step(done, ev.Appended(log.append(m)))
    auto, effects = asked(log, done, 112.0)
    assert effects[-1].epoch.written_by == "ledger"
    assert auto.phase is Phase.COMMITTING
    _, (call,) = requested(log, done, 112.0)
    assert isinstance(call, ev.CallModel)
    _, effects = requested(log, done, 112.0, force=False)
    assert isinstance(effects[-1], ev.Commit)


def test_abort_on_failure_leaves_the_transcript_for_every_kind():
    log, state = waiting(abort_on_failure=True)
    for kind in CHAIN:
        after, effects = fail(log, state, kind)
        assert after.number == 0
        assert isinstance(effects[0], ev.Refused)
        held, effects = asked(log, after, 111.0)
        assert effects == ()
        refused, effects = requested(log, after, 111.0, force=False)
        assert effects[0].refusal.kind == "failed"
        assert refused.number == held.number == 0


def test_switched_off_means_off_but_for_a_forced_compaction():
    log, state = log_and_state(enabled=False)
    assert asked(log, state)[1] == ()
    _, (refused,) = requested(log, state, force=False)
    assert refused.refusal.kind == "off"
    _, (commit,) = requested(log, state)
    assert isinstance(commit, ev.Commit)


# --- a handoff prepared ahead --------------------------------------------------------------------------------------


def preparing(**more):
    log, state = log_and_state(conversation(6), model=True, prepare_ahead=0.5, **more)
    waiting_, (call,) = asked(log, state, 10.0)
    return log, waiting_, call


def prepared():
    log, state, call = preparing()
    ready, effects = step(state, ev.SummaryArrived(log, good(state.pending.ledger), 20.0, ticket=call.ticket))
    assert effects == ()
    assert ready.phase is Phase.IDLE
    assert ready.prepared is not None
    return log, ready


def longer(log, state, turns=6):
    for n, m in enumerate(conversation(turns + 40)[2 + 80 :][: 2 * turns]):
        assert n >= 0
        state, _ = step(state, ev.Appended(log.append(m)))
    return state


def test_a_handoff_is_prepared_in_the_background_and_the_view_stands():
    _, state, call = preparing()
    assert call.background
    assert state.number == 0
    log, plain = log_and_state(conversation(6), model=True)
    assert asked(log, plain, 10.0)[1] == ()


def test_what_was_prepared_is_used_when_an_epoch_is_due():
    log, state = prepared()
    nothing, effects = asked(log, state, 21.0)
    assert effects == ()  # not twice
    state = longer(log, nothing)
    done, (commit,) = asked(log, state, 30.0)
    assert commit.epoch.written_by == "model"
    assert commit.epoch.at == len(log.transcript)
    assert done.prepared is None


def test_what_was_prepared_serves_at_the_wall_too():
    log, state = prepared()
    state = longer(log, state)
    full = replace(state, limits=replace(state.limits, window=state.view_tokens - 1))
    _, effects = asked(log, full, 30.0)
    assert effects[-1].epoch.written_by == "model"
    assert effects[-1].epoch.urgency.value == "must fit"


def test_it_is_dropped_where_another_epoch_or_an_undo_came_between():
    log, state = prepared()
    compacting, effects = requested(log, replace(state, limits=replace(state.limits, model=False)), 22.0)
    assert isinstance(effects[-1], ev.Commit)
    after, _ = step(compacting, ev.Committed(23.0))
    assert after.prepared is None
    undone, _ = step(replace(after, prepared=state.prepared), ev.Undone(log, None))
    assert undone.prepared is None


def test_its_failure_pauses_and_changes_nothing():
    log, state, _ = preparing()
    after, effects = fail(log, state, "server")
    assert [type(e) for e in effects] == [ev.Say]
    assert after.number == 0
    assert after.trouble.until == 170.0
    assert not after.trouble.fallback
    assert asked(log, after, 120.0)[1] == ()


def test_it_gives_way_to_a_user_and_to_the_wall():
    log, state, call = preparing()
    manual, (second,) = requested(log, state, 12.0)
    assert second.ticket != call.ticket
    assert not second.background
    late = ev.SummaryArrived(log, good(state.pending.ledger), 13.0, ticket=call.ticket)
    assert step(manual, late) == (manual, ())
    _, effects = requested(log, state, 12.0, must_fit=True)
    assert effects[-1].epoch.written_by == "ledger"


def test_a_view_the_provider_refused_is_made_smaller_by_a_fifth_at_least():
    log, state = log_and_state(conversation(9))
    sizes = [state.view_tokens]
    for _ in range(3):
        state, effects = requested(log, state, must_fit=True)
        if not isinstance(effects[-1], ev.Commit):
            break
        state, _ = step(state, ev.Committed(1.0))
        sizes.append(state.view_tokens)
    assert len(sizes) >= 2
    assert sizes[1] <= 0.8 * sizes[0]
