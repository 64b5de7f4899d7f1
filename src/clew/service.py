"""The gateway as a service of the user's own: a systemd user unit, or a launchd agent. Texts and plans are pure; one
function performs them.
"""

from __future__ import annotations

import plistlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from clew.connect.client import home
from clew.connect.files import write
from clew.errors import ConfigError, InputError

System: TypeAlias = Literal["systemd", "launchd"]
Run: TypeAlias = Callable[[Sequence[str]], tuple[int, str]]

UNIT = "clew.service"
LABEL = "clew.serve"
_PASSED = ("CLEW_HOME", "CLEW_CONFIG")  # a service has nothing else of the user's environment
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Service:
    """Where the service's file is, what stands in it, and the commands that start, stop and ask for it."""

    system: System
    path: Path
    text: str
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    ask: tuple[str, ...]
    log: str


def planned(platform: str, env: Mapping[str, str], command: Sequence[str], uid: int) -> Service:
    """The service for this platform (`sys.platform`); `command` starts the gateway. Raises ConfigError elsewhere."""
    passed = {k: env[k] for k in _PASSED if env.get(k)}
    base = Path(env["CLEW_HOME"]) if env.get("CLEW_HOME") else home(env) / ".clew"
    if platform == "linux":
        folder = Path(env["XDG_CONFIG_HOME"]) if env.get("XDG_CONFIG_HOME") else home(env) / ".config"
        control = ("systemctl", "--user")
        return Service(
            "systemd",
            folder / "systemd" / "user" / UNIT,
            unit(command, passed, base / "service.env"),
            start=((*control, "daemon-reload"), (*control, "enable", "--now", UNIT)),
            stop=((*control, "disable", "--now", UNIT),),
            ask=(*control, "is-active", UNIT),
            log=f"journalctl --user -u {UNIT}",
        )
    if platform == "darwin":
        path = home(env) / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        log = base / "serve.log"
        return Service(
            "launchd",
            path,
            plist(command, passed, log),
            start=(("launchctl", "bootstrap", f"gui/{uid}", str(path)),),
            stop=(("launchctl", "bootout", f"gui/{uid}/{LABEL}"),),
            ask=("launchctl", "print", f"gui/{uid}/{LABEL}"),
            log=str(log),
        )
    raise ConfigError(f"no service manager is known for {platform}", hint="start `clew serve` with your own")


def unit(command: Sequence[str], environment: Mapping[str, str], variables: Path) -> str:
    """The systemd unit. Credentials that the settings name as `${NAME}` are read from the file `variables`, if there is one."""
    lines = [f"Environment={_quoted(f'{k}={v}')}" for k, v in sorted(environment.items())]
    lines.append(f"EnvironmentFile=-{str(variables).replace('%', '%%')}")
    return "\n".join(
        [
            "[Unit]",
            "Description=Clew, the gateway for LLM agents",
            "After=network-online.target",
            "",
            "[Service]",
            f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in command)}",
            *lines,
            "Restart=on-failure",
            "RestartSec=2",
            "TimeoutStopSec=30",
            "NoNewPrivileges=yes",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def plist(command: Sequence[str], environment: Mapping[str, str], log: Path) -> str:
    """The launchd agent."""
    value: dict[str, object] = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardOutPath": str(log),
        "StandardErrorPath": str(log),
    }
    if environment:
        value["EnvironmentVariables"] = dict(environment)
    return plistlib.dumps(value, sort_keys=True).decode()


def install(service: Service, run: Run) -> str:
    """Writes the service's file and starts it. What it says is for the user."""
    if service.system == "launchd" and service.path.exists():
        run(service.stop[0])  # an agent that is loaded can't be loaded again
    write(service.path, service.text.encode(), _MODE)
    for command in service.start:
        code, said = run(command)
        if code:
            raise InputError(
                f"`{' '.join(command)}` failed: {said.strip() or f'exit code {code}'}",
                hint=f"the file is written: {service.path}; without a service manager use `clew serve`",
            )
    return f"installed and started: {service.path}\nits log: {service.log}"


def uninstall(service: Service, run: Run) -> str:
    """Stops it and takes its file away."""
    if not service.path.exists():
        return f"not installed: there is no {service.path}"
    for command in service.stop:
        run(command)  # one that wasn't running can't be stopped: the file goes all the same
    service.path.unlink()
    return f"stopped and removed: {service.path}"


def status(service: Service, run: Run) -> tuple[bool, str]:
    """Whether it runs, and a sentence."""
    if not service.path.exists():
        return False, f"not installed: there is no {service.path} (clew service install)"
    code, _ = run(service.ask)
    stale = (
        ""
        if service.path.read_text("utf-8") == service.text
        else "; its file is older than this Clew: install it again"
    )
    state = "running" if code == 0 else f"installed, but not running: see {service.log}"
    return code == 0, f"{state} ({service.path}){stale}"


def _quoted(word: str) -> str:
    """A word as systemd reads it."""
    if any(c in word for c in "\n\r\0"):
        raise ConfigError(f"{word!r} can't stand in a unit file", hint="take the line break out")
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{word}"' if not word or any(c in word for c in " \t\"'\\;") else word
