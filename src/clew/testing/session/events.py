"""The turns of a made session that are not bugs: what is said once and must be remembered, changed, or kept secret."""

from __future__ import annotations

import base64
import struct
import zlib

from clew.testing.dice import Dice
from clew.testing.session.script import Script

CONSTRAINT = "never touch migrations/: the operators own those files"
PREFERENCE = "commit messages in the imperative, no ticket numbers"
NEXT = "write docs/limits.md, one line for each key of config/limits.yaml"


def opening(script: Script) -> str:
    """What the first message says before its first task."""
    script.messages.append(
        {
            "role": "system",
            "content": "You are a coding agent in the repository harbour. Work in small steps, run the tests, say what you did.",
        }
    )
    lead = f"We're hardening harbour this week. One rule: {CONSTRAINT}. And {PREFERENCE}, please.\n\n"
    at = len(script.messages)
    script.fact("constraint", "migrations", CONSTRAINT, at)
    script.fact("preference", "commits", PREFERENCE, at)
    return lead


def budget(script: Script, dollars: int, *, again: bool = False) -> None:
    """A sum is set, or changed: only the last one counts."""
    text = f"make it ${dollars}" if again else f"the budget for geocoding is ${dollars} a month"
    said = script.user(
        f"Finance called: {text}. Put it into the limits." if not again else f"About the geocoding budget: {text}."
    )
    script.fact("budget", "geocoding", text, said)
    path = "config/limits.yaml"
    script.use([script.read(path)])
    now = next(line for line in script.world.files[path].splitlines() if "monthly_usd" in line)
    new = f"  monthly_usd: {dollars}"
    edited = script.use([script.edit(path, now, new)])
    script.fact("path", f"budget:{dollars}", path, edited)
    script.say(f"`{path}` now says monthly_usd: {dollars}.")


def port(script: Script) -> None:
    """A server doesn't start on its port, so it gets another, which later turns need."""
    number = 8000 + script.dice.between(101, 899)
    ask = "Start the worker locally so that I can click through it"
    asked = script.user(f"{ask}.")
    script.fact("request", "worker", ask, asked)
    error = "OSError: [Errno 98] Address already in use: ('127.0.0.1', 8080)"
    failed = script.use([script.run("make dev", f"harbour worker 3.4.1\n{error}\nmake: *** [dev] Error 1", 2)])
    script.fact("error", "port", error, failed)
    script.use(
        [script.run("ss -ltnp | grep 8080", 'LISTEN 0 511 127.0.0.1:8080 0.0.0.0:* users:(("node",pid=2213,fd=19))')]
    )
    ready = f"listening on http://127.0.0.1:{number}"
    up = script.use(
        [script.run(f"PORT={number} make dev &", f"harbour worker 3.4.1\n{ready}")], "8080 is taken; another port."
    )
    script.close("error", "port", up)
    script.fact("value", "worker port", ready, up)
    said = script.say(f"The worker is {ready}; 8080 belongs to another process that I left alone.")
    script.close("request", "worker", said)


def secret(script: Script) -> None:
    """A command prints a credential, which is made here and stands in no file of the project."""
    dice = script.dice
    token = "ghp" + "_" + dice.letters(36)
    password = dice.letters(20)
    asked = script.user("Why does the export job get 401 from the registry? Look at its environment.")
    lines = [
        "LANG=C.UTF-8", "HARBOUR_ENV=staging", f"GITHUB_TOKEN={token}",
        f"DATABASE_URL=postgres://harbour:{password}@db.internal:5432/harbour", "WORKERS=4", "LOG_LEVEL=info",
    ]  # fmt: skip
    script.fact("request", "export 401", "Why does the export job get 401 from the registry?", asked)
    at = script.use([script.run("docker compose exec export env", "\n".join(lines))])
    script.fact("secret", "github token", token, at)
    script.fact("secret", "database password", password, at)
    script.use(
        [
            script.run(
                "docker compose logs --tail 200 export",
                _log(dice, 200, "401 Unauthorized: token lacks scope read:packages"),
            )
        ]
    )
    decision = "The token lacks the scope read:packages; I changed nothing, because only you can issue a new one."
    said = script.say(decision)
    script.fact("decision", "export 401", decision, said)
    script.close("request", "export 401", said)


def log_dive(script: Script, number: int) -> None:
    """A long log with one line in it that matters."""
    job = f"job-{script.dice.hex(8)}"
    ask = f"Something was slow on worker {number} tonight, which job was it?"
    asked = script.user(ask)
    script.fact("request", f"slow {number}", ask, asked)
    line = f"{job} took {script.dice.between(61, 900)} s"
    command = f"tail -n 600 logs/worker-{number}.log"
    at = script.use([script.run(command, _log(script.dice, script.dice.between(300, 600), f"slow: {line}"))])
    script.fact("value", f"slow job {number}", line, at)
    said = script.say(f"It was {job}: {line}.")
    script.close("request", f"slow {number}", said)


def commit(script: Script, number: int) -> None:
    """What was changed is committed."""
    asked = script.user("Commit what we have.")
    script.fact("request", f"commit {number}", "Commit what we have.", asked)
    script.use([script.run("git status --short", script.world.status())])
    message = f"Harden {script.dice.pick(('limits', 'rounding', 'deliveries', 'lookups'))}, part {number}"
    printed, name = script.world.commit(script.dice, message)
    at = script.use([script.run(f"git commit -qam '{message}' && git log -1 --stat", printed)])
    script.fact("commit", f"commit {number}", name, at)
    said = script.say(f"Committed as {name}.")
    script.close("request", f"commit {number}", said)


def withdrawal(script: Script) -> None:
    """Something is asked for and taken back before it is done."""
    ask = "add a CSV export to the reports page"
    asked = script.user(f"When you have time, {ask}.")
    script.fact("request", "csv", ask, asked)
    script.say("Noted. I'd build it on the report query; say when.")
    back = script.user("Forget the CSV export, the customer buys a BI tool.")
    script.close("request", "csv", back)
    script.say("Dropped.")


def last(script: Script) -> None:
    """The end: something is still to be done."""
    asked = script.user(f"Two more things before we stop: run the whole suite, and then {NEXT}.")
    script.fact("request", "docs", NEXT, asked)
    passed = f"{script.dice.between(110, 180)} passed in {script.dice.between(12, 48)}.2s"
    at = script.use([script.run("pytest -q", f"{'.' * 72}\n{passed}")])
    script.fact("test", "suite", passed, at)
    script.say(f"The whole suite: {passed}. The page of limits is not written yet.")


def screenshot(dice: Dice) -> str:
    """A real PNG of 640 by 400 pixels as a data URL."""
    rows = b"".join(b"\0" + bytes([dice.below(256)]) * 640 for _ in range(400))
    head = struct.pack(">IIBBBBB", 640, 400, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    body = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _log(dice: Dice, lines: int, needle: str) -> str:
    at = dice.between(lines // 4, lines - 20)
    out = []
    second = dice.between(0, 3600)
    for n in range(lines):
        second += dice.between(0, 4)
        clock = (
            f"2026-03-{1 + second // 86400:02d}T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
        )
        if n == at:
            out.append(f"{clock} ERROR worker {needle}")
        elif dice.chance(30):
            out.append(f"{clock} INFO  worker heartbeat ok")
        else:
            out.append(
                f"{clock} INFO  worker job-{dice.hex(8)} took {dice.between(1, 900)} ms rows={dice.between(0, 5000)}"
            )
    return "\n".join(out)
