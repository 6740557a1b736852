# Everything here sets itself up in .venv; only make and a Python 3.10 or newer are wanted.
#
#   make demo         a bundled recording becomes spans and trajectories
#   make test         the quick suite; ARGS="-k words" for a part of it
#   make lint types layers      style, types, direction of imports
#   make schemas      write schemas/ anew from the models
#   make readme       write the tables and outputs of README.md anew
#   make docs         write docs/ anew from the tables of the code
#   make bench        what emission, folding, importing and the first events cost, as ratios to floors
#   make coverage     the quick suite, with what it does not reach
#   make integration  a real OTLP server on loopback, and the servers of `make servers` that are here
#   make servers      build Collector, Jaeger, Phoenix, MLflow and a JavaScript SDK into ~/.cache (20 min, 6 GB);
#                     ARGS="collector" for one
#   make slow         generated inputs and whatever takes minutes
#   make reference    our documents through the reference validator (needs Python 3.12 or newer)
#   make pythons      the quick suite under every other Python on this machine
#   make lowest       the quick suite with the oldest packages that pyproject.toml allows
#   make package      build the wheel, install it into a fresh environment, use it
#   make ci           all of it, as .ci/run does
#   make clean        remove everything that was made

# What the caller's shell has set up for another project must not reach ours.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONSTARTUP PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check install --quiet
PYTEST := $(PYTHON) -m pytest
REFERENCE := .venv-reference
ARGS ?=

.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: demo test lint format types layers schemas readme docs bench bench-smoke coverage integration servers slow reference pythons lowest package ci clean

demo: $(VENV)/ready
	@$(VENV)/bin/atifold demo

test: $(VENV)/ready-test
	@$(PYTEST) -n auto $(ARGS)

lint: $(VENV)/ready-dev
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .

format: $(VENV)/ready-dev
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

types: $(VENV)/ready-dev
	$(PYTHON) -m mypy
	$(PYTHON) -m pyright --pythonpath $(PYTHON)

layers: $(VENV)/ready-dev
	$(VENV)/bin/lint-imports

schemas: $(VENV)/ready
	$(PYTHON) -m atifold.atif.schemas schemas/atif
	$(PYTHON) -m atifold.events.schemas schemas/events
	$(PYTHON) -m atifold.runs.schemas schemas

readme: $(VENV)/ready
	$(PYTHON) scripts/write_readme.py

docs: $(VENV)/ready
	$(PYTHON) scripts/write_docs.py

bench: $(VENV)/ready
	@$(PYTHON) benchmarks/emission.py $(ARGS)
	@$(PYTHON) benchmarks/folding.py $(ARGS)
	@$(PYTHON) benchmarks/import.py

bench-smoke: $(VENV)/ready
	@$(PYTHON) benchmarks/emission.py --rounds 3
	@$(PYTHON) benchmarks/folding.py --rounds 3
	@$(PYTHON) benchmarks/import.py --rounds 3

coverage: $(VENV)/ready-test
	$(PYTEST) --cov --cov-report=term $(ARGS)

integration: $(VENV)/ready-dev
	$(PYTEST) -m integration $(ARGS)

# Never done by the other targets: it takes too long. What is not there is skipped by `make integration`.
servers:
	@scripts/build-servers $(ARGS)

# Exit code 5 of pytest: no test has one of these marks.
slow: $(VENV)/ready-test
	$(PYTEST) -m "fuzz or slow" $(ARGS) || [ $$? -eq 5 ]

reference: $(REFERENCE)/ready
	$(REFERENCE)/bin/python -m pytest -m reference $(ARGS)

pythons:
	@scripts/check-pythons $(ARGS)

lowest:
	@scripts/check-lowest $(ARGS)

package: $(VENV)/ready-dev
	@scripts/check-package $(PYTHON)

ci:
	@.ci/run

clean:
	rm -rf .venv .venv-* dist build htmlcov .coverage* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis atifold-demo
	find src tests scripts benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# ---- set-up: done once, then again when pyproject.toml changes -----------------------------------

$(VENV)/made:
	@python=$$(scripts/find-python) && echo "atifold: setting up $(VENV) with $$python (once)" >&2 \
	    && "$$python" -I -m venv --clear $(VENV) && touch $@

$(VENV)/ready: $(VENV)/made pyproject.toml
	@$(PIP) --editable . && touch $@

$(VENV)/ready-test: $(VENV)/made pyproject.toml
	@echo "atifold: installing what the tests need (once)" >&2
	@$(PIP) --editable '.[test]' && touch $@

$(VENV)/ready-dev: $(VENV)/made pyproject.toml
	@echo "atifold: installing what development needs (once)" >&2
	@$(PIP) --editable '.[dev]' && touch $@

# The validator itself needs pydantic alone; harbor's other forty dependencies would be for nothing.
$(REFERENCE)/ready: pyproject.toml
	@python=$$(scripts/find-python 12) && echo "atifold: setting up $(REFERENCE) with $$python (once)" >&2 \
	    && "$$python" -I -m venv --clear $(REFERENCE)
	@$(REFERENCE)/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[test]'
	@$(REFERENCE)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps harbor
	@touch $@
