"""The ordinary user turn of a made session: a bug is reported, found, fixed, and its test goes from red to green."""

from __future__ import annotations

from dataclasses import dataclass

from clew.testing.dice import Dice
from clew.testing.session.code import module_path, singular, test_path
from clew.testing.session.script import Script


@dataclass(frozen=True, slots=True)
class Bug:
    """What is wrong, how it is put right, and why that way. `{one}` is the domain's noun."""

    name: str
    ask: str
    old: str
    new: str
    error: str
    decision: str


BUGS = (
    Bug(
        "limit",
        "A {one} with exactly MAX_QUANTITY items goes through, but the limit itself should be refused.",
        "    if {one}.quantity > MAX_QUANTITY:",
        "    if {one}.quantity >= MAX_QUANTITY:",
        "AssertionError: assert {domain}.check_limit(session, {one}) is True",
        "I chose >= in check_limit over lowering MAX_QUANTITY in {domain}, because the constant is also shown to customers.",
    ),
    Bug(
        "rounding",
        "The {one} totals are off by a cent now and then; accounting wants half-even rounding.",
        "    return round(gross, 2)",
        "    return gross.quantize(CENT, rounding=ROUND_HALF_EVEN)",
        "AssertionError: assert Decimal('10.13') == Decimal('10.12')  # {domain}",
        "I chose quantize with ROUND_HALF_EVEN for {domain} instead of a helper, because only the total is ever rounded.",
    ),
    Bug(
        "retry",
        "Deliveries for a {one} give up too early when the other side is slow. Make it try more often.",
        "RETRY_LIMIT = 2",
        "RETRY_LIMIT = 5",
        "DeliveryFailed: {one} 4711 gave up after 2 attempts",
        "I set RETRY_LIMIT to 5 in {domain} rather than raising the timeout, because the worker blocks while it waits.",
    ),
    Bug(
        "missing",
        "Loading a {one} that doesn't exist ends in a TypeError. It should be NotFound.",
        "    return {title}(**row)\n\n\ndef check_limit",
        "    if row is None:\n        raise NotFound('{one}', {one}_id)\n    return {title}(**row)\n\n\ndef check_limit",
        "TypeError: {package}.{domain}.{title}() argument after ** must be a mapping, not NoneType",
        "I raise NotFound in load_{one} and not in Session.one, because other callers rely on getting None.",
    ),
    Bug(
        "clock",
        "is_overdue for a {one} is wrong around midnight: the server runs in local time, the data is in UTC.",
        "    return datetime.now() - {one}.created",
        "    return datetime.now(tz=UTC) - {one}.created",
        "TypeError: can't subtract offset-naive and offset-aware datetimes  # {domain}",
        "I made is_overdue in {domain} aware of UTC instead of stripping the zone, because stored values carry one.",
    ),
)
_IMPORTS = {
    "rounding": ("from decimal import Decimal", "from decimal import ROUND_HALF_EVEN, Decimal"),
    "clock": ("from datetime import datetime, timedelta", "from datetime import UTC, datetime, timedelta"),
}
_PLANS = (
    "I'll look at where this happens first.",
    "Let me find the place and the test that should have caught it.",
    "Starting with the code and its test, side by side.",
)


def fix(script: Script, domain: str, bug: Bug, *, lead: str = "", extra: int = 1, image: str = "") -> None:
    """One whole turn: the request, the search, the red test, the edit, the green test, the answer."""
    one = singular(domain)
    words = {"one": one, "title": one.capitalize(), "domain": domain, "package": "harbour"}
    old, new, ask = (text.format(**words) for text in (bug.old, bug.new, bug.ask))
    path, tests, dice = module_path(domain), test_path(domain), script.dice
    name = f"{domain}:{bug.name}"
    asked = script.user(f"{lead}{ask}", image)
    script.fact("request", name, ask, asked)
    script.use(
        [script.grep(f"check_{bug.name}|{one}_{bug.name}|{_landmark(old)}", ""), script.read(path)], dice.pick(_PLANS)
    )
    script.use([script.read(tests)])
    command = f"pytest -q {tests}"
    error = bug.error.format(**words)
    red = script.use(
        [script.run(command, _red(dice, domain, bug.name, error, script), 1)], "The test first, to see it fail."
    )
    script.fact("error", name, error, red)
    for _ in range(extra):
        _look_around(script, domain)
    if bug.name in _IMPORTS:
        script.use([script.edit(path, *_IMPORTS[bug.name])])
    edited = script.use([script.edit(path, old, new)], "That is the line. Changing it.")
    script.fact("path", name, path, edited)
    script.use([script.read(path, max(1, script.world.line_of(path, new) - 8), 24)])
    green = _green(dice, domain)
    done = script.use([script.run(command, green)])
    script.close("error", name, done)
    script.fact("test", name, green.splitlines()[-1], done)
    decision = bug.decision.format(**words)
    said = script.say(f"Fixed in `{path}`. {decision} `{command}` passes now.")
    script.fact("decision", name, decision, said)
    script.close("request", name, said)


def _landmark(old: str) -> str:
    return next(
        word
        for word in ("MAX_QUANTITY", "round\\(", "RETRY_LIMIT", "\\*\\*row", "datetime.now")
        if word.replace("\\", "") in old
    )


def _look_around(script: Script, domain: str) -> None:
    """A detour such as agents take: a neighbour's code, the history, or the whole list of files."""
    dice = script.dice
    others = sorted(p for p in script.world.files if p.startswith("harbour/") and p != module_path(domain))
    turn = dice.below(3)
    if turn == 0:
        script.use([script.read(dice.pick(others))], "For comparison, how a neighbour does it.")
    elif turn == 1:
        log = "\n".join(
            f"{dice.hex(7)} {dice.pick(('Fix', 'Tidy', 'Speed up', 'Document', 'Revert'))} "
            f"{dice.pick(others).removeprefix('harbour/').removesuffix('.py')} ({dice.between(1, 28)} days ago)"
            for _ in range(dice.between(15, 40))
        )
        script.use([script.run(f"git log --oneline -40 -- {module_path(domain)}", log)])
    else:
        script.use([script.run("ls -R harbour tests", "\n".join(sorted(script.world.files)))])


def _red(dice: Dice, domain: str, name: str, error: str, script: Script) -> str:
    one = singular(domain)
    line = script.world.line_of(test_path(domain), f"def test_{one}_{name}") + 2
    trace = "\n".join(f"    {text}" for text in script.world.files[test_path(domain)].splitlines()[line - 3 : line])
    return (
        f"....F\n=================================== FAILURES ===================================\n"
        f"_______ test_{one}_{name} _______\n\n{trace}\nE   {error}\n\n{test_path(domain)}:{line}: {error.split(':', maxsplit=1)[0]}\n"
        f"----------------------------- Captured log call ------------------------------\n{_noise(dice, domain)}\n"
        f"=========================== short test summary info ============================\n"
        f"FAILED {test_path(domain)}::test_{one}_{name} - {error}\n1 failed, 4 passed in 0.{dice.between(11, 97)}s"
    )


def _noise(dice: Dice, domain: str) -> str:
    return "\n".join(
        f"DEBUG    harbour.{domain}:{domain}.py:{dice.between(20, 140)} {dice.pick(('loaded', 'saved', 'skipped', 'queued'))} "
        f"{singular(domain)} {dice.between(1000, 99999)} in {dice.between(1, 80)} ms"
        for _ in range(dice.between(6, 30))
    )


def _green(dice: Dice, domain: str) -> str:
    return f".....\n5 passed in 0.{dice.between(11, 97)}s ({test_path(domain)})"
