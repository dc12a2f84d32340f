# Every target sets up .venv by itself. `make` alone prints this help.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-portable test-sensitive test-slow test-browser check format lessons bench clean

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

# other processors, as far as torch, oneDNN and numba can be told to leave instructions unused
AVX2 := ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2
BASELINE := ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 NUMBA_CPU_NAME=generic
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1

test-portable: test  ## the default tests as the machine is, with AVX2, with SSE4.1, and on one thread
	$(AVX2) $(BIN)/python -m pytest -n 2 --dist worksteal
	$(BASELINE) $(BIN)/python -m pytest -n 2 --dist worksteal
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

# of the reliability promises, those that compare numbers: atomic saves, resuming, determinism, not-a-number
SENSITIVE := $(addprefix tests/,training contracts parity decode golden $(addprefix reliability/test_r,01* 03* 04* 09*))

test-sensitive: $(READY)  ## the tests that depend on arithmetic most, without AVX
	$(BASELINE) $(BIN)/python -m pytest -n 2 --dist worksteal $(SENSITIVE)

test-slow: $(READY)  ## the full counts of the reliability promises
	$(BIN)/python -m pytest -m slow

test-browser: $(READY)  ## the pages in Chromium, where it is installed (Debian: chromium, chromium-driver)
	$(BIN)/python -m pytest -m browser -rs tests/*/test_*_in_browser.py

check: $(READY)  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: $(READY)  ## put the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lessons: $(READY)  ## run the lessons that changed, and write their pages and notebooks to docs/lessons
	$(BIN)/python -m seqlab.lessons.publish docs/lessons

bench: $(READY)  ## speed against peers, as ratios
	$(BIN)/python -m benchmarks

clean:  ## remove what can be made again
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
