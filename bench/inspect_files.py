"""How fast `clew inspect` is, and how much memory it takes: `python bench/inspect_files.py [FOLDER] [MEGABYTES]`.

    folder     every session file of the bench folder, once
    replicated the same files by links until there are so many megabytes (100)
    one file   one log of that size, written out of a real one whose conversation is repeated

Speeds are processor seconds for 100 MB, because that doesn't depend on who else uses the machine; the wall clock stands
beside them. Memory is the largest sum over all processes, sampled 20 times a second (Linux only).
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BENCH = Path(os.environ.get("CLEW_BENCH_DIR", ROOT.parent / "shared" / "bench"))
COMMAND = [sys.executable, "-c", "from clew.cli.main import main; main()", "inspect"]


def family(pid: int) -> list[int]:
    """The process and all that it started."""
    out = [pid]
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                out += family(int(child))
    except OSError:
        pass
    return out


def resident(pid: int) -> float:
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def measured(name: str, paths: list[Path]) -> None:
    size = sum(p.stat().st_size for p in paths) / 1e6
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    run = subprocess.Popen([*COMMAND, *map(str, paths)], stdout=subprocess.DEVNULL)
    whole = largest = 0.0
    while run.poll() is None:
        sizes = [resident(p) for p in family(run.pid)]
        whole, largest = max(whole, sum(sizes)), max(largest, *sizes)
        time.sleep(0.05)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if run.returncode:
        raise SystemExit(f"{name}: exit code {run.returncode}")
    print(
        f"{name:12}{len(paths):5} files{size:8.0f} MB   {wall:6.1f} s wall   {cpu:6.1f} s cpu   "
        f"{cpu / size * 100:6.1f} s cpu / 100 MB   {whole:5.0f} MB in all   {largest:5.0f} MB in the largest process"
    )


def replicated(files: list[Path], folder: Path, megabytes: float) -> list[Path]:
    out, size, n = [], 0.0, 0
    while size < megabytes * 1e6:
        for path in files:
            link = folder / f"{n}-{path.name}"
            link.symlink_to(path)
            out.append(link)
            size += path.stat().st_size
        n += 1
    return out


def lengthened(source: Path, target: Path, megabytes: float) -> Path:
    """One conversation, said again and again, in one file."""
    lines = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    last, n, size = None, 0, 0
    with target.open("w", encoding="utf-8") as out:
        while size < megabytes * 1e6:
            n += 1
            named = None
            for line in lines:
                copy = dict(line)
                if copy.get("uuid"):
                    named = copy["uuid"] = f"{line['uuid']}-{n}"
                    copy["parentUuid"] = f"{line['parentUuid']}-{n}" if line.get("parentUuid") else last
                if isinstance(copy.get("message"), dict) and "id" in copy["message"]:
                    copy["message"] = {**copy["message"], "id": f"{copy['message']['id']}-{n}"}
                size += out.write(json.dumps(copy) + "\n")
            last = named
    return target


def _is_one_thread(text: str) -> bool:
    """A log of Claude Code that can be said again at its own end: nothing in it begins the thread anew."""
    return '"parentUuid"' in text[:9000] and '"compact_boundary"' not in text


def main() -> int:
    bench = Path(sys.argv[1]) if len(sys.argv) > 1 else BENCH
    megabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 100
    files = [*sorted((bench / "native").glob("*.jsonl")), *sorted((bench / "sessions").glob("*.json"))]
    if not files:
        print(f"left out: no session files in {bench}")
        return 1
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    measured("folder", files)
    with tempfile.TemporaryDirectory() as scratch:
        measured("replicated", replicated(files, Path(scratch), megabytes))
        logs = [p for p in files if _is_one_thread(p.read_text(encoding="utf-8"))]
        if logs:
            largest = max(logs, key=lambda p: p.stat().st_size)
            measured("one file", [lengthened(largest, Path(scratch) / "one.jsonl", megabytes)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
