# Every tool runs as a module of $(PYTHON), so any virtual environment will do.
PYTHON ?= python
DOCS = $(wildcard README.md docs/*.md)
FUZZ ?= 20000
CORE = lambdagent/ir/*,lambdagent/desugar/*,lambdagent/machine/*,lambdagent/trace/*

.PHONY: check test format laws mutate chaos fuzz bench

# What CI runs; stops at the first failure.
check:
	$(PYTHON) -c "from importlinter.cli import lint_imports_command as lint; lint()"
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(PYTHON) -m vulture
	$(PYTHON) -m deptry lambdagent
	$(PYTHON) -m codespell_lib
	$(PYTHON) -m cogapp --check $(DOCS)
	$(PYTHON) -m pytest -q -m "not slow" -n auto --dist worksteal --cov --cov-report=
	$(PYTHON) -m coverage report --include='$(CORE)' --fail-under=95
	$(PYTHON) -m coverage report --omit='$(CORE),lambdagent/__main__.py' --fail-under=85
	$(PYTHON) -m tests.fuzz.fuzz $(FUZZ)

# Every test, slow ones too.
test:
	$(PYTHON) -m pytest -q -n auto --dist worksteal

format:
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	$(PYTHON) -m cogapp -r $(DOCS)

# The properties with many random examples.
laws:
	$(PYTHON) -m pytest -q tests/laws --hypothesis-profile=deep

# Which mutants of the machine's rules survive the laws: `make mutate FILES=… SAMPLE=60`.
mutate:
	$(PYTHON) -m tests.mutation $(FILES) $(if $(SAMPLE),--sample $(SAMPLE))

# Runs on disk, whose processes are killed: KILLS times.
KILLS ?= 10000
chaos:
	$(PYTHON) -m tests.chaos.chaos $(KILLS)

# Files of every bad kind, compiled, linted, imported, shown: none may do harm.
fuzz:
	$(PYTHON) -m tests.fuzz.fuzz $(FUZZ)

bench:
	$(PYTHON) -m bench
