"""PyPI's compaction-conformance-kit on Clew: what survives five rounds at a fixed share of the text.

    pip install compaction-conformance-kit
    python bench/conformance.py [--budgets 10%,20%,30%] [--seeds 1-4] [--rounds 5]

Runs the kit's own benchmark (`compaction-kit benchmark --spec bench/conformance.py:Clew` prints its table) and its
generated corpus, which that leaves out. No model is asked.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from clew.handoff.brief import brief
from clew.ledger import of
from clew.ledger.foreign import recognise
from clew.transcript import Transcript
from clew.wire import get


class Clew:
    """The kit's protocol. The kit gives later rounds the text of the one before as a single turn: a handoff, which stays as
    it is as long as it fits, as Clew's own always do.
    """

    name = "clew"

    def compact(self, turns, round_num=1, budget_chars=None):
        from compaction_kit.compacted import CompactedContext

        room = budget_chars or sum(len(t.text) for t in turns)
        handed = [t.text for t in turns if recognise(t.text)]
        if handed and len(handed[-1]) <= room:
            text = handed[-1]
        else:
            wire = get("openai-chat")
            log = Transcript(wire.message({"role": t.role, "content": t.text}) for t in turns)
            said = [(i, m.text) for i, m in enumerate(log) if m.is_user_turn]
            text = brief(said, of(log), room, len).text
        return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)


def generated(budgets, seeds, rounds):
    """Survival in the kit's generated corpus, and updates whose old value is still there."""
    from compaction_kit.generated import build_generated_session
    from compaction_kit.runner import run_conformance

    for budget in budgets:
        rates, stale, over = [], 0, 0
        for seed in seeds:
            session, canaries = build_generated_session(seed)
            run = run_conformance(session, Clew(), rounds=rounds, canaries=canaries, budget_fraction=budget)
            last = run.rounds[-1]
            rates.append(sum(last.survived.values()) / len(canaries))
            text = last.context.text.lower()
            stale += sum(any(t.lower() in text for t in c.superseded_tokens) for c in canaries)
            over += any(not r.within_budget for r in run.rounds)
        print(
            f"generated corpus at {budget:.0%}: survival {statistics.mean(rates):.1%}, stale {stale}, over budget {over}"
        )


def main() -> int:
    try:
        from compaction_kit.benchmark import budget_benchmark_to_markdown, run_budget_benchmark
    except ImportError:
        print("needs the kit: pip install compaction-conformance-kit", file=sys.stderr)
        return 2
    ask = argparse.ArgumentParser()
    ask.add_argument("--budgets", default="10%,20%,30%")
    ask.add_argument("--seeds", default="1-4")
    ask.add_argument("--rounds", type=int, default=5)
    given = ask.parse_args()
    budgets = [float(b.rstrip("%")) / 100 for b in given.budgets.split(",")]
    first, _, last = given.seeds.partition("-")
    seeds = list(range(int(first), int(last or first) + 1))
    payload = run_budget_benchmark({"clew": Clew}, budgets=budgets, seeds=seeds, rounds=given.rounds)
    print(budget_benchmark_to_markdown(payload))
    generated(budgets, seeds, given.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
