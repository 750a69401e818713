# Each target makes the virtual environment and installs what is missing first.
PYTHON ?= python3
VENV ?= .venv
# What pip is asked for before everything else, so that fints does not choose a build of torch for you.
TORCH ?= torch==2.13.0
CONFIG ?=

BIN := $(VENV)/bin
RUN := $(VENV)/.installed
DEV := $(VENV)/.installed-dev

.PHONY: help nightly ui test suite lint format soak bench clean

help:
	@echo "make nightly   forecast the embedded sample, or CONFIG=configs/….yaml"
	@echo "make ui        browse the runs in MLflow"
	@echo "make test      lint, types, layers, tests"
	@echo "make suite     tests alone"
	@echo "make lint      lint, types, layers"
	@echo "make format    bring the code into its format"
	@echo "make soak      long tests"
	@echo "make bench     benchmarks, results under benchmarks/results"

nightly: $(RUN)
	$(BIN)/fints nightly $(if $(CONFIG),--config $(CONFIG))

ui: $(RUN)
	$(BIN)/fints ui $(if $(CONFIG),--config $(CONFIG))

# mypy has one process: side by side with it the tests take up the other cores.
test: $(DEV)
	$(MAKE) --no-print-directory --jobs 2 lint suite

suite: $(DEV)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m "not soak and not gpu" -n auto --maxprocesses 4 \
	  --dist loadfile --no-loadscope-reorder

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: $(DEV)
	$(BIN)/python -m pytest -m soak
	FINTS_EXAMPLES=1000 $(BIN)/python -m pytest -m "hypothesis and not gpu and not soak"

bench: $(DEV)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.periods
	$(BIN)/python -m benchmarks.encodings
	-$(BIN)/python -m benchmarks.forecasters
	$(BIN)/python -m benchmarks.backtests
	$(BIN)/python -m benchmarks.ingest
	-$(BIN)/python -m benchmarks.real_bars

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(RUN): pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEV): $(RUN)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@
