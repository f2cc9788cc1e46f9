#!/bin/sh
# Writes a shared library with the name and the symbols of one that LLVM is linked with and Warpline never calls (the theorem prover
# of the static analyser, XML of Windows manifests, line editing of interpreters). Each function ends the process.
# `stub-library.sh SONAME OUTPUT USER…`: USER are the libraries that refer to it.
set -eu

soname=$1
output=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
original=$(ldd "$1" | sed -n "s|^\t$soname => \([^ ]*\) .*|\1|p")
[ -n "$original" ] || { echo "stub-library.sh: $1 does not need $soname" >&2; exit 1; }

# Defined symbols of the original, as `name version type`; what the users refer to, as `name`.
readelf -W --dyn-syms "$original" | awk '$7 != "UND" && $8 ~ /./ { split($8, name, "@+"); print name[1], (name[2] ? name[2] : "-"), $4 }' |
    sort -u >"$work/defined"
for user; do nm -D --undefined-only "$user"; done | sed 's/.* //; s/@.*//' | sort -u >"$work/used"
awk 'NR == FNR { used[$1]; next } $1 in used' "$work/used" "$work/defined" | sort -u >"$work/symbols"

awk 'BEGIN { print "void abort(void);" }
     $3 == "OBJECT" { print "void *" $1 "[8];"; next }
     { print "void " $1 "(void) { abort(); }" }' "$work/symbols" >"$work/stub.c"
awk '$2 != "-" { symbols[$2] = symbols[$2] " " $1 ";" }
     END { for (version in symbols) print version " {" symbols[version] " };" }' "$work/symbols" | sort >"$work/versions"
set --
[ ! -s "$work/versions" ] || set -- "-Wl,--version-script=$work/versions"
cc -shared -O1 -w -nostdlib -fno-builtin -Wl,--build-id=none "-Wl,-soname,$soname" "$@" -o "$output" "$work/stub.c" -lc
strip --strip-unneeded "$output"
