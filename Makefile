# Every target sets up .venv by itself; the only things a machine needs are Python 3.11+ and Java 17+.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: help setup demo test test-fast lint types bench soak lab golden clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

setup: $(STAMP) ## make .venv and install penstock with its tools

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@
