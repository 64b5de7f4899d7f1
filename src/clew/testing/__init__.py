"""What other projects test with: the store contract, scripted models and upstreams, builders. Import the module you need."""

from __future__ import annotations
