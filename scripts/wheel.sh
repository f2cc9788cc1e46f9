#!/bin/sh
# Builds the Python package with its programs: LLVM is inside warpline-cc, so that neither LLVM nor clang need be installed where it
# is used. `scripts/wheel.sh FOLDER` puts the wheel there; PROFILE=dev builds without optimisation, for trying it out.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: scripts/wheel.sh FOLDER}
profile=${PROFILE:-release}
cargo=${CARGO:-cargo}
# Of its own: LLVM is linked in another way than by the other builds.
target=${CARGO_TARGET_DIR:-$root/target}/wheel
[ "$profile" = dev ] && binaries=$target/debug || binaries=$target/$profile
# Debug information would be stripped again below; making none saves a good part of the time.
export CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RUNTIME_DEBUG=0

"$root/scripts/setup.sh" --wheel
cd "$root"
$cargo build --locked --profile "$profile" --target-dir "$target" -p warpline-driver --no-default-features --features static-llvm
$cargo build --locked --profile "$profile" --target-dir "$target" -p warpline --features parquet

bin=$root/python/warpline/bin
rm -rf "$bin"
mkdir -p "$bin"
for program in warpline warpline-cc; do
    strip -o "$bin/$program" "$binaries/$program"
done
"$bin/warpline-cc" --warpline-runtime -o "$bin/libwarpline_rt.so"
strip --strip-unneeded "$bin/libwarpline_rt.so"
python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" "$root/python"
rm -rf "$bin"
ls -l "$out"/warpline-*.whl
