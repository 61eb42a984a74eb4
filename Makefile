# `make` lists what there is. Everything is installed into .venv from the locks in requirements/.
PYTHON ?= python3
# Two more than there are cores: many tests wait for daemons and clocks.
JOBS ?= $(shell echo $$(($$(nproc) + 2)))
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
# Wheels only, but for dkimpy and pyspf, whose build tools stand in build.lock. So does pip: what python3 -m venv brings varies.
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet --root-user-action=ignore
WHEELS := --require-hashes --no-deps --only-binary :all:
LOCKED := $(WHEELS) --no-binary dkimpy,pyspf --no-build-isolation
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links $(UPGRADE)
# Compiled modules are kept, whatever the environment says: the tests start many processes, and each would compile all of
# ours again. Those of the tests are compiled while the checks, on one core, are made.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest
# The dashboard, where it is served from; rebuilt when one of its sources is newer.
DASHBOARD := mailkeep/web/dashboard_page/screens.json
DASHBOARD_SOURCES := $(shell find dashboard -path dashboard/node_modules -prune -o -type f -print)
NPM := dashboard/npm
# The identity provider of the tests.
OIDC_PROVIDER := tests/oidc_provider/node_modules/.installed
PEBBLE := $(BIN)/pebble
GO := golang.org/toolchain@v0.0.1-go1.24.13.linux-$(shell dpkg --print-architecture 2>/dev/null || echo amd64)
SOURCES := mailkeep tests bench docs conftest.py

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help setup dev browser up test check fmt generate bench screenshots lock clean daemons

# A virtual environment does not survive that its folder is moved or copied.
$(shell [ ! -e $(VENV)/.place ] || [ "$$(cat $(VENV)/.place)" = "$$(pwd -P)" ] || rm -rf $(VENV))

help: ## what can be made
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z%-]+):.*## /\1\t/' | expand -t 12

setup: $(VENV)/.runtime $(DASHBOARD) ## .venv with what `mailkeep` needs to run, and the dashboard
	@:

dev: $(VENV)/.dev $(DASHBOARD) ## .venv with the tools of `make check` and `make test` as well
	@:

up: setup ## start Mailkeep on ./data (ARGS="--http 127.0.0.1:9090 …" for `mailkeep up`)
	@exec $(BIN)/mailkeep up $(ARGS)

test: dev browser daemons $(OIDC_PROVIDER) ## everything: checks, then all tests (ARGS="-k name" for pytest)
	@$(PYTEST) --collect-only -q >/dev/null 2>&1 & $(MAKE) --no-print-directory check && wait
	@$(PYTEST) -n $(JOBS) --dist worksteal $(ARGS)

# Only root can install them; without them the tests of the full profile are skipped by name.
daemons: dev
	@[ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || $(BIN)/mailkeep install --antivirus --webmail >&2 || \
		echo "The mail daemons can't be installed: tests of the full profile will be skipped." >&2
	@{ command -v knotd && command -v swaks && command -v restic && command -v rclone && command -v promtool && perl -MNet::SSLeay -e 1; } >/dev/null 2>&1 || [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || { \
		echo "Installing Knot, swaks, restic, rclone and promtool: a DNS server, a mail client, backups, servers for them, alert rules …" >&2; export DEBIAN_FRONTEND=noninteractive; policy=/usr/sbin/policy-rc.d; \
		[ -e $$policy ] || { printf '#!/bin/sh\nexit 101\n' >$$policy; chmod +x $$policy; trap "rm $$policy" EXIT; }; \
		timeout 300 apt-get update -qq; \
		timeout 900 apt-get install -y -qq --no-install-recommends knot swaks libnet-ssleay-perl restic rclone prometheus </dev/null >/dev/null || \
		echo "Knot, swaks, restic, rclone and promtool can't be installed: the tests that need them are skipped." >&2; }

	@$(MAKE) --no-print-directory $(PEBBLE) || echo "Pebble can't be built: the tests that need it are skipped." >&2

# Pebble, Let's Encrypt's test server, is a Go module, and needs a newer Go than Debian 12 has. Debian's Go loads that one as a
# module too, with its checksum verified; its programs lack the right to be executed then.
$(PEBBLE):
	@echo "Building Pebble, an ACME server for the tests …" >&2
	@command -v go >/dev/null || [ "$$(id -u)" -ne 0 ] || { export DEBIAN_FRONTEND=noninteractive; timeout 300 apt-get update -qq; \
		timeout 900 apt-get install -y -qq --no-install-recommends golang-go ca-certificates </dev/null >/dev/null; }
	@go=go; case "$$(go env GOVERSION)" in go1.?|go1.?.*|go1.1?*|go1.2[0-3]*) \
		folder=$$(cd / && timeout 600 go mod download -json $(GO) | sed -n 's/^\t"Dir": "\(.*\)",$$/\1/p'); \
		chmod -R u+w "$$folder" && chmod +x "$$folder"/bin/* "$$folder"/pkg/tool/*/* && go=$$folder/bin/go && export GOROOT=$$folder;; esac; \
		cd / && GOTOOLCHAIN=local GOFLAGS= GOBIN=$(abspath $(BIN)) timeout 900 $$go install github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1

# Only root can install it; without one the tests that need a browser are skipped by name. The shell is preferred: the
# same engine, with two thirds of the work.
browser:
	@command -v chromium-headless-shell >/dev/null || [ "$$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null || { \
		echo "Installing chromium for the tests …" >&2; export DEBIAN_FRONTEND=noninteractive; \
		install() { timeout 900 apt-get install -y -qq --no-install-recommends "$$1" </dev/null >/dev/null; }; \
		timeout 300 apt-get update -qq; install chromium-headless-shell || command -v chromium >/dev/null || install chromium || \
		echo "chromium can't be installed: the tests that need a browser are skipped." >&2; }

check: dev ## formatting, lint, types, import contracts, generated files, retired words, the dashboard
	@$(BIN)/pyright & types=$$!; code=0; { $(BIN)/ruff format --check $(wildcard $(SOURCES)) && \
		$(BIN)/ruff check $(wildcard $(SOURCES)) && \
		$(BIN)/lint-imports --no-cache --no-logo && \
		$(BIN)/python docs/generate.py --check && \
		$(BIN)/python docs/check_words.py && \
		$(NPM) run --silent check; } || code=$$?; wait $$types || code=$$?; exit $$code

fmt: dev ## format, and apply the fixes of ruff
	@$(BIN)/ruff check --fix --quiet $(wildcard $(SOURCES)) || true
	@$(BIN)/ruff format $(wildcard $(SOURCES))

generate: dev ## regenerate the generated files (docs/reference)
	@$(BIN)/python docs/generate.py

bench: $(patsubst bench/%.py,bench-%,$(wildcard bench/*.py)) ## all performance promises, one after the other

bench-%: dev ## one of them: bench/NAME.py
	@$(BIN)/python -m bench.$* $(ARGS)

screenshots: dev browser daemons ## docs/screenshots: every screen, light and dark, wide and phone
	@$(BIN)/python -m tests.browser.screenshots $(ARGS)

prove-%: dev ## a proof that takes longer than the tests may: tests/prove/NAME.py; kept in docs/proofs/NAME.txt
	@mkdir -p docs/proofs
	@$(BIN)/python -m tests.prove.$(subst -,_,$*) $(ARGS) > docs/proofs/$*.txt.part; code=$$?; cat docs/proofs/$*.txt.part; \
		[ $$code -eq 0 ] && mv docs/proofs/$*.txt.part docs/proofs/$*.txt

lock: dev ## update the locks from pyproject.toml (UPGRADE=--upgrade for the newest versions)
	@$(PIP) uv
	@$(COMPILE) pyproject.toml --group dev --group build -o requirements/dev.lock
	@$(COMPILE) pyproject.toml -c requirements/dev.lock -o requirements/runtime.lock
	@$(COMPILE) --group build -c requirements/dev.lock -o requirements/build.lock
	@$(COMPILE) --group node -c requirements/dev.lock -o requirements/node.lock

clean: ## remove .venv and caches; ./data stays
	@rm -rf $(VENV) dashboard/node_modules tests/oidc_provider/node_modules mailkeep/web/dashboard_page .ruff_cache .pytest_cache .hypothesis .schemathesis
	@find $(wildcard $(SOURCES)) -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Mailkeep needs Python 3.11 or newer with venv. On Debian: apt install make python3-venv git" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.runtime: requirements/build.lock requirements/runtime.lock pyproject.toml | $(BIN)/python
	@echo "Installing what is pinned in requirements/runtime.lock …" >&2
	@$(PIP) $(WHEELS) -r requirements/build.lock
	@$(PIP) $(LOCKED) -r requirements/runtime.lock
	@$(PIP) --no-deps --no-build-isolation --no-index --editable .
	@pwd -P > $(VENV)/.place
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	@echo "Installing what is pinned in requirements/dev.lock …" >&2
	@$(PIP) $(LOCKED) -r requirements/dev.lock
	@touch $@

dashboard/node_modules/.installed: dashboard/package-lock.json dashboard/.npmrc | $(VENV)/.runtime
	@echo "Installing what is pinned in dashboard/package-lock.json …" >&2
	@$(NPM) ci --loglevel=error >&2
	@touch $@

$(OIDC_PROVIDER): tests/oidc_provider/package-lock.json tests/oidc_provider/.npmrc | $(VENV)/.runtime
	@echo "Installing what is pinned in tests/oidc_provider/package-lock.json …" >&2
	@$(NPM) --prefix ../tests/oidc_provider ci --ignore-scripts --loglevel=error >&2
	@touch $@

$(DASHBOARD): dashboard/node_modules/.installed $(DASHBOARD_SOURCES)
	@echo "Building the dashboard …" >&2
	@$(NPM) run --silent build >&2
	@touch $@
