#!/bin/sh
# Writes the software bill of materials of the programs into a folder, in CycloneDX's JSON: `sbom.sh FOLDER`.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: scripts/sbom.sh FOLDER}
cargo=${CARGO:-cargo}
command -v cargo-cyclonedx >/dev/null || { echo "sbom.sh: cargo-cyclonedx is missing. Run: cargo install --locked cargo-cyclonedx" >&2; exit 6; }
mkdir -p "$out"
cd "$root"
# It writes PACKAGE.cdx.json beside each manifest.
$cargo cyclonedx --format json --all-features
find . -name '*.cdx.json' -not -path './target/*' -exec mv {} "$out" \;
ls -l "$out"/*.cdx.json
