# Every target sets up .venv by itself; the only things a machine needs are Python 3.11+ and Java 17+.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# Flink has wheels for Pythons 3.9 to 3.12.
FLINK_PYTHONS ?= $(PYTHON) python3.12 python3.11 python3.10 python3.9
FLINK_STAMP := .venv-flink/.installed
MOTO_STAMP := .venv-moto/.installed
FUZZ ?= 100000
SEEDS ?= 2000
KILLS ?= 100
BATCHES ?= 10000
MINUTES ?= 60
# Where nothing may be kept of compiled modules, each of the many processes of tests compiles them again.
export PYTHONDONTWRITEBYTECODE =
# Tests write many small files and flush them. In memory that takes no time, if there is room for what they keep. Some
# are scripts, which not every system runs from there.
IN_MEMORY = grep -qs ' /dev/shm .*noexec' /proc/mounts || \
  df -Pk /dev/shm 2> /dev/null | awk 'NR == 2 && $$4 > 4000000 { print "TMPDIR=/dev/shm" }'

.PHONY: help setup demo test test-fast test-kafka test-connect test-cluster lint docs bench flink moto lab soak endure simulate fuzz lock golden clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

setup: $(STAMP) ## make .venv and install penstock with its tools

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@$(BIN)/python -c "import sys; from penstock.engine.spark.java import find_java; sys.exit(find_java() is None)" \
	  || $(BIN)/python -m pip install --quiet --editable '.[java]'
	@$(BIN)/penstock warm || echo "note: the inner loops will be compiled by the first queries" >&2
	@touch $@

demo: setup ## an auction site on Spark: plans, a rush, a burst; about two minutes. DEMO=--dashboard opens a page
	$(BIN)/penstock demo $(DEMO)

# Tests of a file share what it sets up and what Numba compiles for it: each file has one worker. Those on Spark take
# seconds to minutes: whoever is done takes over from the other.
test: setup ## run all tests but those of clusters, two at a time: without Spark, then on it
	@failed=; export TMPDIR $$($(IN_MEMORY)); \
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not spark" || failed="$$failed those without Spark;"; \
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "spark and not cluster" || failed="$$failed those on Spark;"; \
	command -v mvn > /dev/null || echo "note: there is no Maven (mvn), so make test-kafka has no broker to test with" >&2; \
	[ -e $(MOTO_STAMP) ] || echo "note: there is no S3 server, so the tests on object stores were skipped: make moto" >&2; \
	if [ -n "$$failed" ]; then echo "FAILED:$$failed see above" >&2; exit 1; fi

test-fast: setup ## run the tests that start no Spark
	@export TMPDIR $$($(IN_MEMORY)); $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not spark and not slow"

test-kafka: setup ## run the tests of Kafka with a real broker, which Maven (mvn) fetches
	@export TMPDIR $$($(IN_MEMORY)); $(BIN)/python tests/support/kafka/real_broker.py --brokers 2 \
	  $(BIN)/python -m pytest -q -n 2 --dist loadfile tests/engine/sources/kafka tests/engine/sinks/kafka

test-connect: setup ## run the engine's tests on Spark again, on sessions of Spark Connect
	@export TMPDIR $$($(IN_MEMORY)); PENSTOCK_REMOTE='local[2]' $(BIN)/python -m pytest -q -p no:cacheprovider \
	  -m "spark and not cluster and not classic" $$(grep -rlE "run_spark|run: Runner" tests/engine --include=*.py)

test-cluster: setup ## run the tests of clusters: local-cluster, and a standalone master with two workers
	@export TMPDIR $$($(IN_MEMORY)); $(BIN)/python -m pytest -q -m cluster tests/engine/spark

lint: setup ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup ## build the documentation as a site, in the folder site; needs no network
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "open site/index.html; to search in it: $(BIN)/python -m http.server --directory site"

bench: setup ## run the benchmarks, penstock beside Spark's own joins
	$(BIN)/penstock bench join3
	$(BIN)/penstock bench sparse3
	$(BIN)/penstock bench chain3
	$(BIN)/penstock bench kernel

flink: $(FLINK_STAMP) ## make .venv-flink with Flink, a rival in benchmarks, in an environment of its own

$(FLINK_STAMP):
	@for python in $(FLINK_PYTHONS); do \
	  if $$python -c 'import sys; sys.exit(not (3, 9) <= sys.version_info[:2] <= (3, 12))' 2> /dev/null; then \
	    $$python -m venv .venv-flink && exit 0; \
	  fi; \
	done; echo "Flink needs a Python from 3.9 to 3.12: make flink FLINK_PYTHONS=/path/to/python3.11" >&2; exit 1
	.venv-flink/bin/python -m pip install --quiet --upgrade pip
	.venv-flink/bin/python -m pip install --quiet 'apache-flink==2.3.0' setuptools
	@.venv-flink/bin/python -c "import pyflink.table"
	@touch $@

moto: $(MOTO_STAMP) ## make .venv-moto with an S3 server for tests, in an environment of its own: it wants older libraries

$(MOTO_STAMP):
	$(PYTHON) -m venv .venv-moto
	.venv-moto/bin/python -m pip install --quiet --upgrade pip
	.venv-moto/bin/python -m pip install --quiet 'moto[s3,server]==5.2.5'
	@touch $@

lab: setup ## run the papers' experiments again and build lab/index.html; minutes. LAB=--quick takes less
	$(BIN)/penstock lab run all $(LAB) --output lab
	@echo "open lab/index.html in a browser"

soak: setup ## kill running queries at random moments, also while they switch between plans; hours. KILLS=1000 for more
	$(BIN)/python tests/support/engines/soak.py --kills $(KILLS)
	$(BIN)/python tests/support/engines/switch_soak.py --runs 300 --kills 200 --spark-runs 20 --spark-kills 20

endure: setup ## 10,000 batches on both engines, then an hour at 80 % of the capacity: nothing may grow. BATCHES=… MINUTES=…
	$(BIN)/python tests/support/endurance/long_run.py --batches $(BATCHES) --engine local --query view
	$(BIN)/python tests/support/endurance/long_run.py --batches $(BATCHES) --engine spark
	$(BIN)/python tests/support/endurance/held_load.py --minutes $(MINUTES)

simulate: setup ## live through disks that fail and forget, drivers that die, tasks run twice; SEEDS=… for more
	PYTHONPATH=tests $(BIN)/python tests/support/simulation/simulation.py --seeds $(SEEDS)

fuzz: setup ## ask 100,000 texts that are nearly queries, and read 10,000 damaged files; FUZZ=… for others
	PENSTOCK_FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -n 2 tests/fuzz

lock: setup ## pin what a release depends on, by version and hash, in requirements.lock
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet pip-tools
	head -3 requirements.lock > .venv-lock/head
	.venv-lock/bin/pip-compile --quiet --generate-hashes --strip-extras --no-header --upgrade \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --extra connect --extra dashboard --extra kafka --extra metrics --extra plot --extra profile --extra stores \
	  --output-file .venv-lock/pins pyproject.toml
	cat .venv-lock/head .venv-lock/pins > requirements.lock

golden: setup ## rewrite the golden files; review the diff
	PENSTOCK_GOLDEN=1 $(BIN)/python -m pytest -q tests/cql/test_sql.py tests/plan/explain/test_explain.py tests/plan/explain/test_script_explained.py tests/stats/files/test_stats_file.py tests/cli/control/test_status_text.py tests/engine/state/test_golden_checkpoints.py

clean: ## remove what the targets made
	rm -rf .venv .venv-flink .venv-lock .venv-moto out lab site .pytest_cache .mypy_cache .ruff_cache .hypothesis
