"""Test runs: the counts that runners print, summed over the suites of one output; never a pass where anything failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from clew.ledger.facts import TestRun
from clew.ledger.tools import Output

_BOUND = 60_000  # characters of an output's end that are looked at
_NAMES = 40
_RUNS_TESTS = re.compile(
    r"\b(?:py\.?test|unittest|go test|gotestsum|cargo (?:nextest|test|t)\b|jest|vitest|mocha|ava\b|bun (?:run )?test|deno test"
    r"|(?:npm|pnpm|yarn|mise|make|just|task|tox|rake|composer)\b[^|;&\n]*\btests?\b|tox\b|nox\b|ctest|rspec|phpunit|pest\b"
    r"|mvn\b[^|;&\n]*\b(?:test|verify|install)|gradlew?\b[^|;&\n]*\b(?:test|check|build)|dotnet test|mix test|swift test|flutter test"
    r"|runtests\.py|manage\.py test|bin/test\b|playwright test|cypress run|bats\b|busted\b|zig (?:build )?test|sbt\b[^|;&\n]*test"
    r"|test-[\w-]*\.(?:sh|py|js|ts)|run_?tests?\b|node --test|ginkgo|behave\b|lein test|nextest)",
)


@dataclass(slots=True)
class _Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    found: bool = False
    failing: dict[str, None] = field(default_factory=dict)

    def add(self, passed: int = 0, failed: int = 0, skipped: int = 0) -> None:
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.found = True


_PYTEST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:failed|passed|skipped|errors?|xfailed|xpassed|warnings?|deselected|rerun|subtests passed)"
    r"(?:, )?)+) in [\d.]+ ?s",
    re.MULTILINE,
)
_COUNTED = re.compile(r"(\d+) (failed|passed|skipped|errors?|xfailed|xpassed|failures?|ignored|pending|todo|total)\b")
_PYTEST_NAME = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", re.MULTILINE)
_UNITTEST = re.compile(r"^Ran (\d+) tests? in [\d.]+s\s+^(OK|FAILED)(?: \((.*)\))?", re.MULTILINE)
_UNITTEST_NAME = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\)|\S+)", re.MULTILINE)
_GO_RESULT = re.compile(r"^[ \t]*--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_GO_PACKAGE = re.compile(
    r"^(ok|FAIL|---)[ \t]+(\S+/\S*|\S+\.\S+|\S+)[ \t]+(?:[\d.]+s|\(cached\)|\[(?:build|setup) failed\])", re.MULTILINE
)
_CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_CARGO_NAME = re.compile(r"^test (\S+) \.\.\. FAILED", re.MULTILINE)
_NEXTEST = re.compile(
    r"^\s*Summary \[[^\]]*\]\s+(\d+) tests? run: (\d+) passed(?:[^,\n]*)?(?:, (\d+) failed)?(?:, (\d+) skipped)?",
    re.MULTILINE,
)
_JEST = re.compile(r"^\s*Tests:?\s{1,9}((?:\d+ \w+(?:, | \| )?)+)(?:\(\d+\)|, \d+ total)?", re.MULTILINE)
_JEST_NAME = re.compile(r"^\s*(?:●|×|✕|FAIL)\s+(\S.*?)\s*(?:\d+ ?ms)?$", re.MULTILINE)
_MOCHA = re.compile(r"^\s+(\d+) (passing|failing|pending)\b", re.MULTILINE)
_BUN = re.compile(r"^\s*(\d+) (pass|fail|skip)$", re.MULTILINE)
_BUN_NAME = re.compile(r"^\(fail\) (.*?)(?: \[[\d.]+ms\])?$", re.MULTILINE)
_TAP = re.compile(r"^(?:# |ℹ )(tests|pass|fail|skipped|cancelled) (\d+)$", re.MULTILINE)
_TAP_NAME = re.compile(r"^(?:\s*)not ok \d+ -? ?(.*)$", re.MULTILINE)
_CTEST = re.compile(r"^(\d+)% tests passed, (\d+) tests? failed out of (\d+)", re.MULTILINE)
_CTEST_NAME = re.compile(r"^\s+\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)", re.MULTILINE)
_RSPEC = re.compile(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", re.MULTILINE)
_RSPEC_NAME = re.compile(r"^rspec (\S+)", re.MULTILINE)
_PHPUNIT_OK = re.compile(r"^OK \((\d+) tests?, \d+ assertions?\)", re.MULTILINE)
_PHPUNIT = re.compile(r"^Tests: (\d+), Assertions: \d+(.*)\.$", re.MULTILINE)
_MAVEN = re.compile(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!.*(?:Time elapsed|-- in))")
_GRADLE = re.compile(r"^(\d+) tests? completed(?:, (\d+) failed)?(?:, (\d+) skipped)?", re.MULTILINE)
_DOTNET = re.compile(r"(?:Passed|Failed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+)")
_PLAYWRIGHT = re.compile(
    r"^ {2}(\d+) (passed|failed|flaky|skipped|interrupted|did not run)(?: \([\d.]+m?s?\))?$", re.MULTILINE
)
_PLAYWRIGHT_NAME = re.compile(r"^ {4}(\[\S+\] › \S.*?)[ ─]*$", re.MULTILINE)
_DENO = re.compile(r"^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \| (\d+) ignored)?", re.MULTILINE)
_MINITEST = re.compile(
    r"^(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?", re.MULTILINE
)
_EXUNIT = re.compile(
    r"^(?:(\d+) doctests?, )?(\d+) tests?, (\d+) failures?(?:, \d+ excluded)?(?:, (\d+) skipped)?", re.MULTILINE
)
_XCTEST = re.compile(r"^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?", re.MULTILINE)
_TRAILING_FAIL = re.compile(
    r"^(?:FAIL(?:ED|URE)?\b|FAILED \(|BUILD FAILED|error: test failed|npm ERR! Test failed)", re.MULTILINE
)


# Searches and looks at files of text or code: counts that stand there were printed elsewhere.
_SHOWS = re.compile(
    r"\A\s*(?:cd \S+ && )?(?:(?:e?grep|rg|ag|git (?:log|grep|show|diff|blame))\b|(?:cat|head|tail|sed|nl|less|bat)\b[^|;&>\n]*\.(?:md|rst|py|[jt]sx?|go|rs|java|rb|json|ya?ml|toml|html)\b)"
)


def runs_tests(command: str) -> bool:
    return _RUNS_TESTS.search(command[:4_000]) is not None


def parse(command: str, source: int, output: Output) -> TestRun | None:
    """The run in an output, or None where there is none. Counts stand only where a runner printed them."""
    text = output.text if len(output.text) <= _BOUND else output.text[: _BOUND // 4] + "\n" + output.text[-_BOUND:]
    text = _ANSI.sub("", text) if "\x1b" in text else text
    named = runs_tests(command)
    if not named and (_SHOWS.match(command) is not None or not _unmistakable(text)):
        return None
    c = _Counts()
    for read in _READERS:
        read(text, c)
    if not named and not (c.found and (c.passed or c.failed)):
        return None
    if not c.found and not c.failing:
        if not named or output.running:
            return None
        if not output.failed and _TRAILING_FAIL.search(text) is None:
            return None
    bad = bool(c.failed or c.failing or output.failed or (named and _TRAILING_FAIL.search(text[-3_000:])))
    failed = c.failed or len(c.failing)
    return TestRun(command, source, c.passed, failed, c.skipped, tuple(c.failing)[:_NAMES], ok=not bad)


_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def _unmistakable(text: str) -> bool:
    tail = text[-4_000:]
    return any(p.search(tail) for p in (_PYTEST, _UNITTEST, _CARGO, _CTEST, _PHPUNIT_OK))


def _named(pattern: re.Pattern[str], text: str, c: _Counts) -> None:
    for m in pattern.finditer(text):
        if len(c.failing) >= _NAMES:
            break
        c.failing[m[1]] = None


def _pytest(text: str, c: _Counts) -> None:
    for m in _PYTEST.finditer(text):
        n = {k.rstrip("s") if k.startswith("error") else k: int(v) for v, k in _COUNTED.findall(m[1])}
        c.add(
            n.get("passed", 0) + n.get("xpassed", 0),
            n.get("failed", 0) + n.get("error", 0),
            n.get("skipped", 0) + n.get("xfailed", 0),
        )
    if c.found:
        _named(_PYTEST_NAME, text, c)


def _unittest(text: str, c: _Counts) -> None:
    for m in _UNITTEST.finditer(text):
        n = {k: int(v) for k, v in re.findall(r"(\w[\w ]*)=(\d+)", m[3] or "")}
        bad = n.get("failures", 0) + n.get("errors", 0) + n.get("unexpected successes", 0)
        bad = bad or (1 if m[2] == "FAILED" else 0)
        skipped = n.get("skipped", 0) + n.get("expected failures", 0)
        c.add(max(0, int(m[1]) - bad - skipped), bad, skipped)
        _named(_UNITTEST_NAME, text, c)


def _go(text: str, c: _Counts) -> None:
    results = [(m[1], m[2]) for m in _GO_RESULT.finditer(text)]
    packages = [(m[1], m[0]) for m in _GO_PACKAGE.finditer(text) if m[1] != "---"]
    if not packages and not results:
        return
    failing = [name for verdict, name in results if verdict == "FAIL"]
    for name in failing:
        c.failing[name] = None
    passed = sum(v == "PASS" for v, _ in results)
    broken = sum(v == "FAIL" and "failed]" in whole for v, whole in packages)
    if passed or failing:
        bad_packages = sum(v == "FAIL" for v, _ in packages)
        c.add(
            passed,
            len(failing) + broken + (1 if bad_packages and not failing and not broken else 0),
            sum(v == "SKIP" for v, _ in results),
        )
    else:
        c.add(sum(v == "ok" for v, _ in packages), sum(v == "FAIL" for v, _ in packages))


def _cargo(text: str, c: _Counts) -> None:
    for m in _CARGO.finditer(text):
        c.add(int(m[1]), int(m[2]), int(m[3]))
        _named(_CARGO_NAME, text, c)
    for m in _NEXTEST.finditer(text):
        c.add(int(m[2]), int(m[3] or 0), int(m[4] or 0))


def _jest(text: str, c: _Counts) -> None:
    for m in _JEST.finditer(text):
        n = {k: int(v) for v, k in _COUNTED.findall(m[1])}
        if "passed" in n or "failed" in n or "skipped" in n:
            c.add(n.get("passed", 0), n.get("failed", 0), n.get("skipped", 0) + n.get("todo", 0))
            if n.get("failed"):
                _named(_JEST_NAME, text, c)


def _mocha(text: str, c: _Counts) -> None:
    n = [(int(m[1]), m[2]) for m in _MOCHA.finditer(text)]
    if any(k == "passing" for _, k in n):
        c.add(
            sum(v for v, k in n if k == "passing"),
            sum(v for v, k in n if k == "failing"),
            sum(v for v, k in n if k == "pending"),
        )


def _bun(text: str, c: _Counts) -> None:
    n = [(int(m[1]), m[2]) for m in _BUN.finditer(text)]
    if len({k for _, k in n}) >= 2:
        c.add(
            sum(v for v, k in n if k == "pass"),
            sum(v for v, k in n if k == "fail"),
            sum(v for v, k in n if k == "skip"),
        )
        _named(_BUN_NAME, text, c)


def _tap(text: str, c: _Counts) -> None:
    n = [(m[1], int(m[2])) for m in _TAP.finditer(text)]
    if any(k == "tests" for k, _ in n):

        def total(*names: str) -> int:
            return sum(v for k, v in n if k in names)

        c.add(total("pass"), total("fail", "cancelled"), total("skipped"))
        _named(_TAP_NAME, text, c)


def _ctest(text: str, c: _Counts) -> None:
    for m in _CTEST.finditer(text):
        c.add(int(m[3]) - int(m[2]), int(m[2]))
        _named(_CTEST_NAME, text, c)


def _rspec(text: str, c: _Counts) -> None:
    for m in _RSPEC.finditer(text):
        bad, pending = int(m[2]), int(m[3] or 0)
        c.add(int(m[1]) - bad - pending, bad, pending)
        _named(_RSPEC_NAME, text, c)


def _phpunit(text: str, c: _Counts) -> None:
    for m in _PHPUNIT_OK.finditer(text):
        c.add(int(m[1]))
    for m in _PHPUNIT.finditer(text):
        n = {k: int(v) for k, v in re.findall(r"(\w+): (\d+)", m[2])}
        bad, skipped = n.get("Errors", 0) + n.get("Failures", 0), n.get("Skipped", 0) + n.get("Incomplete", 0)
        c.add(int(m[1]) - bad - skipped, bad, skipped)


def _java(text: str, c: _Counts) -> None:
    for m in _MAVEN.finditer(text):
        run, failures, errors, skipped = (int(x) for x in m.groups())
        c.add(run - failures - errors - skipped, failures + errors, skipped)
    for m in _GRADLE.finditer(text):
        bad, skipped = int(m[2] or 0), int(m[3] or 0)
        c.add(int(m[1]) - bad - skipped, bad, skipped)
    for m in _DOTNET.finditer(text):
        c.add(int(m[2]), int(m[1]), int(m[3]))


def _playwright(text: str, c: _Counts) -> None:
    n: dict[str, int] = {}
    for m in _PLAYWRIGHT.finditer(text):
        n[m[2]] = n.get(m[2], 0) + int(m[1])
    if not c.found and ("passed" in n or "failed" in n):
        c.add(
            n.get("passed", 0) + n.get("flaky", 0),
            n.get("failed", 0) + n.get("interrupted", 0),
            n.get("skipped", 0) + n.get("did not run", 0),
        )
        if n.get("failed"):
            _named(_PLAYWRIGHT_NAME, text, c)


def _others(text: str, c: _Counts) -> None:
    for m in _DENO.finditer(text):
        c.add(int(m[1]), int(m[2]), int(m[3] or 0))
    for m in _MINITEST.finditer(text):
        bad, skipped = int(m[2]) + int(m[3]), int(m[4] or 0)
        c.add(max(0, int(m[1]) - bad - skipped), bad, skipped)
    for m in _EXUNIT.finditer(text):
        bad, skipped = int(m[3]), int(m[4] or 0)
        c.add(max(0, int(m[1] or 0) + int(m[2]) - bad - skipped), bad, skipped)
    # Each suite prints its own line, and the one of all suites comes last.
    for m in list(_XCTEST.finditer(text))[-1:]:
        bad, skipped = int(m[3]), int(m[2] or 0)
        c.add(max(0, int(m[1]) - bad - skipped), bad, skipped)


_READERS = (
    _pytest,
    _unittest,
    _go,
    _cargo,
    _jest,
    _mocha,
    _bun,
    _tap,
    _ctest,
    _rspec,
    _phpunit,
    _java,
    _playwright,
    _others,
)
