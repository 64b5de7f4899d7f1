"""How right the ledger is: precision and recall by type against hand labels, and what it costs a message.

    python bench/ledger.py [--json] [--misses] [--group NAME] [--sessions DIR] [--labels DIR]

Labels hold digests only, so that no text of a session stands in the project; the sessions are read from the bench
folder (CLEW_BENCH_DIR). What a label file says: which messages were labelled (`from` to `messages`; the ledger sees those
before them too), which types, and for each fact the message it stands in and the digests of the forms that count as it.
A fact marked `may` is one that a reader could list or leave out: it counts neither way; `*` stands for any other sentence
of its message. The groups "held-…" were each measured once before any of their misses was looked at, then learnt from;
what they scored at that first sight is in the docs, and what is printed here is no measure of sessions not seen yet.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.ledger import Builder, Ledger
from clew.ledger.sentences import sentences
from clew.transcript import Message, Transcript
from clew.wire import get
from clew.wire.files import read

ROOT = Path(__file__).resolve().parents[1]
TYPES = ("requests", "constraints", "files", "commands", "errors", "decisions")
GROUPS = ("dev", "held-out", "dev2", "held2", "held3", "held4", "held5", "held6", "held7", "held8")
_LEAD = 24  # letters and digits by which a sentence is told: splitters may end it elsewhere


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8, key=b"clew ledger labels").hexdigest()


def sentence_key(text: str) -> str:
    """A sentence by its first letters and digits."""
    return re.sub(r"[\W_]+", "", text.lower())[:_LEAD]


def line_key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())[:200]


def flat(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True)
class Found:
    """One fact of a ledger as it is compared: the message it stands in, its key, and how to print it."""

    type: str
    at: int
    key: str
    shown: str


def facts(ledger: Ledger) -> Iterator[Found]:
    for r in ledger.requests:
        yield Found("requests", r.source, f"{flat(r.text)}|{r.status}", f"{r.status}: {r.text}")
    for c in ledger.current_constraints:
        yield Found("constraints", c.source, sentence_key(c.text), c.text)
    for f in ledger.files:
        for verb in dict.fromkeys("deleted" if a.verb == "deleted" else a.verb for a in f.actions):
            yield Found("files", -1, f"{verb}|{f.path}", f"{verb} {f.path}")
    for c in ledger.commands:
        state = "failed" if c.failed else "ok"
        yield Found("commands", c.source, f"{flat(c.text)}|{state}", f"{state}: {flat(c.text)[:150]}")
    for e in ledger.open_errors:
        yield Found("errors", -1, line_key(e.text), e.text)
    for d in ledger.decisions:
        yield Found("decisions", d.source, sentence_key(d.text), d.text)


@dataclass
class Score:
    found: int = 0
    labelled: int = 0
    right: int = 0
    not_judged: int = 0
    misses: list[str] = field(default_factory=list)

    def add(self, other: Score) -> None:
        self.found += other.found
        self.labelled += other.labelled
        self.right += other.right
        self.not_judged += other.not_judged
        self.misses += other.misses

    @property
    def precision(self) -> float | None:
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return (
            (self.labelled - sum(m.startswith("missing") for m in self.misses)) / self.labelled
            if self.labelled
            else None
        )


def named(options: list[dict[str, Any]], messages: list[Any], kind: str) -> str:
    """What a missed label says, found again in the session by its digest."""
    for option in options:
        texts = [messages[option["at"]].text] if option["at"] >= 0 else [m.text for m in messages]
        for text in texts:
            for piece in (*sentences(text), *text.split("\n")):
                if digest(sentence_key(piece)) == option["is"] or (
                    kind == "errors" and digest(line_key(piece)) == option["is"]
                ):
                    return f"[{option['at']}] {piece.strip()[:220]}"
    return f"[{options[0]['at']}]"


def judge(label: dict[str, Any], ledger: Ledger, messages: list[Any], kind: str, name: str) -> Score:
    """One session, one type. Several found facts may say the same labelled one: each is right, it counts once."""
    score = Score()
    wanted = [w for w in label["facts"] if w["type"] == kind]
    must, may = [w for w in wanted if not w.get("may")], [w for w in wanted if w.get("may")]
    score.labelled = len(must)
    hit = [False] * len(must)
    start = label.get("from", 0)
    for f in (f for f in facts(ledger) if f.type == kind and (f.at < 0 or f.at >= start)):
        code = digest(f.key)
        same = [i for i, w in enumerate(must) if any(o["is"] == code and o["at"] in (-1, f.at) for o in w["any"])]
        for i in same:
            hit[i] = True
        if same:
            score.found += 1
            score.right += 1
        elif any(o["at"] in (-1, f.at) and o["is"] in ("*", code) for w in may for o in w["any"]):
            score.not_judged += 1
        else:
            score.found += 1
            score.misses.append(f"wrong    {name} [{f.at}] {f.shown[:220]}")
    for w, ok in zip(must, hit, strict=True):
        if not ok:
            score.misses.append(f"missing  {name} {named(w['any'], messages, kind)}")
    return score


def conversation(path: Path) -> list[Message]:
    """A bench session's messages, or those of a file that an agent left."""
    if path.suffix == ".jsonl":
        return list(read(path).messages)
    wire = get("openai-chat")
    return [wire.message(value) for value in json.loads(path.read_text())["messages"]]


def built(path: Path, count: int) -> tuple[Ledger, list[Any], list[float]]:
    """The ledger of a session's first messages, those messages, and the seconds each took."""
    transcript, builder, took = Transcript(), Builder(), []
    for message in conversation(path)[:count]:
        at = transcript.append(message)
        start = time.process_time()  # others may share the machine
        builder.observe(at, message, transcript)
        took.append(time.process_time() - start)
    return builder.ledger(), list(transcript), took


def measure(labels: Path, sessions: Path, groups: tuple[str, ...] = GROUPS) -> dict[str, dict[str, Score]]:
    out = {g: {t: Score() for t in TYPES} for g in groups}
    for path in sorted(labels.glob("*.json")):
        label = json.loads(path.read_text())
        if label["group"] not in groups:
            continue
        source = sessions / f"{label['session']}.json"
        if label.get("native"):
            source = sessions.parent / "native" / f"{label['session']}.jsonl"
        if not source.exists():
            print(f"left out: {label['session']} (no such file in {sessions})", file=sys.stderr)
            continue
        ledger, messages, _ = built(source, label["messages"])
        for kind in label["types"]:
            out[label["group"]][kind].add(judge(label, ledger, messages, kind, label["session"]))
    return out


def costs(sessions: Path) -> dict[str, float]:
    """Milliseconds a message over every session whole: the median, the mean, the slowest; and the linearity."""
    took: list[float] = []
    for path in sorted(sessions.glob("*.json")):
        took += built(path, 10**9)[2]
    if not took:
        return {}
    return {"median": statistics.median(took) * 1e3, "mean": statistics.fmean(took) * 1e3, "slowest": max(took) * 1e3}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    bench = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench"))
    parser.add_argument("--sessions", type=Path, default=bench / "sessions")
    parser.add_argument("--labels", type=Path, default=ROOT / "tests" / "data" / "ledger_labels")
    parser.add_argument("--group", choices=GROUPS, action="append", help="only these groups; no cost is measured")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print what was missing and what was wrong")
    args = parser.parse_args()
    if not args.sessions.is_dir():
        print(f"left out: no bench sessions at {args.sessions} (set CLEW_BENCH_DIR)")
        return 0
    result = measure(args.labels, args.sessions, tuple(args.group or GROUPS))
    cost = {} if args.group else costs(args.sessions)
    if args.json:
        print(
            json.dumps({"scores": {g: {t: _plain(s) for t, s in by.items()} for g, by in result.items()}, "ms": cost})
        )
        return 0
    for group, by in result.items():
        print(f"{group:10} {'recall':>7} {'precision':>10} {'labelled':>9} {'found':>6} {'not judged':>11}")
        for kind, score in by.items():
            print(
                f"  {kind:11}{_share(score.recall):>4} {_share(score.precision):>10} {score.labelled:>9} {score.found:>6}"
                f" {score.not_judged:>11}"
            )
            if args.misses:
                print("".join(f"      {m}\n" for m in score.misses), end="")
    if cost:
        print("ms a message: " + ", ".join(f"{k} {v:.2f}" for k, v in cost.items()))
    return 0


def _plain(score: Score) -> dict[str, Any]:
    return {
        "recall": score.recall, "precision": score.precision, "labelled": score.labelled, "found": score.found,
        "not_judged": score.not_judged,
    }  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
