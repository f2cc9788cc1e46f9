# Front door. `make demo` and `make test` work on a fresh Debian 12 with Rust, gcc, make and python3.
CARGO ?= cargo
PREFIX ?= /usr/local
TARGET = $(or $(CARGO_TARGET_DIR),target)
DEMO = examples/bicg/bicg.cu

.PHONY: all setup build demo test lint docs bench gpu-bundle gpu-test install clean

all: build

# LLVM, clang and the CUDA toolkit parts. Safe to repeat.
setup:
	@scripts/setup.sh

build: setup
	$(CARGO) build --release --locked

# Profiles a real example and prints its report.
demo: build
	cd $(TARGET) && $(abspath $(TARGET))/release/warpline profile $(abspath $(DEMO))

test:
	@scripts/setup.sh --tests
	$(CARGO) test --workspace --locked

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@if command -v cargo-deny >/dev/null; then cargo deny check; else echo "lint: cargo-deny is not installed (cargo install cargo-deny); dependencies were not checked"; fi

# Pages that are made from the code.
docs:
	WARPLINE_WRITE_DOCS=1 $(CARGO) test --locked -p warpline-runtime --test functions

bench: build
	$(CARGO) bench --locked

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
	$(TARGET)/release/warpline man $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(TARGET)/release/warpline completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/warpline
	$(TARGET)/release/warpline completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_warpline
	$(TARGET)/release/warpline completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/warpline.fish

clean:
	$(CARGO) clean
