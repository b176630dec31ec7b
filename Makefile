# make web    build the site and serve it here
# make test   everything that must hold; what continuous integration runs
PYTHON ?= python3
BIN := .venv/bin
DONE := .cache/done
PORT ?= 0
# Most of what is installed is never imported, so it is compiled when it is.
INSTALL := $(BIN)/python -m pip --quiet --disable-pip-version-check install --no-compile
unexport PYTHONDONTWRITEBYTECODE  # many short programs start: compiling is most of their time
PYTEST := $(BIN)/python -m pytest

.PHONY: setup package build packed docs web test lint first-half second-half engines scripts page sweep browser compilers firefox numbers speed fidelity runtimes libraries backend schema lock imports screenshot clean
.DELETE_ON_ERROR:

# Debian packages, where they can be installed without asking.
ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)
apt = command -v apt-get >/dev/null && $(ROOT) apt-get update -qq \
	&& $(ROOT) apt-get install -y -qq --no-install-recommends $(1) >/dev/null

setup: $(DONE)/python $(DONE)/node

# pip itself, and what builds our package, so that pip has no environment to make for that.
$(DONE)/pip: constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("neat_onnx needs Python 3.11 or newer, and $(PYTHON) is %s: say make PYTHON=/path/to/python3" % sys.version.split()[0])'
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { $(call apt,python3-venv); } \
		|| { echo "Python's venv module is missing: install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(INSTALL) --constraint constraints.txt --upgrade pip hatchling hatch-fancy-pypi-readme editables
	@mkdir -p $(@D) && touch $@

# The package and what its tests need; they begin while the tools of the next target come.
$(DONE)/tests: pyproject.toml $(DONE)/pip
	$(INSTALL) --constraint constraints.txt --no-build-isolation --editable . --group test
	@mkdir -p $(@D) && touch $@

$(DONE)/python: $(DONE)/tests
	$(INSTALL) --constraint constraints.txt --group dev
	@mkdir -p $(@D) && touch $@

$(DONE)/node: package.json package-lock.json
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' \
		|| { echo "neat_onnx needs Node 20 or newer to build its page" >&2; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@mkdir -p $(@D) && touch $@

build: setup packed
	$(BIN)/python web/build.py

# What the page loads, compiled and kept for `build` while pip still installs the rest.
packed: $(DONE)/pip $(DONE)/node
	cd web && ../$(BIN)/python -m pack.packages

web: build
	$(BIN)/python web/serve.py $(PORT)

# The documentation alone, into web/dist/docs; `make build` does it too.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

lint: $(DONE)/python
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	nice $(BIN)/mypy

# Mono and Godot, by which tests compile and run C# and GDScript. Where they cannot be installed the
# tests skip. The browser comes first, as two of apt lock each other out.
compilers: browser
	@command -v godot3-server >/dev/null \
		|| { $(call apt,mono-mcs mono-runtime libmono-system-core4.0-cil godot3-server); } \
		|| echo "Mono and Godot are not here: tests of C# and GDScript skip"

browser: setup
	@$(BIN)/python e2e/browser.py >/dev/null 2>&1 || { $(call apt,chromium-headless-shell); } || { $(call apt,chromium); } || true
	@$(BIN)/python e2e/browser.py

# All at once, and what each has to say comes when it ends. The page's tests have the cores first,
# since they wait for the browser; the others fill the gaps.
test:
	$(MAKE) -j7 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) \
		page first-half second-half engines lint scripts package

# A test whose page lost its process in the browser, which is rare and the machine's, runs once more.
page: build browser
	$(PYTEST) e2e --reruns 1 --only-rerun "Target crashed"

# The tests of the package, in two halves that take as long: processes of their own are cheaper than
# workers.
HALF := $(wildcard tests/[g-o]*/)

first-half: $(DONE)/tests $(DONE)/node
	nice $(PYTEST) $(HALF)

second-half: setup
	nice $(PYTEST) tests $(HALF:%/=--ignore=%) -k "not csharp and not gdscript"

# C# and GDScript, which the halves pass over while their compilers are still being installed.
engines: compilers
	$(PYTEST) tests/codegen tests/page/test_snippets.py -k "csharp or gdscript"

# The wheel and the sdist, as an index gets them, into .cache/package.
package: $(DONE)/python
	rm -rf .cache/package
	$(BIN)/validate-pyproject pyproject.toml >/dev/null
	$(BIN)/python -m build --no-isolation --outdir .cache/package >/dev/null
	$(BIN)/twine check --strict .cache/package/*
	$(BIN)/check-wheel-contents .cache/package/*.whl

scripts: $(DONE)/node
	node --test tests/web/*.test.js

# Every parameter of the tests' sweeps, and many random cases: half an hour.
sweep: setup
	WHOLE=1 $(PYTEST) -n auto --dist worksteal tests

# The measured tables of docs/, one after the other, on a machine that does nothing else. Speed is the
# last: it fails if a bound is missed, with its table written.
numbers:
	set -e; for each in fidelity runtimes libraries backend speed; do $(MAKE) $$each; done

# Times against something plain, with their bounds: docs/speed.md.
speed: build browser
	$(BIN)/python tests/bench/speed.py

# Errors against the libraries' own outputs: docs/fidelity.md.
fidelity: setup
	$(BIN)/python tests/bench/fidelity.py

# Every runtime on every network of the corpora: docs/runtimes.md. `make runtimes EVERY=5` prints the
# table of each fifth network.
EVERY ?= 1
runtimes: setup
	PIP_BUILD_CONSTRAINT=$(CURDIR)/constraints.txt \
		$(INSTALL) --constraint constraints.txt --editable '.[onnxruntime,tract,opencv,openvino]'
	$(BIN)/python tests/bench/runtimes.py --every $(EVERY)

# Every network of the tests, written for every library and run by it: writes docs/written.md.
# NEATAPTIC_TS=… is a folder with NeatapticTS, built there. See tests/bench/judges.py.
LIBRARIES := neataptic@1.4.7 synaptic@1.1.4 @liquid-carrot/carrot@0.3.20 brain.js@1.6.1
libraries: setup
	@mkdir -p .cache/libraries
	npm install --prefix .cache/libraries --save-exact --ignore-scripts --no-audit --no-fund \
		--loglevel=error $(LIBRARIES)
	$(BIN)/python tests/bench/libraries.py

# The page in Firefox, where it is installed or can be: the tests that `make test` runs in Chromium.
# Later versions of Playwright send a command that Firefox ESR does not know.
FIREFOX_PLAYWRIGHT := 1.63.0
firefox: build $(DONE)/firefox
	@$(BIN)/python e2e/browser.py firefox >/dev/null 2>&1 || { $(call apt,firefox-esr); } || true
	@$(BIN)/python e2e/browser.py firefox
	PYTHONPATH=$(CURDIR)/.cache/firefox $(BIN)/python -m pytest -n 2 --browser firefox e2e

$(DONE)/firefox: Makefile | setup
	rm -rf .cache/firefox
	$(INSTALL) --target .cache/firefox playwright==$(FIREFOX_PLAYWRIGHT)
	@mkdir -p $(@D) && touch $@

# Every backend case of ONNX as neurons: writes docs/backend.md.
backend: setup
	$(BIN)/python tests/bench/backend.py

schema: setup
	set -e; for name in model network options certificate; do \
		$(BIN)/neat-onnx schema $$name > schema/$$name.schema.json; done

# The newest versions of what setup installs, into constraints.txt.
lock: setup
	$(BIN)/python tests/generate/lock.py

# Which modules the page imports, and when, into web/imported.json, by which the build packs them.
imports: build browser
	$(BIN)/python e2e/imports.py

screenshot: build browser
	$(BIN)/python e2e/screenshot.py

clean:
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache node_modules web/dist
