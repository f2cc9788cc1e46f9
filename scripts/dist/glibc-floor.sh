#!/bin/sh
# Prints the newest versions of glibc and libstdc++ that programs and libraries below a folder refer to.
set -eu
for symbols in GLIBC GLIBCXX; do
    find "$1" -type f \( -path '*/bin/*' -o -name '*.so*' \) -exec objdump -T {} + 2>/dev/null |
        grep -o "${symbols}_[0-9.]*" | sort -Vu | tail -1
done | tr '\n' ' '
echo
