from __future__ import annotations

from tests.ledger.script import Talk


def done(talk: Talk) -> dict[str, list[str]]:
    return {f.path: [a.verb for a in f.actions] for f in talk.ledger().files}


def test_reading_writing_and_editing_tools():
    talk = Talk().user("go")
    talk.call("Read", {"file_path": "/w/a.py", "offset": 10, "limit": 5}, "10→x\n11→y\n12→z\n13→\n14→w")
    talk.call("Write", {"file_path": "/w/b.py", "content": "x"}, "File created successfully at: /w/b.py")
    talk.call(
        "Edit", {"file_path": "/w/a.py", "old_string": "x", "new_string": "y"}, "The file /w/a.py has been updated."
    )
    talk.call("Write", {"file_path": "/w/b.py", "content": "y"}, "The file /w/b.py has been updated.")
    assert done(talk) == {"/w/a.py": ["read", "modified"], "/w/b.py": ["created", "modified"]}
    assert talk.ledger().files[0].actions[0].lines == (10, 14)


def test_the_lines_shown_are_taken_from_their_numbers():
    ledger = Talk().call("Read", {"file_path": "a.py"}, "     1→a\n     2→b\n     3→c\n").ledger()
    assert ledger.files[0].actions[0].lines == (1, 3)


def test_what_failed_was_not_done():
    talk = Talk().call(
        "Edit", {"file_path": "a.py"}, "<tool_use_error>String to replace not found in file.", error=True
    )
    talk.call("Read", {"file_path": "b.py"}, "File does not exist.", error=True)
    talk.ran("cat c.py", "cat: c.py: No such file or directory", code=1)
    assert done(talk) == {}


def test_of_a_chain_that_failed_only_what_is_not_in_doubt_counts():
    talk = Talk().ran("cat > run.py <<'EOF'\nboom\nEOF\npython run.py", "Traceback\nNameError: name 'boom'", code=1)
    assert done(talk) == {"run.py": ["created"]}
    talk = Talk().ran("rm a.txt gone.txt && rm -rf tmpdir", "rm: cannot remove 'gone.txt': No such file", code=1)
    assert done(talk) == {"a.txt": ["deleted"]}


def test_a_patch_says_what_it_did():
    patch = "*** Begin Patch\n*** Add File: new.py\n+x\n*** Update File: old.py\n@@\n-a\n+b\n*** Delete File: dead.py\n*** End Patch\n"
    talk = Talk().call(
        "apply_patch",
        {"input": patch},
        '{"output":"Success. Updated the following files:\\nA new.py","metadata":{"exit_code":0}}',
    )
    assert done(talk) == {"new.py": ["created"], "old.py": ["modified"], "dead.py": ["deleted"]}


def test_git_status_tells_of_files_that_no_call_named():
    status = " M internal/x.go\n?? docs/new.md\nD  gone.txt\nR  a.go -> b.go\n"
    assert done(Talk().ran("git status --short", status)) == {
        "internal/x.go": ["modified"], "docs/new.md": ["created"], "gone.txt": ["deleted"], "a.go": ["renamed"], "b.go": ["renamed"],
    }  # fmt: skip


def test_one_file_under_two_spellings_is_one():
    talk = Talk().user("<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>").user("go")
    talk.call("Read", {"file_path": "/w/app/src/a.py"}, "x").ran("sed -i 's/x/y/' src/a.py", "").ran(
        "cat ./src/a.py", "y"
    )
    assert done(talk) == {"/w/app/src/a.py": ["read", "modified", "read"]}


def test_what_git_prints_is_joined_to_the_absolute_path_it_ends():
    talk = Talk().call("Read", {"file_path": "D:\\app\\src\\a.py"}, "x").ran("git status --short", " M src/a.py\n")
    assert done(talk) == {"D:\\app\\src\\a.py": ["read", "modified"]}


def test_a_listing_that_happens_to_look_like_a_status_is_none():
    assert done(Talk().ran("cat letters.txt", "M internal/x.go\nA b.txt")) == {"letters.txt": ["read"]}
