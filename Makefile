# Every target sets up .venv by itself. `make` alone prints this help.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow check format bench clean

help:  ## show what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

setup: $(READY)  ## make the virtual environment

demo: $(READY)  ## compare three architectures on a built-in text and use the best, in a few minutes
	$(BIN)/seqlab demo

# files stay with one worker as far as possible, and with them what their tests share
test: $(READY)  ## the default tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-slow: $(READY)  ## the full counts of the reliability promises
	$(BIN)/python -m pytest -m slow

check: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: $(READY)  ## put the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## speed against peers, as ratios
	$(BIN)/python -m benchmarks

clean:  ## remove what can be made again
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
