"""What is known of models: window, prices, cache rules, quirks. The facts and their date are in `data/models.toml`."""

from __future__ import annotations

from clew.catalog.model import CacheRules, Model, Prices, Quirks
from clew.catalog.table import lookup, models, written

__all__ = ["CacheRules", "Model", "Prices", "Quirks", "lookup", "models", "written"]
