"""Redaction, measured: recall by family, false positives on real tool results, speed of both engines.

    python bench/redact.py [--families] [--code DIR]

Recall is over the vectors of `tests/test_redact_vectors.py`. False positives are findings in the tool results of the
bench sessions (`CLEW_BENCH_DIR`), each printed so that a reader can judge it; none of those sessions holds a secret
that we know of, so every finding counts against us. With `--code` the same is done with the source files below a
directory, at most 40 MB of them. Speed is CPU time on blocks of 100 KB of the same tool results,
the best of five rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.test_redact_vectors import NEAR_MISSES, recall  # noqa: E402

from clew.redact.engine import Engine, apply, findings  # noqa: E402 - the path comes first
from clew.redact.engine_hyperscan import HyperscanEngine  # noqa: E402
from clew.redact.engine_stdlib import StdlibEngine  # noqa: E402
from clew.redact.marks import Marks  # noqa: E402

BENCH = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench"))
BLOCK = 100_000
SOURCES = frozenset([".py", ".js", ".mjs", ".ts", ".json", ".yaml", ".toml", ".md", ".rs", ".go", ".h", ".c", ".html"])


def tool_results() -> list[str]:
    """What the tools of the bench sessions gave back."""
    out = []
    for path in sorted((BENCH / "sessions").glob("*.json")):
        for message in json.loads(path.read_text(encoding="utf-8"))["messages"]:
            if message["role"] == "tool":
                content = message["content"] or ""
                out.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    return out


def source_files(folder: Path) -> list[str]:
    """The texts of source files below a folder, up to 40 MB of them, in an order that mixes folders."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path.is_file())
    random.Random(1).shuffle(paths)
    out, size = [], 0
    for path in paths:
        if size > 40_000_000:
            break
        text = path.read_text(encoding="utf-8", errors="replace")
        if len(text) < 2_000_000:
            out.append(text)
            size += len(text)
    return out


def show_recall(*, families: bool) -> None:
    """The worst families, or all of them."""
    table = recall()
    good, total = sum(g for g, _ in table.values()), sum(t for _, t in table.values())
    full = sum(g == t for g, t in table.values())
    print(
        f"recall: {good}/{total} vectors = {good / total:.4f}; {full} of {len(table)} families complete; near misses: {len(NEAR_MISSES)}"
    )
    for family, (hit, of) in sorted(table.items()):
        if families or hit < of:
            print(f"  {family:20} {hit:4}/{of:<4} {hit / of:.3f}")


def show_false_positives(texts: list[str], engine: Engine, what: str = "tool results") -> None:
    """Every finding, and how many a megabyte."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    count = 0
    for text in texts:
        for found in findings(text, engine, Marks(), code_file=False):
            count += 1
            print(f"  {found.family}: {text[max(0, found.start - 40) : found.end + 20]!r}")
    print(f"false positives: {count} in {size:.2f} MB of {what} = {count / size:.2f} a MB")


def speed(blocks: list[str], work: Callable[[str], object]) -> float:
    """MB a second of CPU time, the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        begun = time.process_time()
        for block in blocks:
            work(block)
        best = min(best, time.process_time() - begun)
    return sum(map(len, blocks)) / best / 1e6


def show_speed(texts: list[str], engines: list[Engine]) -> None:
    """Each engine, and how it stands to the other."""
    whole = "\n".join(texts)
    blocks = [whole[at : at + BLOCK] for at in range(0, len(whole) - BLOCK, BLOCK)]
    rates = {}
    for engine in engines:
        rates[engine.name] = speed(
            blocks, lambda block, engine=engine: apply(block, findings(block, engine, Marks(), code_file=False))
        )
        print(f"speed: {engine.name:10} {rates[engine.name]:7.1f} MB/s on blocks of {BLOCK // 1000} KB")
    if len(rates) == 2:
        print(f"speed: the fast engine is {rates['hyperscan'] / rates['stdlib']:.1f} times the other")


def main() -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--families", action="store_true", help="every family, not only those below 1")
    parser.add_argument("--code", type=Path, help="count false positives in the source files below this folder as well")
    arguments = parser.parse_args()
    show_recall(families=arguments.families)
    try:
        engines: list[Engine] = [HyperscanEngine(), StdlibEngine()]
    except ImportError:
        engines = [StdlibEngine()]
        print("left out: hyperscan (pip install 'clew[redact-fast]')")
    if arguments.code is not None:
        show_false_positives(source_files(arguments.code), engines[0], f"source below {arguments.code.name}")
    if not (BENCH / "sessions").is_dir():
        print(f"left out: false positives and speed, no bench sessions at {BENCH} (set CLEW_BENCH_DIR)")
        return
    texts = tool_results()
    show_false_positives(texts, engines[0])
    show_speed(texts, engines)


if __name__ == "__main__":
    main()
