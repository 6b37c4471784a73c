# Two commands do everything on a fresh machine: `make demo` and `make test`.
# They need Python 3.11 or newer with pip, and make; the rest goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock
FROM := pyproject.toml requirements.lock

# Programs that tests start find the package compiled, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

# Two workers, each with one half of the tests in their order, so that what a file or a server
# sets up serves its neighbours; who is done takes from the other.
PYTEST := $(BIN)/python -m pytest -q -n 2 --dist worksteal

SHORT := "not slow and not postgres and not spark and not browser and not chance"

# Something of every room, to be done in a minute; LONG are the long files among it.
QUICK := tests/test_house.py tests/test_nouns.py tests/test_random_sources.py tests/queries tests/privacy tests/mechanisms tests/test_formatting.py tests/present/test_drawing.py \
	tests/review/test_database.py tests/storage tests/testing/test_worlds.py tests/wire/test_protocol.py \
	tests/wire/test_settings.py \
	tests/laws/test_any_two_tables.py tests/laws/test_journal.py tests/laws/test_fourier.py \
	tests/laws/test_mechanism_laws.py tests/laws/test_induced_values.py \
	tests/ledger/test_sqlite_journal.py \
	tests/ledger/test_formats.py tests/marginals/test_paper_shift.py \
	tests/marginals/test_paper_program.py tests/marginals/test_paper_bits.py \
	tests/priors/solver/lattice/test_kernel.py tests/priors/solver/tables/test_projection.py tests/priors/solver/test_literal.py \
	tests/curator/test_pricing.py tests/curator/test_policy_reader.py tests/curator/test_spend.py \
	tests/engines/test_statement.py tests/engines/test_kinds.py tests/audit/reconstruction/test_tracker.py \
	tests/audit/disclosure/test_closeness.py tests/mining/test_additive_scores.py tests/cli/test_draft.py \
	tests/server/test_accounts.py tests/federation/test_holders_masks.py
LONG := tests/queries/test_emptiness.py tests/queries/test_measurement.py tests/mechanisms/test_margin.py \
	tests/mechanisms/test_graph_measure.py tests/mechanisms/test_choosing.py \
	tests/mechanisms/test_quantile.py tests/mechanisms/test_quantile_loss.py \
	tests/mechanisms/test_noisy_max.py tests/mechanisms/test_removal_distance.py

.DEFAULT_GOAL := help
.PHONY: help demo test quick lint types contracts slow adversary trusted walks bench docs dist figures lock picture clean

help:
	@echo "make demo    a made-up census, five questions, private answers (from nothing)"
	@echo "make test    lint, types, contracts and tests, with all they need"
	@echo "make quick   what needs no server, browser or long run: under a minute"
	@echo "make slow    the tests that take minutes"
	@echo "make trusted what must be right for the promise to hold: files, lines, and why"
	@echo "make walks   through how many files and functions each command goes, traced"
	@echo "make adversary  200,000 uses of neighbouring tables, and planted faults (an hour)"
	@echo "make bench   the benchmarks"
	@echo "make docs    the site, into build/site"
	@echo "make dist    the wheel and the sdist, into dist, checked"
	@echo "make figures every claim of the five papers, run: build/papers.html"
	@echo "make lock    requirements.lock anew; make picture: the picture in the README"

demo: .venv/.runs
	@$(BIN)/adomnia demo

test: .venv/.tests
	@$(MAKE) --no-print-directory lint types contracts
	$(PYTEST) -m "not slow" $(ARGS)

quick: .venv/.tests
	$(PYTEST) -x -m $(SHORT) $(addprefix --ignore=,$(LONG)) $(ARGS) $(QUICK)

lint: .venv/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.tests
	$(BIN)/mypy

contracts: .venv/.tests
	$(BIN)/lint-imports

slow: .venv/.tests
	$(BIN)/python -m pytest -q -m slow

trusted: .venv/.made
	@$(BIN)/python tools/trusted.py $(ARGS)

walks: .venv/.tests
	@$(BIN)/python tools/walks.py $(ARGS)

adversary: .venv/.tests
	$(BIN)/python -m tests.adversary $(ARGS)
	$(BIN)/python -m tests.adversary --faults

bench: .venv/.tests
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: .venv/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "build/site/index.html opens in any browser; with search: $(PYTHON) -m http.server -d build/site"

dist: .venv/.dist
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m twine check --strict dist/*

picture: .venv/.runs
	$(BIN)/python docs/make_picture.py

figures: .venv/.tests
	$(BIN)/python -m experiments $(ARGS)

lock: .venv/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --all-extras --no-header --no-annotate \
		--output-file requirements.lock pyproject.toml

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# The environment: made once, completed when pyproject.toml or the lock changes.

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=python3.11 …" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory .venv-module
	@test -x $(BIN)/python || { echo "making .venv"; $(PYTHON) -m venv .venv; }
	@touch $@

.venv/.runs: .venv/.made $(FROM)
	@echo "installing adomnia into .venv"
	@$(PIP) --editable '.[server]'
	@touch $@

.venv/.tests: .venv/.made .venv/.system $(FROM)
	@echo "installing adomnia and what its tests need into .venv"
	@$(PIP) --editable '.[dev]'
	@touch .venv/.runs .venv/.docs .venv/.dist $@

.venv/.docs: .venv/.made $(FROM)
	@echo "installing adomnia and what its site needs into .venv"
	@$(PIP) --editable '.[docs]'
	@touch $@

.venv/.dist: .venv/.made $(FROM)
	@echo "installing what makes a wheel into .venv"
	@$(PIP) --editable '.[dist]'
	@touch $@

# Real parts for the tests: a PostgreSQL server and psql, its JDBC driver, Java for Spark, a
# browser, and 4ti2 for Graver bases that are not our own. Where one is missing it is installed;
# where that cannot be, its tests say so.
.venv/.system: .venv/.made
	@missing=""; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || missing="$$missing postgresql"; \
	command -v psql >/dev/null || missing="$$missing postgresql-client"; \
	command -v java >/dev/null || missing="$$missing default-jre-headless"; \
	test -e /usr/share/java/postgresql.jar || missing="$$missing libpostgresql-jdbc-java"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v 4ti2-graver >/dev/null || missing="$$missing 4ti2"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing$$missing"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -qq --no-install-recommends $$missing >/dev/null; } \
			|| echo "could not install:$$missing" >&2; \
	elif [ -n "$$missing" ]; then echo "not there, so not tested:$$missing" >&2; fi
	@touch $@

# Debian keeps the module that makes environments in a package of its own.
.PHONY: .venv-module
.venv-module:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing python3-venv"; apt-get update -qq && apt-get install -y -qq python3-venv; \
	else echo "python3-venv is missing: apt-get install python3-venv" >&2; exit 1; fi
