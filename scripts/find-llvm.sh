#!/bin/sh
# Prints the folder of the LLVM that Warpline is built with: development files and clang of the major version in scripts/llvm-version.
# Searched in this order: LLVM_CONFIG, LLVM_SYS_221_PREFIX, PATH, the folders of distributions. LLVM's own release archive has no
# fixed folder: name its bin/llvm-config in LLVM_CONFIG. Exit code 1 if there is none.
set -eu

major=$(cat "$(dirname "$0")/llvm-version")
# Where distributions put LLVM; tests put another folder before them.
root=${WARPLINE_SYSTEM_ROOT:-}

for config in "${LLVM_CONFIG:-}" "${LLVM_SYS_221_PREFIX:+$LLVM_SYS_221_PREFIX/bin/llvm-config}" \
    "$(command -v "llvm-config-$major" || true)" "$(command -v llvm-config || true)" \
    "$root/usr/lib/llvm-$major/bin/llvm-config" "$root/usr/lib64/llvm$major/bin/llvm-config" \
    "$root/usr/lib/llvm$major/bin/llvm-config" "$root/opt/llvm-$major/bin/llvm-config"; do
    [ -n "$config" ] && [ -x "$config" ] || continue
    case $("$config" --version 2>/dev/null || true) in "$major".*) ;; *) continue ;; esac
    bin=$("$config" --bindir)
    [ -x "$bin/clang" ] || command -v "clang-$major" >/dev/null 2>&1 || continue
    "$config" --prefix
    exit 0
done
exit 1
