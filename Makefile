# Everything that contributors and CI run.
# Needs Rust, Python 3.11 or newer, a C compiler and make; the rest is installed into .venv.

PYTHON ?= python3
UV_VERSION := 0.13.8

BIN := .venv/bin
UV := $(BIN)/uv
export UV_PYTHON_DOWNLOADS := never
# Otherwise every command that a test starts would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
# Cargo's own commands find the same interpreter as the package's build does.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

.PHONY: help setup setup-release package demo test test-rust test-python test-all test-kernel test-page versions fuzz soak attack \
	lint lint-rust lint-python words deny crates page site wheel bench validate validate-kernel docs papers atlas \
	schema clean

help:
	@echo "make setup     build the package and its tools into .venv, and the page where node is at hand"
	@echo "make demo      run the first experiment and draw its pictures into out/demo"
	@echo "make test      Rust and Python tests, without those that are marked as slow (9 minutes)"
	@echo "make test-all  the slow tests (20 minutes)"
	@echo "make test-kernel  test the link for recordings of the kernel; as root, record too"
	@echo "make page      build the page of tailroom explore (node 20 or newer)"
	@echo "make site      build the documentation as a site into out/site"
	@echo "make test-page lint and test the page, in node, Chromium and Firefox"
	@echo "make versions  tests with the lowest declared and the newest versions of the dependencies (network)"
	@echo "make fuzz      random files and networks, a minute each (nightly compiler)"
	@echo "make soak      1,000 kills of sweeps, and the failure of every call that writes (an hour)"
	@echo "make attack    generated, mutated and damaged inputs of every kind (hours)"
	@echo "make wheel     build a wheel with the page into dist"
	@echo "make lint      formatting, lints, order of imports, types, generated files up to date"
	@echo "make words     style of prose (Vale) and workflows (actionlint); part of lint where Go is at hand"
	@echo "make deny      licences, sources and known faults of the crates (cargo-deny)"
	@echo "make crates    what the published crates would be (cargo publish --dry-run; network)"
	@echo "make bench     speed of the engine"
	@echo "make validate  comparison with published numbers (slow)"
	@echo "make validate-kernel  record the Linux kernel's TCP anew, and compare (root, two hours)"
	@echo "make schema    write schema/ and the scenario classes anew from the engine"
	@echo "make docs      draw the pictures in docs/images anew"
	@echo "make atlas     compute the atlas of buffers anew, its data and its pages (four hours)"
	@echo "make papers    reproduce the papers in full and write docs/papers anew (slow)"
	@echo "make clean     remove everything that was built"

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# --inexact keeps uv itself; the package is rebuilt when a Rust file has changed. Bytecode, as pip
# writes it too: every command would compile the libraries that it loads, or at least the first.
SYNC := $(UV) sync --quiet --locked --inexact --compile-bytecode

package: $(UV)
	$(SYNC)

setup: package
	@$(BIN)/python tools/page.py --if-possible

page: package
	@$(BIN)/python tools/page.py

# Once its tools are installed, it needs no network. Every page is read anew: Sphinx tells of a wrong
# link only when it reads the page.
site: package
	@$(SYNC) --only-group site
	rm -rf out/site
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --jobs auto \
		-c tools/sphinx_site -d out/site-doctrees . out/site

# With link-time optimisation, as in wheels: for what measures speed, and for hours of simulation.
RELEASE := --config-settings-package tailroom:build-args=--profile=release
setup-release: $(UV)
	$(SYNC) $(RELEASE)
	@$(BIN)/tailroom --version | grep --quiet release || $(SYNC) $(RELEASE) --reinstall-package tailroom

demo: package
	rm -rf out/demo
	$(BIN)/tailroom run scenarios/barman-2004/figure-3.toml --out out/demo
	@$(BIN)/tailroom --version | grep --quiet release || \
		echo "The speed is that of a development build: make setup-release builds a faster one"
	@echo "Pictures: out/demo/windows_and_queue.png and out/demo/utilization.png"

# The crates that others may use.
PUBLISHED := --package tailroom-derive --package tailroom-engine --package tailroom-rules

# A process per core; the tests of a file stay in one process, which holds what they share.
PYTEST := $(BIN)/pytest --numprocesses auto --dist loadfile

test: test-rust test-python

test-rust: $(UV)
	cargo test --workspace --locked

test-python: package
	$(PYTEST)

# An example with dependencies of its own.
QUINN := --manifest-path examples/quinn-link/Cargo.toml --locked

test-all: package
	PROPTEST_RNG_SEED=$$(date +%s) cargo test --workspace --locked -- --include-ignored
	@if cargo fetch --quiet $(QUINN); then cargo test $(QUINN); \
		else echo "examples/quinn-link is left out: its crates cannot be fetched"; fi
	$(PYTEST) -m slow --ignore tests/kernel

test-kernel: package
	cargo test --package tailroom-kernel-link --locked
	$(BIN)/pytest -m "" tests/kernel

# The dependencies and extras that the package declares, in their lowest and their newest versions. `make
# test` has those of uv.lock. The engine is that of `.venv`; environments are made in out/versions, without the
# papers and without the command, so that what needs one of them is left to `make test`.
RESOLUTIONS ?= lowest-direct highest
EXTRAS := cluster env frames plots sql tables
VERSIONS_PYTEST := pytest pytest-xdist hypothesis
VERSIONS_TESTS := $(addprefix tests/test_,any_result.py cluster.py command_options.py completion.py env.py \
	figure_titles.py frames.py parallel_env.py run_command.py store.py)

versions: package
	@for which in $(RESOLUTIONS); do \
		echo "$$which:"; \
		$(UV) venv --quiet --clear --python $(BIN)/python out/versions/$$which && \
		$(UV) pip install --quiet --python out/versions/$$which --resolution $$which \
			--requirement pyproject.toml $(addprefix --extra ,$(EXTRAS)) && \
		$(UV) pip install --quiet --python out/versions/$$which $(VERSIONS_PYTEST) && \
		PYTHONPATH=$(CURDIR)/python:$(CURDIR)/papers/src:$(CURDIR)/atlas/src out/versions/$$which/bin/python -m pytest \
			-W ignore::DeprecationWarning -W ignore::FutureWarning \
			--numprocesses auto --dist loadfile $(VERSIONS_TESTS) \
			$(addprefix --deselect tests/test_,completion.py::test_models_papers_controls_and_kinds_are_completed \
				completion.py::test_the_shell_completes_what_is_typed \
				cluster.py::test_an_unreachable_cluster_is_reported[papers-tcp://127.0.0.1:1]) || exit 1; \
	done

# The paths of the browsers, of which Debian's packages are the default; without one, its tests are left out.
CHROMIUM ?= /usr/bin/chromium
FIREFOX ?= /usr/bin/firefox-esr
export CHROMIUM FIREFOX

test-page: page
	npm run check --prefix page
	@if [ -x "$(CHROMIUM)" ]; then npm run test:browser --prefix page; \
		else echo "The tests in Chromium are left out: there is no $(CHROMIUM)"; fi
	@if [ -x "$(FIREFOX)" ]; then npm run test:firefox --prefix page; \
		else echo "The tests in Firefox are left out: there is no $(FIREFOX)"; fi
	$(PYTEST) -m slow tests/explore

# Each target for FUZZ_SECONDS. Needs `rustup toolchain install nightly` and `cargo install cargo-fuzz`.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := scenario trace flow_list distribution capture network

fuzz:
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { echo "make fuzz needs a nightly compiler and \
	cargo-fuzz: rustup toolchain install nightly; cargo install cargo-fuzz --locked"; exit 1; }
	cargo metadata --quiet --locked --format-version 1 --manifest-path fuzz/Cargo.toml >/dev/null
	for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/found/$$target; \
		cargo +nightly fuzz run $$target fuzz/found/$$target fuzz/corpus/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 || exit 1; \
	done

soak: package
	$(BIN)/python -m tests.validation.store

# ATTACK="--share 0.01" tries a hundredth.
attack: package
	$(BIN)/python -m tests.validation.attack $(ATTACK)

wheel: page
	$(UV) build --quiet --wheel --out-dir dist

lint: lint-rust lint-python

# rustfmt gets every file by name: it does not follow modules that the registry macro declares.
lint-rust: $(UV)
	find crates examples fuzz/targets benchmarks/*/src tools/*/src validation/*/*/src -name '*.rs' -print0 | \
		xargs -0 rustfmt --edition 2024 --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package tailroom-engine --lib --locked -- -D warnings # without features
	@if cargo tree --package tailroom-engine --edges normal --locked | grep pyo3; then \
		echo "the engine must not depend on Python"; exit 1; fi
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --workspace --locked
	$(BIN)/python tools/public_items.py
	$(BIN)/python tools/deny.py --if-installed
	$(BIN)/python tools/import_order.py

lint-python: package
	$(BIN)/lint-imports --no-logo
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/codespell
	@if command -v go >/dev/null && $(MAKE) --no-print-directory $(GO_LINTERS); then \
		$(MAKE) --no-print-directory words; else \
		echo "Prose and workflows are not checked: that needs Go (https://go.dev) and, once, a network"; fi
	$(BIN)/stubtest tailroom._engine
	$(BIN)/python tools/generate.py schema --check
	$(BIN)/python tools/expected_controls.py --check
	$(BIN)/python tools/dependencies.py --check
	$(BIN)/python tools/quality.py --check

# Programs in Go that check prose and workflows; go.sum pins them.
LINTERS := tools/linters
GO_LINTERS := $(BIN)/vale $(BIN)/actionlint
$(GO_LINTERS): $(LINTERS)/go.mod $(LINTERS)/go.sum | $(UV)
	GOBIN=$(CURDIR)/$(BIN) go install -C $(LINTERS) -trimpath -ldflags=-s tool
	touch $(GO_LINTERS)

PROSE := '*.md' '*.py' '*.rs' ':!docs/papers' ':!fuzz/corpus'

words: $(GO_LINTERS)
	git ls-files -z $(PROSE) | xargs -0r $(BIN)/vale --no-global --no-wrap --output=line
	$(BIN)/actionlint

# What `cargo publish` would upload, built as a user would.
crates:
	cargo publish --dry-run --locked --allow-dirty $(PUBLISHED)

deny: package
	$(BIN)/python tools/deny.py

bench: setup-release
	cargo bench --package tailroom-engine --locked --bench controls --bench discipline --bench many_links --bench packet_hop
	$(BIN)/python benchmarks/against_limit.py
	$(BIN)/python benchmarks/against_ns2.py

validate: setup-release
	$(BIN)/python -m tests.validation

# An hour in real time, as root, on a quiet machine; goes on where it was interrupted.
validate-kernel: package
	$(BIN)/python -m validation.kernel.matrix --out out/kernel --anew
	$(BIN)/python -m tests.validation.kernel --recorded out/kernel

# Continues where it was interrupted: out/atlas-store keeps every run.
atlas: setup-release
	rm -rf out/atlas
	$(BIN)/tailroom atlas run --store out/atlas-store --out out/atlas
	mkdir -p python/tailroom/buffer_atlas/shipped
	cp out/atlas/* python/tailroom/buffer_atlas/shipped/
	$(BIN)/python -m tailroom_atlas.page

papers: setup-release
	$(BIN)/python tools/paper_reports.py

schema: package
	$(BIN)/python tools/generate.py schema

docs: package
	$(BIN)/python tools/dependencies.py
	$(BIN)/python tools/quality.py
	$(BIN)/python tools/control_pictures.py
	$(BIN)/python tools/fluid_pictures.py
	$(BIN)/python tools/two_way_pictures.py
	$(BIN)/python tools/varying_link_pictures.py
	$(BIN)/python tools/shared_memory_pictures.py
	$(BIN)/python -m tests.validation.kernel_pictures
	$(BIN)/python -m tests.validation.l4s.picture
	$(BIN)/python -m tests.validation.tutorial_pictures

clean:
	cargo clean
	rm -rf page/node_modules page/wasm python/tailroom/explore/page
	rm -rf .venv out dist .mypy_cache .ruff_cache .pytest_cache
