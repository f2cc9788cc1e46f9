#!/bin/sh
# Checks that the version stands everywhere: `check-version.sh [TAG]`. With a tag, it has to be that version, and the changelog has to
# have a dated section of it.
set -eu

cd "$(dirname "$0")/.."
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' Cargo.toml)
failed=0
check() {
    [ "$2" = "$version" ] && return 0
    echo "check-version.sh: $1 has version $2, Cargo.toml has $version" >&2
    failed=1
}
check python/pyproject.toml "$(sed -n 's/^version = "\(.*\)"/\1/p' python/pyproject.toml)"
check python/warpline/__init__.py "$(sed -n 's/^__version__ = "\(.*\)"/\1/p' python/warpline/__init__.py)"
check CITATION.cff "$(sed -n 's/^version: \(.*\)/\1/p' CITATION.cff)"
check editors/vscode/package.json "$(sed -n 's/^  "version": "\(.*\)",$/\1/p' editors/vscode/package.json)"
for dependency in $(sed -n 's/^warpline-[a-z-]* = { path = .*version = "\([^"]*\)".*/\1/p' Cargo.toml); do
    check "a dependency in Cargo.toml" "$dependency"
done
if [ $# -gt 0 ]; then
    check "the tag" "${1#v}"
    scripts/release-notes.sh "$version" >/dev/null || failed=1
    grep -q "^## \[$version\] - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]$" CHANGELOG.md ||
        { echo "check-version.sh: CHANGELOG.md has no date for $version" >&2; failed=1; }
fi
exit "$failed"
