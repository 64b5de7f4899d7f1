"""Every backend against the one contract."""

from __future__ import annotations

import pytest

from clew.store import Store, open_store
from clew.testing.builders import Clock
from clew.testing.store_contract import StoreContract


class TestMemory(StoreContract):
    def make(self, clock: Clock) -> Store:
        return open_store("memory://", clock=clock)


class TestSqlite(StoreContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.path = tmp_path / "deep" / "clew.sqlite"

    def make(self, clock: Clock) -> Store:
        return open_store(f"sqlite:///{self.path}", clock=clock)
