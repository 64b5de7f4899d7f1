"""The table, pair by pair: what is listed does what it says, what isn't raises."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from clew.engine import describe
from clew.engine import events as ev
from clew.engine.failures import thrash
from clew.engine.machine import LEADS_TO, TRANSITIONS, step
from clew.engine.values import EMPTY_BASE, Epoch, Phase, Refusal
from clew.errors import ProtocolBug
from tests.conftest import ROOT
from tests.engine.build import asked, conversation, log_and_state, requested
from tests.engine.replies import good

EVENTS = ev.Event.__args__
PAIRS = [(phase, event) for phase in Phase for event in EVENTS]


def in_phase(phase):
    """A log, and a state that came into this phase by events alone."""
    log, state = log_and_state(model=phase is Phase.SUMMARISING)
    match phase:
        case Phase.IDLE:
            pass
        case Phase.SUMMARISING | Phase.COMMITTING:
            state, _ = requested(log, state)
        case Phase.CLOSED:
            state, _ = step(state, ev.Closing())
    assert state.phase is phase
    return log, state


def sample(event, log, state):
    """One event of each kind."""
    made = {
        ev.Appended: lambda: ev.Appended(7),
        ev.Asked: lambda: ev.Asked(log, 5.0),
        ev.CompactRequested: lambda: ev.CompactRequested(log, 5.0),
        ev.Reported: lambda: ev.Reported(900, 800, 5.0),
        ev.SummaryArrived: lambda: ev.SummaryArrived(log, good(state.pending.ledger if state.pending else None), 5.0),
        ev.SummaryFailed: lambda: ev.SummaryFailed(log, "server", "overloaded", 5.0),
        ev.Committed: lambda: ev.Committed(5.0),
        ev.CommitRefused: lambda: ev.CommitRefused("another was faster"),
        ev.Undone: lambda: ev.Undone(log, None),
        ev.Cancelled: ev.Cancelled,
        ev.Closing: ev.Closing,
    }
    return made[event]()


@pytest.mark.parametrize(("phase", "event"), PAIRS, ids=lambda x: getattr(x, "value", getattr(x, "__name__", x)))
def test_every_pair_leads_where_the_table_says_or_raises(phase, event):
    log, state = in_phase(phase)
    given = sample(event, log, state)
    if (phase, event) not in TRANSITIONS:
        with pytest.raises(ProtocolBug, match=event.__name__):
            step(state, given)
        return
    after, effects = step(state, given)
    assert after.phase in LEADS_TO[phase, event]
    assert isinstance(effects, tuple)
    again = step(state, given)
    assert again == (after, effects)  # the same state and event, the same outcome


def test_the_table_lists_no_event_or_phase_that_does_not_exist():
    assert {e for _, e in TRANSITIONS} == set(EVENTS)
    assert set(LEADS_TO) == set(TRANSITIONS)
    assert len(PAIRS) == len(Phase) * len(EVENTS) == 44


def test_appending_counts_and_keeps_the_newest_sizes():
    _, state = in_phase(Phase.IDLE)
    after, _ = step(state, ev.Appended(41))
    assert after.length == state.length + 1
    assert after.tail_tokens == state.tail_tokens + 41
    assert after.recent == (*state.recent[1:], 41)


def test_a_report_is_remembered_for_the_request_it_was_for():
    _, state = in_phase(Phase.IDLE)
    after, _ = step(state, ev.Reported(900, 800, 5.0))
    assert (after.reported, after.reported_view, after.last_request) == (900, 800, 5.0)


def test_asking_well_under_the_threshold_does_nothing_but_pay_rent():
    log, state = log_and_state(conversation(4))
    after, effects = asked(log, state)
    assert effects == ()
    assert after.phase is Phase.IDLE
    assert after.base is EMPTY_BASE


def test_asking_over_the_threshold_commits_a_smaller_view():
    log, state = log_and_state()
    after, effects = asked(log, state)
    (commit,) = effects
    assert isinstance(commit, ev.Commit)
    done, effects = step(after, ev.Committed(1.0))
    assert effects == ()
    assert done.phase is Phase.IDLE
    assert done.view_tokens == commit.epoch.receipt.after < state.view_tokens
    assert done.number == 1


def test_asking_with_a_model_calls_it_once_and_the_view_stands_until_it_answers():
    log, state = log_and_state(conversation(9), model=True)
    waiting, (call,) = asked(log, state)
    assert isinstance(call, ev.CallModel)
    assert call.attempt == "aux"
    assert not call.background
    still, effects = asked(log, waiting)
    assert effects == ()
    assert still.phase is Phase.SUMMARISING
    assert still.base is EMPTY_BASE


def test_at_the_wall_the_ledger_writes_even_while_a_model_is_asked():
    log, state = log_and_state(conversation(9), model=True)
    waiting, _ = asked(log, state)
    full = replace(waiting, limits=replace(waiting.limits, window=state.view_tokens - 10))
    after, effects = asked(log, full)
    assert after.phase is Phase.COMMITTING
    assert effects[-1].epoch.written_by == "ledger"
    assert effects[-1].epoch.urgency.value == "must fit"
    late = ev.SummaryArrived(log, good(waiting.pending.ledger), 9.0, ticket=waiting.pending.ticket)
    assert step(after, late) == (after, ())


def test_a_second_request_is_refused_while_a_model_writes_and_at_the_wall_it_is_not():
    log, state = in_phase(Phase.SUMMARISING)
    after, (refused,) = requested(log, state)
    assert refused.refusal.kind == "busy"
    assert after.phase is Phase.SUMMARISING
    after, effects = requested(log, state, must_fit=True)
    assert isinstance(effects[-1], ev.Commit)
    assert effects[-1].epoch.written_by == "ledger"


def test_a_good_summary_becomes_the_epoch():
    log, state = in_phase(Phase.SUMMARISING)
    after, (commit,) = step(state, sample(ev.SummaryArrived, log, state))
    assert commit.epoch.written_by == "model"
    assert after.pending is None


def test_an_answer_to_a_call_that_was_given_up_is_not_taken_for_the_next_ones():
    log, state = in_phase(Phase.SUMMARISING)
    first = state.pending.ticket
    state, _ = step(state, ev.Cancelled())
    state, (call,) = requested(log, state)
    assert call.ticket != first
    for late in (
        ev.SummaryArrived(log, good(state.pending.ledger), 9.0, ticket=first),
        ev.SummaryFailed(log, "server", "late", 9.0, ticket=first),
        ev.Cancelled(first),
    ):
        assert step(state, late) == (state, ())
    after, _ = step(state, ev.SummaryArrived(log, good(state.pending.ledger), 9.0, ticket=call.ticket))
    assert after.phase is Phase.COMMITTING


def test_cancelling_leaves_everything_as_it_was():
    _, state = in_phase(Phase.SUMMARISING)
    after, effects = step(state, ev.Cancelled())
    assert after.phase is Phase.IDLE
    assert (after.base, after.number, after.trouble) == (state.base, state.number, state.trouble)
    assert "cancelled" in effects[0].refusal.reason


def test_a_refused_commit_leaves_the_view_and_says_who_was_faster():
    _, state = in_phase(Phase.COMMITTING)
    after, (refused,) = step(state, ev.CommitRefused("another was faster"))
    assert after.base is EMPTY_BASE
    assert after.epoch is None
    assert refused.refusal.kind == "busy"
    assert "another was faster" in after.said


def test_undoing_the_only_epoch_gives_the_whole_back_and_the_one_before_it_otherwise():
    log, state = log_and_state()
    first, (commit,) = requested(log, state)
    one, _ = step(first, ev.Committed(1.0))
    whole, _ = step(one, ev.Undone(log, None))
    assert whole.view_tokens == state.view_tokens
    assert whole.number == 0
    two, effects = requested(log, replace(one, refused_at=-1))
    if isinstance(effects[-1], ev.Commit):
        two, _ = step(two, ev.Committed(2.0))
        back, _ = step(two, ev.Undone(log, commit.epoch))
        assert back.view_tokens == one.view_tokens
        assert back.number == 1
    else:
        assert isinstance(effects[-1].refusal, Refusal)


def test_closing_drops_what_was_under_way():
    for phase in (Phase.IDLE, Phase.SUMMARISING, Phase.COMMITTING):
        _, state = in_phase(phase)
        after, effects = step(state, ev.Closing())
        assert (after.phase, after.pending, after.epoch, effects) == (Phase.CLOSED, None, None, ())


def test_two_poor_epochs_tighten_and_say_why_and_a_good_one_clears_that():
    log, state = log_and_state()
    state, (commit,) = requested(log, state)
    poor = commit.epoch
    poor = replace(poor, receipt=replace(poor.receipt, before=poor.receipt.after + 10))
    first, said = step(replace(state, epoch=poor), ev.Committed(1.0))
    assert (first.strikes, first.level, said) == (1, 0, ())
    second, (say,) = step(replace(first, phase=Phase.COMMITTING, epoch=poor), ev.Committed(2.0))
    assert (second.strikes, second.level) == (2, 1)
    assert "two compactions in a row" in say.text
    assert "focus" in say.text
    cleared, _ = step(replace(second, phase=Phase.COMMITTING, epoch=commit.epoch), ev.Committed(3.0))
    assert (cleared.strikes, cleared.level) == (0, 0)


def test_the_two_causes_of_poor_epochs_have_their_own_remedies():
    log, state = log_and_state()
    _, (commit,) = requested(log, state)
    epoch: Epoch = commit.epoch
    dense = replace(epoch, receipt=replace(epoch.receipt, after=3 * epoch.base.tokens))
    assert "smaller tail" in thrash(dense)
    wordy = replace(epoch, receipt=replace(epoch.receipt, after=epoch.base.tokens + 10))
    assert "handoff itself" in thrash(wordy)


def between(text, name):
    start, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
    assert start in text
    return text[text.index(start) + len(start) : text.index(end)]


@pytest.mark.parametrize("name", ["diagram", "table", "failures"])
def test_the_docs_show_the_tables_the_code_runs_on(name):
    """`CLEW_WRITE_DOCS=1` writes them anew."""
    page = ROOT / "docs" / "explanation" / "engine.md"
    text, drawn = page.read_text(), getattr(describe, name)()
    if os.environ.get("CLEW_WRITE_DOCS") == "1":
        head, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, tail = rest.partition(f"<!-- end {name} -->")
        text = f"{head}<!-- {name} -->\n{drawn}\n<!-- end {name} -->{tail}"
        page.write_text(text)
    assert between(text, name) == drawn
