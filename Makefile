# Two commands matter: `make demo` and `make test`. Each sets up what it needs and says what it does.
PYTHON ?= python3
RUN = .venv/bin/python
OLDER_CLIENT = huggingface_hub<2
CHECKED = src tests scripts eval benchmarks .agents

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo test test-older soak lint format bench clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

setup:  ## the environment of users: .venv from uv.lock, with all extras
	@PYTHON="$(PYTHON)" sh scripts/setup.sh users

setup-dev:  ## the same with the development tools
	@PYTHON="$(PYTHON)" sh scripts/setup.sh developers

demo: setup  ## benchmark XGBoost on the mini arena, from its name to its place on the leaderboard
	@sh scripts/demo.sh

test: setup-dev lint  ## lint, then every test, on all cores
	@$(RUN) -m pytest -n auto --dist worksteal

test-older: setup-dev  ## the tests of the Hub with the real client one release line back, ten minutes
	@.uv/bin/uv pip install --quiet --python $(RUN) --target .venv/older-client "$(OLDER_CLIENT)"
	@PYTHONPATH=$(CURDIR)/.venv/older-client $(RUN) -c 'import huggingface_hub; print(huggingface_hub.__version__)'
	@PYTHONPATH=$(CURDIR)/.venv/older-client $(RUN) -m pytest -n auto tests/hub tests/rehearsal/hub

soak: setup-dev  ## kill processing and uploading at 200 random writes, audit 1,000 random job folders, cut 2,000 sequences of repairs, two hours
	@BENCHWRIGHT_KILLS=200 $(RUN) -m pytest tests/system/test_publish_kills.py
	@BENCHWRIGHT_MIXES=1000 $(RUN) -m pytest tests/harbor/test_harbor_jobs.py
	@BENCHWRIGHT_REPAIRS=2000 $(RUN) -m pytest -n auto tests/repair/test_repairs_soak.py

lint: setup-dev  ## ruff and mypy
	@$(RUN) -m ruff check $(CHECKED)
	@$(RUN) -m ruff format --check $(CHECKED)
	@$(RUN) -m mypy

format: setup-dev  ## let ruff rewrite what it can
	@$(RUN) -m ruff check --fix $(CHECKED)
	@$(RUN) -m ruff format $(CHECKED)

bench: setup  ## measure beside the peers, half an hour
	@$(RUN) benchmarks/run.py

clean:  ## remove the environment and the caches
	rm -rf .venv .uv .pytest_cache .mypy_cache .ruff_cache .hypothesis
