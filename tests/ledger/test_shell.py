from __future__ import annotations

import pytest

from clew.ledger.fileuse import Use, uses
from clew.ledger.shell import keys, simple_commands


def words(script: str) -> list[tuple[str, ...]]:
    return [c.words for c in simple_commands(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("ls -la", [("ls", "-la")]),
        ("cd a && make; echo 'x y' | wc -l", [("cd", "a"), ("make",), ("echo", "x y"), ("wc", "-l")]),
        ('git commit -m "it\'s; done && ok"', [("git", "commit", "-m", "it's; done && ok")]),
        ("FOO=1 BAR='a b' pytest -q 2>&1 | tail -5", [("pytest", "-q"), ("tail", "-5")]),
        ("sudo -u app timeout 60s npx tsc --noEmit", [("tsc", "--noEmit")]),
        ("mise exec -- go test ./...", [("go", "test", "./...")]),
        ("cat <<'EOF' > a.py\nrm -rf /\nEOF\nls", [("cat",), ("ls",)]),
        ("echo a # rm b", [("echo", "a")]),
        ("", []),
        ("'unclosed", [("'unclosed",)]),
    ],
)
def test_a_script_falls_into_its_simple_commands(script: str, expected: list[tuple[str, ...]]):
    assert words(script) == expected


@pytest.mark.parametrize(
    ("script", "verb", "path", "lines"),
    [
        ("cat src/a.py", "read", "src/a.py", (0, 0)),
        ("sed -n '10,20p' src/a.py", "read", "src/a.py", (10, 20)),
        ("sed -n 7p a.py", "read", "a.py", (7, 7)),
        ("nl -ba a.py", "read", "a.py", (0, 0)),
        ("head -n 30 a.py", "read", "a.py", (1, 30)),
        ("head -5 a.py", "read", "a.py", (1, 5)),
        ("tail -n 5 log.txt", "read", "log.txt", (0, 0)),
        ("sed -i 's/a/b/' a.py", "modified", "a.py", (0, 0)),
        ("sed -i '' -e 's/a/b/' a.py", "modified", "a.py", (0, 0)),
        ("cat > new.py <<EOF\nx\nEOF", "created", "new.py", (0, 0)),
        ("cat <<'EOF' > 'new.py'\nx > y.txt\nEOF", "created", "new.py", (0, 0)),
        ("echo x >> notes.md", "modified", "notes.md", (0, 0)),
        ("make | tee build.log", "created", "build.log", (0, 0)),
        ("touch pkg/__init__.py", "created", "pkg/__init__.py", (0, 0)),
        ("cp a.py b.py", "created", "b.py", (0, 0)),
        ("rm -f a.py", "deleted", "a.py", (0, 0)),
        ("rm -rf build", "deleted", "build", (0, 0)),
        ("mv a.py b.py", "renamed", "a.py", (0, 0)),
        ("git mv a.py b.py", "renamed", "a.py", (0, 0)),
        ("git rm a.py", "deleted", "a.py", (0, 0)),
        ("git checkout -- a.py", "modified", "a.py", (0, 0)),
        ("git show HEAD:src/a.py", "read", "src/a.py", (0, 0)),
    ],
)
def test_what_a_command_does_to_a_file(script: str, verb: str, path: str, lines: tuple[int, int]):
    found = [u for c in simple_commands(script) for u in uses(c)]
    assert (verb, path, lines) in [(u.verb, u.path, u.lines) for u in found]


@pytest.mark.parametrize(
    "script",
    [
        "ls src",
        "grep -n x a.py",
        "echo hi > /dev/null",
        "make 2>&1",
        "cat *.py",
        "rm $TMP/*",
        "sed -n 1,2p",
        "git rm --cached a",
    ],
)
def test_what_names_no_file_for_sure_says_nothing(script: str):
    assert [u for c in simple_commands(script) for u in uses(c)] == []


def test_a_path_stands_under_the_directory_the_script_went_to():
    command = simple_commands("cat ../b.py")[0]
    assert uses(command, "src/pkg") == (Use("read", "src/b.py"),)
    assert uses(simple_commands("cat /etc/hosts")[0], "src") == (Use("read", "/etc/hosts"),)


def test_scripts_that_do_the_same_again_share_a_key():
    def key(script: str) -> frozenset[str]:
        return keys(simple_commands(script))

    assert key("go test ./a 2>&1 | head -50") & key("cd b && go test -v ./...")
    assert key("python3 run.py --fast") == key("python run.py")
    assert key("npm run build") != key("npm run lint")
    assert not key("pytest tests/a.py") & key("pytest tests/b.py")
