"""Installs the agents, each version into a folder of its own that later runs share."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from clew.errors import ClewError


class NoNode(ClewError):
    """Node or npm isn't there, so no real client can run."""


def folder() -> Path:
    """Where clients are installed: CLEW_CLIENTS_DIR, or under the user's cache."""
    given = os.environ.get("CLEW_CLIENTS_DIR")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else cache / "clew" / "clients"


def install(package: str, version: str, binary: str) -> Path:
    """The program of a package in this version, installed if it wasn't."""
    if not (shutil.which("node") and (npm := shutil.which("npm"))):
        raise NoNode("Node and npm are not installed", hint="real clients are tested only where they are")
    place = folder() / package.replace("/", "+").lstrip("@") / version
    program = place / "node_modules" / ".bin" / binary
    if not (place / ".installed").exists():
        place.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(place), f"{package}@{version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)  # noqa: S603 (fixed arguments)
        if done.returncode:
            raise NoNode(
                f"npm could not install {package}@{version}: {done.stderr[-400:]}", hint="is a registry at hand?"
            )
        (place / ".installed").touch()
    return program
