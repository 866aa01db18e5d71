# fvmkit: everything that a checkout can do. File names are relative, so a path with spaces works.

PYTHON ?= python3
PY := .venv/bin/python
# Two workers: tests run QEMU in real time and suffer on a crowded machine.
# Each gets neighbouring tests, which share what is built and proved, and helps the other at the end.
TESTFLAGS ?= -n 2 --dist worksteal
TESTS ?= tests
SOAK ?= 3600
FUZZ ?= 600
HSE ?= 8

.DEFAULT_GOAL := help
.PHONY: help setup check test test-upstream demo lint campaign mutants faults fuzz soak bench scaling hw-bench encodings verify clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

setup: ## Debian packages, .venv and the FreeRTOS kernel; a second run finds all done
	@$(PYTHON) -m composer.setup

test: setup ## every test but the campaigns (TESTS=path for all there, TESTFLAGS for pytest)
	@$(PY) -m pytest $(TESTFLAGS) $(if $(filter tests,$(TESTS)),-m "not campaign") $(TESTS)

test-upstream: setup ## port public RTOS trees by the recipes, and transcribe every handler in them (TREES=folder of trees)
	@$(PY) -m tests.upstream_ports "$(TREES)"
	@$(PY) -m tests.upstream "$(TREES)"

demo: setup ## migrate the example, run it in QEMU, show what happens
	@$(PY) examples/two-legacy-mcus/demo

lint: setup ## every static check, of Python and of C
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy porter scanner composer benchmarks
	@.venv/bin/lint-imports --no-cache
	@git ls-files -z '*.c' '*.h' | xargs -0 .venv/bin/clang-format --dry-run -Werror
	@.ci/lint-c

check: setup ## the daily loop: Python's static checks, and what of the porter and the scanner is tested fast
	@$(PY) -m ruff check .
	@$(PY) -m mypy porter scanner composer benchmarks
	@$(PY) -m pytest $(TESTFLAGS) tests/scanner tests/porter tests/composer/test_rules.py tests/trees \
	    --ignore tests/porter/context_switch --ignore tests/porter/interrupt_split --ignore tests/porter/test_example.py \
	    --ignore tests/porter/test_unknown_build.py --ignore tests/porter/test_command.py \
	    --ignore tests/scanner/test_every_encoding.py

campaign: setup ## a sample of the campaigns' cases; FULL=1: all, and every change of an image, 1000 random ones, every core
	@$(if $(FULL),FVM_FULL=1) $(PY) -m pytest $(TESTFLAGS) -m campaign $(TESTS)

faults: setup ## the whole fault campaign; writes build/faults and the tables of docs/faults.md
	@$(PY) -m tests.faults.campaign

fuzz: setup ## atheris on every loader and the whole scan, for FUZZ seconds in all (installs atheris)
	@$(PY) -m tests.fuzz $(FUZZ)

mutants: setup ## wrong transcriptions of every context switch of the tests, for both oracles of the proof
	@$(PY) -m tests.porter.context_switch.campaign
	@$(PY) -m tests.porter.context_switch.riscv.campaign

soak: setup ## an hour of a system's own time under random faults, an hour of all configurations (SOAK=seconds)
	@$(PY) -m tests.faults.soak $(SOAK)
	@$(PY) -m tests.configurations.campaign $(SOAK)

bench: setup ## instructions of every operation, beside bare-metal FreeRTOS and, in RTOS_TREES=FOLDER, others; the scanner's speed
	@$(PY) -m benchmarks --all
	@$(PY) -m tests.rtos.exchanges
	@$(PY) -m benchmarks.scanner

scaling: setup ## cost of operations as a system grows, and latency under a flood of interrupts
	@$(PY) -m benchmarks.scale

hw-bench: setup ## the benchmark for a real STM32F405 (HSE=crystal in MHz); docs/hardware-benchmark.md
	@$(PY) -m benchmarks.hardware build --hse $(HSE)

encodings: setup ## the scanner's tables of instructions against LLVM's: every difference, with its reason
	@$(PY) -m proofs.encodings

verify: setup ## what is proved: models, contracts, encodings, and the host tests at length (installs Frama-C, LLVM)
	@$(PY) -m proofs

clean: ## remove what was built; keeps .venv and the FreeRTOS kernel
	rm -rf build examples/*/*/build .mypy_cache .ruff_cache .pytest_cache .hypothesis
