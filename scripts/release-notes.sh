#!/bin/sh
# Prints the section of a version in CHANGELOG.md without its heading: `release-notes.sh 0.2.0`, or `v0.2.0`. Exit code 1 if there is
# none, or none with text.
set -eu

version=${1:?usage: scripts/release-notes.sh VERSION}
version=${version#v}
changelog=${2:-$(dirname "$0")/../CHANGELOG.md}
notes=$(awk -v heading="## [$version]" '
    index($0, "## ") == 1 { inside = index($0, heading) == 1; next }
    inside' "$changelog")
[ -n "$notes" ] || { echo "release-notes.sh: $changelog has no section [$version] with text" >&2; exit 1; }
printf '%s\n' "$notes" | sed '/./,$!d'
