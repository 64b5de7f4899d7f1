"""Changed files in few lines, and the receipt that counts what such lines name."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.handoff.filelist import also_changed, listed
from clew.handoff.receipt import count
from clew.ledger.facts import FileAction, FileFact, Ledger


def lines(paths, room=10_000):
    made, named = also_changed(paths, room, len)
    return [f"- {x}" for x in made], named


def test_a_folder_stands_once_and_what_lies_below_it_after():
    made, _ = lines(["/home/me/shop/src/cart.py", "/home/me/shop/src/tax.py", "/home/me/shop/README.md"])
    assert made == ["- also changed, below /home/me/shop/: src/cart.py, src/tax.py, README.md"]


def test_places_that_share_nothing_have_lines_of_their_own():
    made, _ = lines(["src/a.py", "docs/b.md", "/tmp/out.txt", "D:\\shop\\src\\c.go", "D:\\shop\\src\\d.go"])
    assert "- also changed: src/a.py, docs/b.md" in made
    assert "- also changed, below D:\\shop\\src\\: c.go, d.go" in made
    assert "- also changed, below /tmp/: out.txt" in made


def test_what_there_is_no_room_for_is_not_named():
    made, named = lines([f"src/module_{n}.py" for n in range(40)], room=120)
    assert 2 <= len(named) < 10
    assert listed("\n".join(made)) == named


PATHS = st.lists(
    st.builds(
        lambda root, parts: root + "/".join(parts),
        st.sampled_from(["", "/", "/srv/app/", "~/", "/srv/other/x/"]),
        st.lists(st.text("abc .,:_-", min_size=1, max_size=6), min_size=1, max_size=4),
    ),
    max_size=12,
)


@given(PATHS, st.integers(0, 400))
def test_what_the_lines_name_is_read_back_from_them(paths, room):
    made, named = lines(paths, room)
    assert listed("\n".join(made)) == named <= set(paths)


def test_the_receipt_counts_a_file_that_such_a_line_names():
    paths = ["/srv/app/src/cart.py", "/srv/app/src/tax.py", "/srv/app/gone.py"]
    ledger = Ledger(files=tuple(FileFact(p, (FileAction("modified", 1),)) for p in paths))
    text = "\n".join(lines(paths[:2])[0])
    files = next(c for c in count(ledger, text, named=lambda _: False) if c.kind == "files")
    assert (files.detected, files.kept, files.lost) == (3, 2, ("/srv/app/gone.py",))
