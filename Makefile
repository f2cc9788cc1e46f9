# Front door. `make demo` and `make test` work on a fresh Debian 12 with Rust, gcc, make and python3.
CARGO ?= cargo
PREFIX ?= /usr/local
TARGET = $(or $(CARGO_TARGET_DIR),target)
DEMO = examples/bicg/bicg.cu

.PHONY: all setup build demo test lint bench install clean

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

bench: setup
	$(CARGO) bench --locked

install: build
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(TARGET)/release/warpline $(TARGET)/release/warpline-cc $(DESTDIR)$(PREFIX)/bin
	ln -sf warpline-cc $(DESTDIR)$(PREFIX)/bin/warpline-nvcc
	ln -sf warpline-cc $(DESTDIR)$(PREFIX)/bin/warpline-clang++

clean:
	$(CARGO) clean
