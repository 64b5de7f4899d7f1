"""Search in four shapes (discover, scroll, read, browse), and what a reference stands for.

Everything that leaves is masked and safe for a terminal, unless `recall(raw=True)` is asked for. Nothing here writes.
"""

from __future__ import annotations

from clew.recall.browse import Glance, Glances, browse
from clew.recall.discover import Discovery, Found, discover
from clew.recall.filters import HIDDEN, Current, Filters, current
from clew.recall.language import Parsed, parse
from clew.recall.originals import Recalled, recall
from clew.recall.read import Reading, read
from clew.recall.scroll import Window, scroll
from clew.recall.shown import Shown, shown
from clew.recall.snippet import Snippet, snippet
from clew.recall.when import moment
from clew.transcript import Span

__all__ = [
    "HIDDEN", "Current", "Discovery", "Filters", "Found", "Glance", "Glances", "Parsed", "Reading", "Recalled", "Shown",
    "Snippet", "Span", "Window", "browse", "current", "discover", "moment", "parse", "read", "recall", "scroll", "shown", "snippet",
]  # fmt: skip
