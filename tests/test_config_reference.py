"""The reference page is the schema's own tables."""

from __future__ import annotations

import re

from clew.config.keys import keys_of
from clew.config.reference import written
from clew.config.schema import Settings, unused
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "configuration.md"


def test_the_page_is_current():
    page = PAGE.read_text()
    assert written(page) == page, "run: python -m clew.config.reference docs/reference/configuration.md"


def test_a_key_that_no_code_reads_says_so():
    outside = (p for p in (ROOT / "src" / "clew").rglob("*.py") if p.parent.name != "config")
    read = set(re.findall(r"\.(\w+)", "\n".join(p.read_text() for p in outside)))
    silent = [name for name in keys_of(Settings) if name.rpartition(".")[2] not in read and not unused(name)]
    assert silent == ["compression.in_place"], "told to hosts that rotate sessions; the library never does"


def test_every_key_says_what_it_means():
    page = PAGE.read_text()
    for key in keys_of(Settings).values():
        assert key.doc.endswith("."), key.name
        assert f"| `{key.name}` |" in page
        assert key.default in (None, (), {}) or key.accept(key.default) == key.default
