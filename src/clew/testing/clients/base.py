"""What every real client has in common: an installation, a home, a folder to work in, one prompt at a time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clew.testing.clients.npm import install


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client runs: its home, its working folder, the base URL (without `/v1`), the model and its window."""

    home: Path
    work: Path
    url: str
    model: str = ""
    window: int = 0

    @classmethod
    def at(cls, folder: Path, url: str, *, model: str = "", window: int = 0) -> Place:
        """A home and a working folder, with the files that errands fetch their values from."""
        home, work = folder / "home", folder / "shop"
        (work / "values").mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        for name in ("CLAUDE.md", "AGENTS.md"):
            (work / name).write_text("Work in small steps. Never touch migrations/.\n")
        for n, name in enumerate(("alpha", "beta", "gamma", "delta", "epsilon")):
            (work / "values" / f"{name}.txt").write_text(f"{name} value={name[:2]}{n}{n * 37 + 11}\n")
        _repository(work)
        return cls(home, work, url, model, window)

    def value(self, name: str) -> str:
        """What an errand of this name has to bring back."""
        return (self.work / "values" / f"{name}.txt").read_text().strip().partition("=")[2]


def _repository(work: Path) -> None:
    """A git repository with one commit, as agents look at their repository's state."""
    if (work / ".git").exists():
        return
    git = ["git", "-c", "user.name=errand", "-c", "user.email=errand@example.invalid", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Values"]):
        subprocess.run([*git, *arguments], cwd=work, check=True, capture_output=True)  # noqa: S603 (fixed arguments)


@dataclass(frozen=True, slots=True)
class Done:
    """How a run ended."""

    code: int
    said: str
    errors: str


@dataclass(frozen=True, slots=True)
class Client:
    """One agent. `configure` writes its settings and returns its environment; `arguments` is its command line."""

    name: str
    package: str
    version: str
    binary: str
    wire: str
    model: str
    configure: Callable[[Place], Mapping[str, str]]
    arguments: Callable[[str, bool], list[str]]
    compact: str = ""  # the prompt that makes it compact at once, where it has one
    takes_window: bool = field(default=False)  # whether a small window makes it compact by itself

    def run(
        self,
        prompt: str,
        place: Place,
        *,
        resume: bool = False,
        extra: Mapping[str, str] | None = None,
        timeout: float = 180,
    ) -> Done:
        """Runs one prompt to its end; `resume` goes on with the last session of this folder."""
        program = install(self.package, self.version, self.binary)
        # Nothing of the caller's own settings or keys goes in.
        env = {k: os.environ[k] for k in ("PATH", "LANG", "TERM") if k in os.environ}
        env |= {"HOME": str(place.home), "NO_PROXY": "127.0.0.1,localhost", **self.configure(place), **(extra or {})}
        done = subprocess.run(  # noqa: S603 (fixed arguments)
            [str(program), *self.arguments(prompt, resume)],
            env=env,
            cwd=place.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)
