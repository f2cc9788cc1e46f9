#!/bin/sh
# Memory errors in what Rust cannot rule out by itself: the runtime's C surface, and the format's raw views.
# AddressSanitizer and Miri need a nightly compiler; without one valgrind runs the runtime's tests on stable. What is not
# installed is said plainly and not run.
set -eu

cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
ran=
host=$(rustc -vV | sed -n 's/^host: //p')

if $cargo +nightly --version >/dev/null 2>&1; then
    echo 'sanitize: AddressSanitizer over the tests of the runtime' >&2
    RUSTFLAGS=-Zsanitizer=address $cargo +nightly test --target "$host" --target-dir target/sanitize \
        -p warpline-format -p warpline-runtime --lib --test api --test device
    ran=yes
    if $cargo +nightly miri --version >/dev/null 2>&1; then
        # Beyond the format there are system calls and fibres, which Miri cannot follow.
        echo 'sanitize: Miri over the tests of the format' >&2
        PROPTEST_CASES=8 MIRIFLAGS=-Zmiri-disable-isolation $cargo +nightly miri test -p warpline-format
    else
        echo 'sanitize: not run: Miri (rustup +nightly component add miri)' >&2
    fi
else
    echo 'sanitize: not run: AddressSanitizer and Miri, which need a nightly compiler (rustup toolchain install nightly)' >&2
fi

if command -v valgrind >/dev/null 2>&1; then
    echo 'sanitize: valgrind over the tests of the runtime' >&2
    programs=$($cargo test --no-run --locked -p warpline-runtime --lib --test api 2>&1 |
        sed -n 's/.*Executable.*(\(.*\))$/\1/p')
    for program in $programs; do
        # Fibres switch stacks by themselves, which looks like an overflow where a stack is large.
        valgrind --quiet --error-exitcode=9 --max-stackframe=16777216 "$program" --test-threads 1 >&2
    done
    ran=yes
else
    echo 'sanitize: not run: valgrind (apt-get install valgrind)' >&2
fi
[ -n "$ran" ] || {
    echo 'sanitize: nothing could be run' >&2
    exit 6
}
