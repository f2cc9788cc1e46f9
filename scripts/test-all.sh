#!/bin/sh
# Builds and runs the judged and planted programs, which `make test` takes from recordings, the tests of the editor extension, then the tests marked `#[ignore = "test-all"]`. The test harness cannot choose by that reason, so their names are looked up.
set -eu

cd "$(dirname "$0")/.."
names=$(grep -rh -A4 --include='*.rs' 'ignore = "test-all"' src format pass runtime driver tests |
    sed -n 's/^ *\(pub \)\?fn \([A-Za-z0-9_]*\).*/\2/p' | sort -u)
[ -n "$names" ] || {
    echo 'test-all: no test is marked "test-all"' >&2
    exit 1
}
WARPLINE_RECORDINGS=off ${CARGO:-cargo} test -p warpline --locked --features warpline/parquet,warpline/mcp --test findings -- judged planted
# Nothing else needs Node.
if command -v node >/dev/null 2>&1; then
    WARPLINE=${WARPLINE_CC:+${WARPLINE_CC%/*}/warpline} scripts/test-editor.sh
else
    echo 'test-all: not run: tests of the editor extension, which need Node 20' >&2
fi
# shellcheck disable=SC2086  # one word per test
exec ${CARGO:-cargo} test --workspace --locked --features warpline/parquet,warpline/mcp -- --ignored $names
