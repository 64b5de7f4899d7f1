"""`clew inspect` and `clew validate`: where the tokens of session files went, and whether a provider would take them."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from clew.config import load
from clew.errors import ClewWarning, InputError
from clew.inspect import Inspection, Options, Outcome, Unreadable, as_json, cores, expand, inspect_files
from clew.inspect.figures import plural
from clew.report import look_of, page, write
from clew.report.canvas import clean
from clew.report.of_inspection import of_inspection, of_many

_PATIENCE = 1.0  # seconds before progress is shown
_UNFOLDED = 200  # files that a page holds in full
UNREADABLE = 2
PROBLEMS = 1

_FILES = typer.Argument(..., help="Session files, or folders to search for .json and .jsonl.", show_default=False)
_MODEL = typer.Option(None, "--model", "-m", help="The model to count and price for, where the file names none.")
_WINDOW = typer.Option(None, "--window", "-w", min=1, help="The window in tokens, where the catalog's isn't right.")
_FORMAT = typer.Option(None, "--format", help="What the files are, where it can't be told.")
_JSON = typer.Option(False, "--json", help="JSON on standard output.")


def inspect(
    files: list[Path] = _FILES,
    model: str | None = _MODEL,
    window: int | None = _WINDOW,
    format: str | None = _FORMAT,  # noqa: A002 - it becomes the option's name
    as_json_: bool = _JSON,
    html: Path | None = typer.Option(None, "--html", help="Write one self-contained page here."),
    color: bool | None = typer.Option(
        None, "--color/--no-color", help="Default: on a terminal, unless NO_COLOR is set."
    ),
    width: int | None = typer.Option(None, "--width", min=40, help="Columns. Default: the terminal's, 100 when piped."),
) -> None:
    """Where did the tokens go? By role, tool and file; growth, cache, repeats, secrets, problems.

    Exit code: 0 read, 2 where a file could not be read (the others are shown all the same).
    """
    outcomes = _looked_through(files, Options(format, model, window))
    if html is not None:
        _write_page(html, outcomes)
    if as_json_:
        _print_json(as_json(outcomes))
    else:
        found = [o for o in outcomes if isinstance(o, Inspection)]
        if len(outcomes) == 1 and found:
            write(of_inspection(found[0]), sys.stdout, look_of(sys.stdout, color=color, width=width))
        elif found:
            write(of_many(outcomes), sys.stdout, look_of(sys.stdout, color=color, width=width))
        _complain(outcomes)
        if html is not None:
            typer.echo(f"\npage written to {html}", err=True)
    if any(isinstance(o, Unreadable) for o in outcomes):
        raise typer.Exit(UNREADABLE)


def validate(
    files: list[Path] = _FILES,
    model: str | None = _MODEL,
    format: str | None = _FORMAT,  # noqa: A002 - it becomes the option's name
    as_json_: bool = _JSON,
) -> None:
    """Would a provider take it? Every breach of the protocol, with its place.

    Exit code: 0 none, 1 problems found, 2 a file could not be read.
    """
    outcomes = _looked_through(files, Options(format, model))
    if as_json_:
        _print_json(_validity(outcomes))
    else:
        for outcome in outcomes:
            if isinstance(outcome, Inspection):
                _tell(outcome)
        _complain(outcomes)
    if any(isinstance(o, Unreadable) for o in outcomes):
        raise typer.Exit(UNREADABLE)
    if any(o.problem_count for o in outcomes if isinstance(o, Inspection)):
        raise typer.Exit(PROBLEMS)


def _looked_through(files: Sequence[Path], options: Options) -> list[Outcome]:
    extra = load().settings.models
    # The result says it in a note, and once, where the catalog doesn't know a model.
    warnings.simplefilter("ignore", ClewWarning)
    found = list(expand(files))
    with _progress() as done:
        return inspect_files(found, options, extra, done=done, workers=cores())


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, once it takes longer than one would wait for."""
    start = time.monotonic()
    if not sys.stderr.isatty():
        yield lambda _done, _of: None
        return
    from rich.console import Console  # only a terminal pays for it
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    bar = Progress(
        "reading", BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    task = bar.add_task("reading", total=None, visible=False)

    def done(finished: int, whole: int) -> None:
        if time.monotonic() - start > _PATIENCE and finished < whole:
            bar.start()
            bar.update(task, completed=finished, total=whole, visible=True)

    try:
        yield done
    finally:
        bar.stop()


def _write_page(path: Path, outcomes: Sequence[Outcome]) -> None:
    found = [o for o in outcomes if isinstance(o, Inspection)]
    reports = [of_inspection(i) for i in found[:_UNFOLDED]]
    if len(outcomes) != 1 or not found:
        reports = [of_many(outcomes), *reports]
    try:
        path.write_text(page(reports, f"Clew: {reports[0].title}"), encoding="utf-8", errors="replace")
    except OSError as e:
        raise InputError(f"{path} can't be written: {e.strerror}", hint="name another place with --html") from e
    if len(found) > _UNFOLDED:
        typer.echo(
            f"note: the page holds the first {_UNFOLDED} of {len(found)} files in full, and all in its table", err=True
        )


def _complain(outcomes: Sequence[Outcome]) -> None:
    for o in outcomes:
        if isinstance(o, Unreadable):
            typer.echo(f"clew: {clean(o.sentence)}" + (f"\n      {clean(o.hint)}" if o.hint else ""), err=True)


def _tell(i: Inspection) -> None:
    path = clean(i.path)
    for p in i.problems:
        where = f"line {p.line}, message {p.message}" if p.line else f"message {p.message}"
        where += f", conversation {clean(p.chain)}" if p.chain else ""
        typer.echo(f"{path}: {where}: {p.code}: {clean(p.sentence)}")
    hidden = i.problem_count - len(i.problems)
    if hidden > 0:
        typer.echo(f"{path}: and {plural(hidden, 'more problem')}")
    for sentence in i.left_out:
        typer.echo(f"{path}: left out: {clean(sentence)}", err=True)
    said = plural(i.problem_count, "problem") if i.problem_count else "no problems"
    typer.echo(f"{path}: {i.format}, {plural(i.messages, 'message')}: {said}")


def _validity(outcomes: Sequence[Outcome]) -> dict[str, object]:
    whole = as_json(outcomes)
    keys = ("path", "format", "wire", "model", "messages", "problems", "problem_counts", "left_out")
    return {
        "version": whole["version"],
        "files": [{k: f[k] for k in keys} for f in whole["files"]],
        "unreadable": whole["unreadable"],
    }


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=True))
