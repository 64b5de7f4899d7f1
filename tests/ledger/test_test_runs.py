from __future__ import annotations

import pytest

from clew.ledger.tests_ import parse
from clew.ledger.tools import Output


@pytest.mark.parametrize(
    ("command", "output", "passed", "failed", "skipped", "failing"),
    [
        ("pytest", "42 passed in 0.53s", 42, 0, 0, ()),
        ("pytest -q", "FAILED t/a.py::test_x - assert 1\n=== 1 failed, 3 passed, 2 skipped in 1.2s ===", 3, 1, 2, ("t/a.py::test_x",)),
        ("python -m unittest", "FAIL: test_a (m.T)\n\nRan 5 tests in 0.1s\n\nFAILED (failures=1, skipped=1)", 3, 1, 1, ("test_a (m.T)",)),
        ("go test ./...", "ok  \texample.org/a\t0.5s\nok  \texample.org/b\t(cached)\n", 2, 0, 0, ()),
        ("go test -v ./a", "--- PASS: TestA (0.0s)\n--- FAIL: TestB (0.1s)\nFAIL\nFAIL\texample.org/a\t0.2s", 1, 1, 0, ("TestB",)),
        ("go test ./...", "FAIL\texample.org/a [build failed]\nok  \texample.org/b\t0.1s", 1, 1, 0, ()),
        (
            "cargo test",
            ("test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured\n\ntest b::c ... FAILED\n"
            "test result: FAILED. 4 passed; 1 failed; 2 ignored; 0 measured"),
            14, 1, 2, ("b::c",),
        ),
        ("npx jest", "Tests:       1 failed, 2 skipped, 7 passed, 10 total", 7, 1, 2, ()),
        ("npx vitest run", "      Tests  2 failed | 8 passed (10)", 8, 2, 0, ()),
        ("npx mocha", "  12 passing (1s)\n  1 pending\n  2 failing", 12, 2, 1, ()),
        ("bun test", "(fail) adds numbers [1.2ms]\n 3 pass\n 1 fail", 3, 1, 0, ("adds numbers",)),
        ("node --test", "# tests 4\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 0", 3, 1, 0, ()),
        ("ctest", "50% tests passed, 1 tests failed out of 2\n\n\t  2 - parse (Failed)", 1, 1, 0, ("parse",)),
        ("bundle exec rspec", "10 examples, 2 failures, 1 pending\nrspec ./a_spec.rb:3 # x", 7, 2, 1, ("./a_spec.rb:3",)),
        ("vendor/bin/phpunit", "OK (12 tests, 30 assertions)", 12, 0, 0, ()),
        ("phpunit", "Tests: 8, Assertions: 20, Errors: 1, Failures: 2, Skipped: 1.", 4, 3, 1, ()),
        ("mvn test", "[INFO] Tests run: 9, Failures: 1, Errors: 1, Skipped: 2", 5, 2, 2, ()),
        ("./gradlew test", "12 tests completed, 3 failed, 1 skipped", 8, 3, 1, ()),
        ("dotnet test", "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5", 4, 1, 0, ()),
        ("npx playwright test", "  1 failed\n    [chromium] › a.spec.ts:3:1 › x ───\n  2 skipped\n  7 passed (4.2s)", 7, 1, 2, ("[chromium] › a.spec.ts:3:1 › x",)),
        ("npx playwright test", "Running 3 tests using 1 worker\n\n  1 flaky\n    [chromium] › a.spec.ts:3:1 › x\n  2 passed (1.1m)", 3, 0, 0, ()),
        ("deno test", "ok | 5 passed (2 steps) | 0 failed (20ms)", 5, 0, 0, ()),
        ("rake test", "10 runs, 22 assertions, 1 failures, 0 errors, 2 skips", 7, 1, 2, ()),
        ("mix test", "5 doctests, 20 tests, 1 failure, 2 excluded", 24, 1, 0, ()),
        ("swift test", "\t Executed 4 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds\n\t Executed 12 tests, with 1 test skipped and 2 failures (0 unexpected) in 0.1 (0.2) seconds", 9, 2, 1, ()),
        ("cargo nextest run", "     Summary [   0.1s] 5 tests run: 4 passed, 1 failed, 2 skipped", 4, 1, 2, ()),
    ],
)  # fmt: skip
def test_counts_as_the_runner_printed_them(
    command: str, output: str, passed: int, failed: int, skipped: int, failing: tuple[str, ...]
):
    run = parse(command, 3, Output(output))
    assert run is not None
    assert (run.passed, run.failed, run.skipped, run.failing) == (passed, failed, skipped, failing)
    assert run.ok is (failed == 0)
    assert run.source == 3


def test_suites_of_one_output_are_summed_and_one_that_failed_is_never_a_pass():
    output = "10 passed in 1.0s\n\n==== 2 failed, 5 passed in 3.1s ===="
    run = parse("tox", 0, Output(output))
    assert run is not None
    assert (run.passed, run.failed, run.ok) == (15, 2, False)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest", Output("3 passed in 0.1s", exit_code=1, failed=True)),
        ("npm test", Output("tests broke\nnpm ERR! Test failed.  See above for more details.")),
        ("cargo test", Output("error: could not compile `a`", exit_code=101, failed=True)),
    ],
)
def test_an_exit_code_or_the_runners_own_words_forbid_a_pass(command: str, output: Output):
    run = parse(command, 0, output)
    assert run is not None
    assert not run.ok


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("cat README.md", "All 42 tests pass on main."),
        ("ls tests", "test_a.py"),
        ("git log", "fix: 3 failed tests"),
        ("pytest --collect-only", "no tests ran"),
        ("grep -rn passed src", "src/a.py:3: passed = 1"),
    ],
)
def test_what_is_no_run_gives_none(command: str, output: str):
    assert parse(command, 0, Output(output)) is None


def test_colours_and_length_do_not_hide_a_footer():
    run = parse("pytest", 0, Output("x" * 200_000 + "\n\x1b[32m\x1b[1m7 passed\x1b[0m\x1b[32m in 0.10s\x1b[0m"))
    assert run is not None
    assert run.passed == 7


@pytest.mark.parametrize(
    "command", ["grep -rn passed logs", "cat docs/testing.md", "git show HEAD", "cd web && sed -n 1,20p run.py"]
)
def test_counts_that_a_look_at_a_text_shows_are_no_run(command: str):
    assert parse(command, 0, Output("12 passed in 0.3s")) is None


def test_a_log_that_a_run_left_is_read_as_the_run():
    run = parse("tail -3 out.log", 0, Output("1 failed, 3 passed in 1.0s"))
    assert run is not None
    assert (run.passed, run.failed, run.ok) == (3, 1, False)
