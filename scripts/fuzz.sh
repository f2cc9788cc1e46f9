#!/bin/sh
# Fuzzes what reads other people's input, led by coverage, on stable Rust: `scripts/fuzz.sh [SECONDS [TARGET…]]`.
# The flags are cargo-fuzz's own without a sanitizer, which only a nightly compiler has; with one at hand,
# `cargo +nightly fuzz run TARGET` in fuzz/ adds AddressSanitizer. What fails stays in fuzz/artifacts.
set -eu

cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
host=$(rustc -vV | sed -n 's/^host: //p')
features=
targets=${*:-trace profile comparison site_table model mcp ptx response}
case " $targets " in *' ptx '* | *' response '*) features='--features compiler' ;; esac

cargo test --quiet --locked --test hostile random::write_corpora -- --ignored >/dev/null
mkdir -p fuzz/artifacts fuzz/corpus/ptx fuzz/corpus/response
for target in $targets; do
    bins="${bins:-} --bin $target"
done
# shellcheck disable=SC2086  # several words
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares" \
    cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" $features $bins
status=0
for target in $targets; do
    echo "fuzz: $target, $seconds s" >&2
    fuzz/target/"$host"/release/"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
        -artifact_prefix=fuzz/artifacts/"$target"- -print_final_stats=1 -verbosity=1 fuzz/corpus/"$target" || status=1
done
exit $status
