"""Many files and folders: which they are, and each in turn, on every core where that is worth it."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from clew.errors import ClewError, ClewWarning
from clew.inspect.file import inspect_file
from clew.inspect.values import Options, Outcome, Unreadable

_ENDINGS = (".jsonl", ".json")
_WORTH = 12 << 20  # bytes below which starting workers costs more than they save
_FEW = 40  # files whose growth is kept in full
_POINTS = 120

Done = Callable[[int, int], None]


def expand(paths: Iterable[Path | str]) -> Iterator[Path | Unreadable]:
    """Files as they are named; in folders every .json and .jsonl below, hidden ones and links to folders left out."""
    for given in paths:
        path = Path(given)
        if not _is_dir(path):
            yield path
            continue
        unreadable: list[Unreadable] = []
        found = sorted(_below(path, unreadable))
        yield from found
        yield from unreadable
        if not found and not unreadable:
            yield Unreadable(str(path), f"{path} holds no session files", "it is searched for .jsonl and .json")


def _is_dir(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


def _below(folder: Path, unreadable: list[Unreadable]) -> Iterator[Path]:
    def failed(e: OSError) -> None:
        unreadable.append(Unreadable(str(e.filename), f"{e.filename} can't be read: {e.strerror}"))

    for where, folders, names in os.walk(folder, onerror=failed):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        yield from (Path(where, n) for n in names if n.endswith(_ENDINGS) and not n.startswith("."))


def inspect_files(
    paths: Sequence[Path | Unreadable],
    options: Options | None = None,
    extra: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    done: Done | None = None,
    workers: int = 1,
) -> list[Outcome]:
    """Every file's outcome, in the order given. `done` is told the bytes finished and of how many, file by file.

    More `workers` are processes of their own, used where the files are large enough; a script that asks for them needs
    the usual `if __name__ == "__main__"`.
    """
    options = options or Options()
    if len(paths) > _FEW:
        options = replace(options, points=min(options.points, _POINTS))
    sizes = {i: _size(p) for i, p in enumerate(paths) if isinstance(p, Path)}
    whole = sum(sizes.values())
    out: dict[int, Outcome] = {i: p for i, p in enumerate(paths) if isinstance(p, Unreadable)}
    workers = min(workers, len(sizes))
    if workers > 1 and whole >= _WORTH:
        results = _spread(paths, sorted(sizes, key=lambda i: -sizes[i]), options, extra, workers)
    else:
        results = ((i, one(p, options, extra)) for i, p in enumerate(paths) if isinstance(p, Path))
    finished = 0
    for i, outcome in results:
        out[i] = outcome
        finished += sizes[i]
        if done is not None:
            done(finished, whole)
    return [out[i] for i in range(len(paths))]


def _spread(
    paths: Sequence[Path | Unreadable],
    order: Sequence[int],
    options: Options,
    extra: Mapping[str, Mapping[str, Any]] | None,
    workers: int,
) -> Iterator[tuple[int, Outcome]]:
    """The largest first, so that none is left alone at the end."""
    lost: list[int] = []
    with _pool(workers) as pool:
        running = {pool.submit(one, Path(str(paths[i])), options, extra): i for i in order}
        try:
            for future in as_completed(running):
                try:
                    yield running[future], future.result()
                except BrokenProcessPool:
                    lost.append(running[future])
        except BaseException:  # interrupted: what hasn't begun is not waited for
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for i in lost:  # one of these brought the workers down: each alone, so that only it is lost
        try:
            with _pool(1) as pool:
                yield i, pool.submit(one, Path(str(paths[i])), options, extra).result()
        except BrokenProcessPool:
            yield i, Unreadable(str(paths[i]), f"{paths[i]}: the process that read it was ended", "is memory short?")


def _pool(workers: int) -> ProcessPoolExecutor:
    # Started anew rather than forked: a fork of a process with threads may hang, and this is the same everywhere.
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_quiet)


def one(path: Path, options: Options, extra: Mapping[str, Mapping[str, Any]] | None = None) -> Outcome:
    """One file's outcome. An edge: one bad file never costs the others theirs."""
    try:
        return inspect_file(path, options, extra)
    except ClewError as e:
        return Unreadable(str(path), e.message, e.hint)
    except RecursionError:
        return Unreadable(str(path), f"{path} is nested too deeply to be read")
    except MemoryError:
        return Unreadable(str(path), f"{path} doesn't fit into memory", "free some, or split the file")
    except OSError as e:
        return Unreadable(str(path), f"{path} can't be read: {e.strerror or e}")
    except Exception as e:  # noqa: BLE001 - a bug met in one file of many: told with its place, and the others go on
        place = traceback.extract_tb(e.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return Unreadable(
            str(path), f"{path}: {type(e).__name__} in {where}: {e}", "this is a bug in Clew: please report it"
        )


def _quiet() -> None:
    """A model nobody listed is told of in the result, once; an interrupt is the parent's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", ClewWarning)


def _size(path: Path) -> int:
    with suppress(OSError, ValueError):
        return path.stat().st_size
    return 0


def cores() -> int:
    """How many processes may run at once."""
    with suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
