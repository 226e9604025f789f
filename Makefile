# Every command needs only Python 3.11+, make and git: it creates .venv and installs what it needs first.
PYTHON ?= python3
VENV := .venv
# The tests start a hundred processes, which would all compile the package.
unexport PYTHONDONTWRITEBYTECODE
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
TESTING := $(VENV)/with-dev,digits,dist,docs,export,ray
DEV := $(if $(wildcard $(TESTING)),$(TESTING),$(VENV)/with-dev)
# Three workers for two cores, since tests wait for browsers, clusters and other processes; what takes long comes first
# (tests/conftest.py), and what was left out is told last.
PYTEST := $(BIN)/pytest -n 3 --dist loadgroup --no-loadscope-reorder -rs
# For tests that are left out: under CI that is a failure.
left_out = { echo "$(1)"; [ -z "$$CI" ]; }

.PHONY: test check reproduce docs dist fresh attacks install format chromium axe

reproduce: $(INSTALLED)
	$(BIN)/modgrok reproduce

# Types beside the tests.
test: $(TESTING) chromium axe
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; $(PYTEST); tests=$$?; wait $$types && exit $$tests

# The same in about a minute, without tests that need a browser, a cluster or training of more than a moment.
check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; $(PYTEST) -n 2 -m "not long"; tests=$$?; wait $$types && exit $$tests

# The site in site/, from docs/ and the docstrings; nothing is fetched while it is built or read. Each report also
# becomes one HTML file in site/reports, with its figures as SVG, from the committed numbers.
docs: $(VENV)/with-digits,docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	for paper in $(notdir $(patsubst %/report.md,%,$(wildcard docs/reproduction/*/report.md))); do \
	  $(BIN)/modgrok reproduce $$paper --from-numbers docs/reproduction/$$paper --out site/reports/$$paper --json >/dev/null || exit 1; \
	done

# Wheel and source distribution in dist/; make fresh tries the wheel in new environments, one for each of PYTHONS.
dist: $(VENV)/with-dist
	$(BIN)/python -m build --no-isolation

PYTHONS ?= python3.11 python3.12 python3.13
fresh: dist
	$(BIN)/python benchmarks/fresh_wheel.py $(wildcard dist/modgrok-*.whl) $(PYTHONS)

# Half an hour of crashes, full disks, changed files, lies, fuzzed input, hostile requests and signals; writes the table
# of docs/reliability.md. Then examples for the properties that `make test`, which tries the same each time, has not seen.
attacks: $(TESTING)
	for name in faults mutations lying_files command_lines expressions hostile_requests signals; do \
	  $(BIN)/python benchmarks/attacks/$$name.py --write || exit 1; \
	done
	$(PYTEST) --hypothesis-profile search tests/closed_form tests/measures tests/networks tests/tasks tests/training

install: $(INSTALLED)

$(BIN)/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "modgrok needs Python 3.11 or newer; name one with make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml constraints.txt | $(BIN)/pip
	$(PIP_INSTALL) .
	touch $@

# .venv/with-docs says that the extra docs of pyproject.toml is installed, .venv/with-docs,ray that both are.
$(VENV)/with-%: pyproject.toml constraints.txt | $(BIN)/pip
	$(PIP_INSTALL) '.[$*]'
	touch $(INSTALLED) $@

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The browser tests drive the system's Chromium.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } || \
	  $(call left_out,Left out: the browser tests; apt-get could not install Chromium.); \
	else \
	  $(call left_out,Left out: the browser tests; they need Chromium on PATH (Debian: sudo apt-get install chromium).); \
	fi

# They check accessibility with axe-core, from npm, for the tests alone.
axe: .axe/node_modules/axe-core/axe.min.js
.axe/node_modules/axe-core/axe.min.js:
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-audit --no-fund --no-save --prefix .axe axe-core@4 || \
	  $(call left_out,Left out: the accessibility tests; npm could not fetch axe-core.); \
	else \
	  $(call left_out,Left out: the accessibility tests; they need npm to fetch axe-core.); \
	fi
