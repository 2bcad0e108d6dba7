# One command for each thing a newcomer or a reviewer wants; see README.md.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
SITE   := $(VENV)/.installed-docs

.PHONY: help setup demo test test-all test-quick test-busy check wheel fuzz torture docs bench cacti synth clean

TRIES    ?= 100
MACHINES ?= 2000

help:            ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml
	@echo "setting up $(VENV) (once, about half a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "warpsift needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@touch $@

$(DEV): $(STAMP)
	@echo "installing what the tests need (once)"
	@$(PIP) -e '.[dev]'
	@touch $@

setup: $(STAMP)  ## prepare .venv with the warpsift command in it

demo: setup      ## run BFS on a generated Delaunay graph on a modelled GPU, checked, with a table
	$(BIN)/warpsift run bfs --graph delaunay-14 --gpu gtx980

test: $(DEV)     ## run the tests but the longest: under 6 minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long"

test-all: $(DEV) ## run all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-quick: $(DEV)  ## run the tests that are quick: for the inner loop, under 90 s
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-busy: $(DEV)  ## run the tests as on a machine with ten times the load: 20 workers on two cores
	$(BIN)/python -m pytest -q tests/run/test_energy_of_runs.py tests/traces/test_traces_read.py  # compiles once, not 20 times
	$(BIN)/python -m pytest -n 20 --dist loadfile

check: $(DEV)    ## format, lint, types and all tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test-all

MINUTES ?= 5
fuzz: $(DEV)     ## read mutated inputs for MINUTES (5): every one must load or be refused in one line
	$(BIN)/python tests/fuzz --minutes $(MINUTES)

torture: $(DEV)  ## kill sweeps, fill the disk, break a Dask cluster, try odd machines (TRIES=100 MACHINES=2000)
	WARPSIFT_TORTURE_TRIES=$(TRIES) $(BIN)/python -m pytest -q -s -x tests/torture/torture_sweeps.py
	WARPSIFT_ODD_MACHINES=$(MACHINES) $(BIN)/python -m pytest -q -x tests/machines/test_odd_machines.py

wheel: $(STAMP)  ## build the wheel and run it in a fresh environment that does not see the clone
	rm -rf dist build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/warpsift-*.whl
	cd / && env -u PYTHONPATH $(CURDIR)/build/wheel/bin/warpsift --version
	cd / && env -u PYTHONPATH $(CURDIR)/build/wheel/bin/python -m warpsift list machines
	cd / && env -u PYTHONPATH $(CURDIR)/build/wheel/bin/warpsift area scu --gpu tx1

$(SITE): $(STAMP)
	@echo "installing what the documentation site needs (once)"
	@$(PIP) -e '.[docs]'
	@touch $@

docs: $(SITE)    ## build the documentation site into site/, with its reference from the code and its links checked
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

bench: $(DEV)    ## run the benchmarks and print their tables
	$(BIN)/python -m benchmarks

cacti: setup     ## regenerate the CACTI tables from its source package (about 2 minutes)
	$(BIN)/python -m warpsift.costs.cacti

synth: $(DEV)    ## synthesise the SCU (Yosys; Debian: qflow-tech-osu018) and rewrite its table (minutes per width)
	$(BIN)/python -m warpsift.hdl.synthesis 1 2 4 8 16
	$(BIN)/python -m warpsift.hdl.areas

clean:           ## remove .venv and caches
	rm -rf $(VENV) .compiled .pytest_cache .mypy_cache .ruff_cache build dist
