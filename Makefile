# Two commands do all set-up on a fresh Debian or Ubuntu with Python 3.11+, venv and gcc, no root:
#
#     make demo      watch bncc learn a classifier, emit C, prove it agrees, and compare it with others
#     make test      run the tests
#
# Both create .venv once and are cheap to run again. `make help` lists the rest.

# Another build of torch:  make demo TORCH="torch==2.13.0+cpu" TORCH_ARGS="--index-url URL"
TORCH ?= torch==2.13.0
TORCH_ARGS ?=
# Another interpreter, on the first run:  make demo PYTHON=python3.13
PYTHON ?= python3
# Parallel test processes, and arguments for pytest:  make test PYTEST_ARGS="-k fixed_point"
JOBS ?= 2
PYTEST_ARGS ?=
# Most tests of a file run in one process, so that what they share is made once.
WORKERS = -n $(JOBS) --dist worksteal
# The papers' data sets, which exist only next to the authors' clone
DATA ?= ../shared/data

# An additional environment:  make test VENV=.venv-3.13 PYTHON=python3.13
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# One thread per test process: the processes already fill the cores. Bytecode is kept, for the tests
# start Python a thousand times.
test test-all coverage replay replay-accept peers: export OMP_NUM_THREADS := 1
test test-all coverage collect replay replay-accept: export PYTHONDONTWRITEBYTECODE :=

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-bare collect replay replay-accept lint lint-types lint-style format coverage coverage-check reproduce papers \
    examples docs wheel toolchains targets-page targets-matrix peers firmware-page clean FORCE

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' Makefile | expand -t 16

demo: $(VENV)/.stamp-run  ## the user's day on bundled data: train, emit, verify, measure, compare
	$(BIN)/bncc demo -o demo --force

test: $(VENV)/.stamp-dev  ## the tests of every change, in minutes
	$(BIN)/python -m pytest $(WORKERS) $(PYTEST_ARGS)

test-all: $(VENV)/.stamp-dev  ## all tests; takes hours
	$(BIN)/python -m pytest $(WORKERS) --tier all $(PYTEST_ARGS)

replay: $(VENV)/.stamp-dev  ## make every product again and compare it with its committed digests
	$(BIN)/python -m tests.replay --jobs $(JOBS)

replay-accept: $(VENV)/.stamp-dev  ## renew these digests; the diffstat goes into the commit message
	$(BIN)/python -m tests.replay --accept --jobs $(JOBS)

test-bare: $(VENV)/.stamp-dev  ## the tests on a PATH of Python, make and gcc; WITH=each adds toolchains one by one
	JOBS=$(JOBS) PYTEST_ARGS="$(PYTEST_ARGS)" .ci/bare $(WITH)

collect: $(VENV)/.stamp-dev  ## import all tests and run none, which leaves their bytecode
	$(BIN)/python -m pytest --tier all --collect-only -qq

lint: lint-types lint-style  ## style, types, import contracts, docstrings; make -j2 lint is faster

lint-types: $(VENV)/.stamp-dev
	$(BIN)/mypy

lint-style: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.stamp-dev  ## let ruff fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

coverage: $(VENV)/.stamp-dev  ## unit and property tests with line and branch coverage, then its thresholds
	$(BIN)/python -m pytest $(WORKERS) --tier ci tests/unit tests/property tests/test_tiers.py --cov --cov-report= $(PYTEST_ARGS)
	$(MAKE) --no-print-directory coverage-check

coverage-check: $(VENV)/.stamp-dev
	$(BIN)/coverage report --skip-covered --show-missing --fail-under=90
	$(BIN)/coverage report --skip-covered --show-missing --fail-under=100 \
	    --include="bncc/program/*,bncc/lower/*,bncc/emit/*,bncc/model/*"

reproduce: $(VENV)/.stamp-run  ## the maximum-likelihood cells of S0's table 1, versus the paper's
	$(BIN)/bncc reproduce s0-table1 --data $(DATA)/paper --quick

papers: $(VENV)/.stamp-run  ## all of the papers' experiments, resumable; first prints its hours, days on two cores
	$(BIN)/python -m benchmarks.accuracy.papers_run --data $(DATA) -o papers --jobs $(JOBS)

examples: $(VENV)/.stamp-run  ## build and simulate the firmware examples; needs the toolchains
	PATH="$(CURDIR)/$(BIN):$$PATH" $(MAKE) -C firmware_examples run

docs: $(VENV)/.stamp-dev  ## the documentation: docs/_build/html/index.html
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

firmware-page: $(VENV)/.stamp-run  ## rewrite the table of docs/firmware.md from all examples
	PATH="$(CURDIR)/$(BIN):$$PATH" $(MAKE) -C firmware_examples table

wheel: $(VENV)/.stamp-dev  ## dist/*.whl and dist/*.tar.gz
	$(BIN)/hatchling build

toolchains:  ## cross compilers and simulators for all targets; Debian or Ubuntu, as root
	.ci/toolchains

targets-page: $(VENV)/.stamp-run  ## rewrite docs/targets.md: all figures on all targets
	$(BIN)/python -m benchmarks.code.target_page --data $(DATA) -o docs/targets.md

peers: $(VENV)/.stamp-run  ## rewrite docs/peers.md: select programs without test rows, then compare them
	$(BIN)/python -m benchmarks.peers.peer_points --data $(DATA) --stage select --jobs $(JOBS)
	$(BIN)/python -m benchmarks.peers.peer_points --data $(DATA) --stage test

targets-matrix: $(VENV)/.stamp-run  ## the C versus Python on all targets, for the papers' models
	$(BIN)/python -m benchmarks.campaigns.target_matrix --data $(DATA)

clean:  ## remove what the other targets made, the virtual environment included
	rm -rf $(VENV) demo dist build docs/_build firmware_examples/*/build .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Stamps. Each names one finished step, so an interrupted set-up resumes where it stopped.

INSTALL := $(BIN)/python -m pip install -qq

$(VENV)/.stamp-venv:
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "bncc needs Python 3.11 or newer as $(PYTHON); name another: make PYTHON=python3.13" >&2; exit 2; }
	@'$(PYTHON)' -c 'import ensurepip, venv' || { \
	    echo "$(PYTHON) lacks venv; install the package python3-venv" >&2; exit 2; }
	@echo "set-up: creating $(VENV)"
	@'$(PYTHON)' -m venv $(VENV)
	@$(INSTALL) --upgrade "pip>=25.1"  # the first that knows dependency groups
	@touch $@

# PYTHON makes .venv, and cannot change it: where one is named, .venv must be of the same version.
.PHONY: python-unchanged
python-unchanged: $(VENV)/.stamp-venv
	@[ '$(origin PYTHON)' = file ] || { \
	    made=$$($(BIN)/python -V) && asked=$$('$(PYTHON)' -V) && [ "$$made" = "$$asked" ]; } || { \
	    echo "$(VENV) was made by $$($(BIN)/python -V), not by $(PYTHON); run 'make clean' first" >&2; exit 2; }

# Remembers the choice: renewed only when TORCH is given and differs from that of the last run.
$(VENV)/.stamp-torch: $(VENV)/.stamp-venv python-unchanged FORCE
	@{ [ '$(origin TORCH)' = file ] && [ -s $@ ]; } || \
	    echo '$(TORCH) $(TORCH_ARGS)' | cmp -s - $@ || { \
	    echo "set-up: installing $(TORCH), the largest part" && \
	    $(INSTALL) '$(TORCH)' $(TORCH_ARGS) && \
	    echo '$(TORCH) $(TORCH_ARGS)' > $@; }

$(VENV)/.stamp-run: $(VENV)/.stamp-torch pyproject.toml
	@echo "set-up: installing bncc and what it needs"
	@$(INSTALL) --editable ".[all]"
	@touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-run
	@echo "set-up: installing what its tests need"
	@$(INSTALL) --group dev
	@touch $@
