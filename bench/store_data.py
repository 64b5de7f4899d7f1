"""Messages like the bench sessions', as many as one likes: real ones taken apart into lines and put together anew, with
names and numbers of their own, so that none repeats and lengths, roles and vocabulary stay as they were.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

from clew import wire
from clew.transcript import Message

BENCH = Path(os.environ.get("CLEW_BENCH_DIR", Path(__file__).resolve().parents[2] / "shared" / "bench"))
_NUMBER = re.compile(r"\b\d{3,}\b|\b[0-9a-f]{7,40}\b")
_NAME = re.compile(r"\b[a-z]+_[a-z_]+\b")
_CJK = "把这个文件读出来再检查一遍数据库迁移是否完成会话压缩索引搜索结果"


class Sessions:
    """An endless run of sessions. The same seed gives the same ones."""

    def __init__(self, seed: int = 1) -> None:
        self.rng = random.Random(seed)
        self.shapes: list[list[dict]] = []
        self.lines: dict[str, list[str]] = {}
        for path in sorted((BENCH / "sessions").glob("*.json")):
            messages = json.loads(path.read_text())["messages"]
            self.shapes.append(messages)
            for m in messages:
                if isinstance(m.get("content"), str):
                    self.lines.setdefault(m["role"], []).extend(x for x in m["content"].split("\n") if len(x) < 2000)
        if not self.shapes:
            raise SystemExit(f"no sessions at {BENCH}: set CLEW_BENCH_DIR")

    def __iter__(self) -> Iterator[list[Message]]:
        chat = wire.get("openai-chat")
        while True:
            shape = self.rng.choice(self.shapes)
            ids: dict[str, str] = {}
            made = (self._new(m, ids) for m in shape)
            yield [chat.message(json.dumps(m, ensure_ascii=False, separators=(",", ":")).encode()) for m in made]

    def _new(self, m: dict, ids: dict[str, str]) -> dict:
        new = dict(m)
        if "tool_call_id" in new:
            new["tool_call_id"] = self._id(new["tool_call_id"], ids)
        if isinstance(new.get("content"), str):
            new["content"] = self._text(new["content"], m["role"])
        if new.get("tool_calls"):
            new["tool_calls"] = [
                {
                    **c,
                    "id": self._id(c["id"], ids),
                    "function": {**c["function"], "arguments": self._fresh(c["function"]["arguments"])},
                }
                for c in new["tool_calls"]
            ]
        return new

    def _id(self, old: str, ids: dict[str, str]) -> str:
        """Providers never give an id of a call twice."""
        return ids.setdefault(old, f"{old[:5]}{self.rng.getrandbits(4 * max(8, min(24, len(old) - 5))):x}")

    def _text(self, text: str, role: str) -> str:
        pool, rng = self.lines[role], self.rng
        lines = [x if rng.random() < 0.7 else rng.choice(pool) for x in text.split("\n")]
        if rng.random() < 0.01:
            at = rng.randrange(len(_CJK) - 6)
            lines.append(_CJK[at : at + 6] + str(rng.randrange(10**6)))
        return self._fresh("\n".join(lines)) + f" {rng.getrandbits(32):x}"

    def _fresh(self, text: str) -> str:
        """Numbers and hashes change always, names now and then: that is how real sessions differ."""
        rng = self.rng
        text = _NUMBER.sub(lambda m: _same_shape(m.group(), rng), text)
        return _NAME.sub(lambda m: m.group() if rng.random() < 0.98 else f"{m.group()}_{rng.getrandbits(20):x}", text)


def _same_shape(text: str, rng: random.Random) -> str:
    if text.isdigit():
        return str(rng.randrange(10 ** (len(text) - 1), 10 ** len(text))) if len(text) < 300 else text
    return f"{rng.getrandbits(4 * len(text)):0{len(text)}x}"
