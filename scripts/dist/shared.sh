#!/bin/sh
# Writes what stands beside the programs, made from the command line itself: `shared.sh WARPLINE PREFIX`. Manual pages, completions of
# shells, and the files that CMake looks for.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
warpline=$1
prefix=$2
share=$prefix/share
"$warpline" man "$share/man/man1"
mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d" "$prefix/lib/cmake/Warpline"
"$warpline" completions bash >"$share/bash-completion/completions/warpline"
"$warpline" completions zsh >"$share/zsh/site-functions/_warpline"
"$warpline" completions fish >"$share/fish/vendor_completions.d/warpline.fish"
version=$("$warpline" --version | sed 's/.* //')
for file in "$root"/cmake/*; do sed "s/@VERSION@/$version/" "$file" >"$prefix/lib/cmake/Warpline/$(basename "$file")"; done
