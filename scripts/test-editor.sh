#!/bin/sh
# Installs the packages of the extension for VS Code, builds it and runs its tests. Needs Node 20 or newer with npm, and
# the network if the packages are not installed. If WARPLINE is the path of a `warpline`, the extension also profiles an
# example with it.
set -eu

cd "$(dirname "$0")/../editors/vscode"
toolchain_missing=6
for program in node npm; do
    command -v "$program" >/dev/null 2>&1 || {
        echo "test-editor: $program is missing. Install Node 20 or newer with npm, then repeat." >&2
        exit "$toolchain_missing"
    }
done
major=$(node --version | sed 's/^v\([0-9]*\).*/\1/')
[ "$major" -ge 20 ] || {
    echo "test-editor: Node $(node --version) is too old. Install Node 20 or newer, then repeat." >&2
    exit "$toolchain_missing"
}
# npm writes this file when it has installed everything.
[ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund || {
    echo "test-editor: npm could not install the packages. Check the network, then repeat." >&2
    exit "$toolchain_missing"
}
npm run --silent build
npm test --silent
