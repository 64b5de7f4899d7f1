"""Time per step (append what came, ask for the view), without a store: at 1,000 messages and at 10,000.

    python bench/steps.py [--messages 10000] [--window 64000] [--profile]

A step is one round of an agent: its call and the result are appended, the view for the next request is asked for. Printed
are median and 95th percentile around both lengths, and the ratio of the medians; epochs are among the steps.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import statistics
import time

from clew import Context
from clew.testing import session
from clew.wire import get

AROUND = 400  # messages at whose end a length's steps are timed


def steps(count, window):
    """Seconds each round took, with the length of the conversation after it."""
    messages = []
    seed = 0
    while len(messages) < count:
        for m in session.generate(seed, turns=12).messages:
            messages.append(renamed(m, seed))
        seed += 1
    ctx = Context(window, config={}, clock=lambda: 0.0)
    timed = []
    held = 0.0
    for n, m in enumerate(messages[:count], 1):
        start = time.perf_counter()
        ctx.append(m)
        held += time.perf_counter() - start
        if m["role"] != "assistant":
            start = time.perf_counter()
            ctx.view_messages()
            timed.append((n, held + time.perf_counter() - start))
            held = 0.0
    return timed, len(ctx.epochs)


def renamed(message, seed):
    """The message with call ids of its own session."""
    out = dict(message)
    if "tool_calls" in out:
        out["tool_calls"] = [{**c, "id": f"{seed}-{c['id']}"} for c in out["tool_calls"]]
    if "tool_call_id" in out:
        out["tool_call_id"] = f"{seed}-{out['tool_call_id']}"
    return out


def around(timed, length):
    here = sorted(t for n, t in timed if length - AROUND < n <= length)
    return statistics.median(here) * 1000, here[int(len(here) * 0.95)] * 1000


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--messages", type=int, default=10_000)
    ask.add_argument("--window", type=int, default=64_000)
    ask.add_argument("--profile", action="store_true")
    given = ask.parse_args()
    assert get("openai-chat")  # loaded before anything is timed
    if given.profile:
        with cProfile.Profile() as p:
            steps(given.messages, given.window)
        pstats.Stats(p).sort_stats("cumulative").print_stats(45)
        return
    timed, epochs = steps(given.messages, given.window)
    near, far = around(timed, given.messages // 10), around(timed, given.messages)
    whole = sum(t for _, t in timed) / len(timed) * 1000
    print(f"{given.messages} messages, {epochs} epochs, window {given.window}")
    print(f"at {given.messages // 10}: median {near[0]:.2f} ms, p95 {near[1]:.2f} ms")
    print(f"at {given.messages}: median {far[0]:.2f} ms, p95 {far[1]:.2f} ms")
    print(f"ratio of the medians {far[0] / near[0]:.2f}; mean of all steps, epochs included, {whole:.2f} ms")


if __name__ == "__main__":
    main()
