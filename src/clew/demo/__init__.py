"""`clew demo`: a long agent session that the project makes itself goes through everything there is, and the result is shown."""

from __future__ import annotations

from clew.demo.kept import Demo, report, run
from clew.demo.row import HEAD, WAYS, Played, Row, Way, as_json, line

__all__ = ["HEAD", "WAYS", "Demo", "Played", "Row", "Way", "as_json", "line", "report", "run"]
