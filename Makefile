# Front door. `make demo` and `make test` work on a fresh Debian 12 with Rust, gcc, make and python3. On other distributions
# `make setup` prints the command that installs what is missing.
CARGO ?= cargo
PREFIX ?= /usr/local
TARGET = $(or $(CARGO_TARGET_DIR),target)
DEMO = examples/bicg/bicg.cu

# mdBook, kept below the build folder.
MDBOOK_VERSION = 0.5.4
MDBOOK = $(TARGET)/tools/bin/mdbook

# An LLVM that is not on PATH has to be named to cargo. Where it is, the variable stays unset, so that plain `cargo build` builds the same.
ifeq ($(shell command -v llvm-config-$(shell cat scripts/llvm-version)),)
LLVM_PREFIX := $(shell scripts/find-llvm.sh 2>/dev/null)
ifneq ($(LLVM_PREFIX),)
export LLVM_SYS_221_PREFIX := $(LLVM_PREFIX)
endif
endif

.PHONY: all setup build dist wheel sbom release-notes demo test test-all recordings fuzz sanitize lint deny prose docs site bench gpu-bundle gpu-test install clean

all: build

# LLVM, clang and the CUDA toolkit parts. Safe to repeat.
setup:
	@scripts/setup.sh

# With the server for agents, which plain `cargo build` leaves out.
build: setup
	$(CARGO) build --release --locked --features warpline/mcp

# A release in dist/: the archive, the Python package and their checksums. Both contain clang and LLVM.
dist:
	CARGO="$(CARGO)" scripts/dist.sh $(abspath dist)

# The Python package only.
wheel:
	CARGO="$(CARGO)" scripts/dist.sh $(abspath dist) wheel

# What the programs are made of, as CycloneDX (needs `cargo install cargo-cyclonedx`).
sbom:
	CARGO="$(CARGO)" scripts/sbom.sh $(abspath dist)

# The section of a version in CHANGELOG.md: `make release-notes VERSION=0.2.0`.
release-notes:
	@scripts/release-notes.sh $(VERSION)

# Profiles a real example and prints its report.
demo: build
	cd $(TARGET) && $(abspath $(TARGET))/release/warpline profile $(abspath $(DEMO))

# The tests' build contains the compiler; without the variable each test looks for it with a build of its own.
test:
	@scripts/setup.sh --tests
	WARPLINE_CC=$(abspath $(TARGET))/debug/warpline-cc $(CARGO) test --workspace --locked --features warpline/parquet,warpline/mcp

# Everything that `test` runs, then the broad and slow: tests marked `#[ignore = "test-all"]`, among them minutes of random
# input to whatever reads other people's files (WARPLINE_FUZZ_SECONDS for each kind, WARPLINE_FUZZ_SEED to begin elsewhere).
test-all: test
	WARPLINE_CC=$(abspath $(TARGET))/debug/warpline-cc CARGO="$(CARGO)" scripts/test-all.sh

# Builds and runs the judged and planted programs and records their profiles, on which `make test` runs the rules of findings.
recordings:
	@scripts/setup.sh --tests
	WARPLINE_RECORDINGS=make WARPLINE_CC=$(abspath $(TARGET))/debug/warpline-cc \
		$(CARGO) test -p warpline --locked --features warpline/parquet,warpline/mcp --test findings -- judged planted

# The same input led by coverage (libFuzzer, on stable Rust): `make fuzz SECONDS=600 TARGETS="trace profile"`.
fuzz: setup
	scripts/fuzz.sh $(or $(SECONDS),60) $(TARGETS)

# AddressSanitizer and Miri where a nightly compiler is installed, valgrind where it is; says what it could not run.
sanitize: setup
	CARGO="$(CARGO)" scripts/sanitize.sh

lint: setup prose
	$(CARGO) fmt --all --check
	@# Modules that a macro declares: cargo does not find them.
	rustfmt --edition 2024 --check $$(find . -path './target' -prune -o -path '*/findings/rules/*.rs' -print)
	$(CARGO) clippy --workspace --all-targets --locked --features warpline/parquet,warpline/mcp -- -D warnings
	@if command -v cargo-deny >/dev/null; then $(MAKE) deny; else echo "lint: cargo-deny is not installed (cargo install cargo-deny); dependencies were not checked"; fi

# Licences, advisories and sources of the dependencies.
deny:
	$(CARGO) deny check

# Words, line lengths and commit subjects: CONTRIBUTING.md and docs/glossary.md state the rules.
prose:
	python3 scripts/prose.py

# Pages that are made from the code, and the table of GPUs that is made from the models.
docs:
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline-runtime --test functions
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline-pass --test cpu the_page_shows_the_table
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline-simulator --lib devices_are_those
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline-dataset --features parquet --lib the_page_says_what_the_tables_are
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline --test commands explore::recording

# The pages of docs/ as a site with search, in $(TARGET)/site.
site: $(MDBOOK)
	python3 scripts/site.py $(TARGET)/site $(abspath $(MDBOOK))

$(MDBOOK):
	$(CARGO) install mdbook --locked --version $(MDBOOK_VERSION) --root $(TARGET)/tools

# Compares with the last run that `make bench RECORD=1` recorded on this machine, and reports what got slower (exit code 5).
bench: build
	CARGO="$(CARGO)" RECORD="$(RECORD)" RUNS="$(RUNS)" python3 scripts/bench.py

# Programs for a machine with a GPU: the folder can be copied to one that has no compiler.
gpu-bundle: build
	tests/gpu/bundle.sh build/gpu $(abspath $(TARGET))/release/warpline-cc $(abspath $(TARGET))/release/warpline

# Runs them here, and keeps the machine, the results and the overheads.
gpu-test: gpu-bundle
	cd build/gpu && ./run.py $(abspath docs/benchmarks)/gpu.md

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(TARGET)/release/warpline $(TARGET)/release/warpline-cc $(DESTDIR)$(PREFIX)/bin
	ln -sf warpline-cc $(DESTDIR)$(PREFIX)/bin/warpline-nvcc
	ln -sf warpline-cc $(DESTDIR)$(PREFIX)/bin/warpline-clang++
	scripts/dist/shared.sh $(TARGET)/release/warpline $(DESTDIR)$(PREFIX)

clean:
	$(CARGO) clean
