#!/bin/sh
# Profiles some of the project's own examples into `profiles/`: what its own gate judges. Arguments choose other ones.
set -eu

home=$(cd "${WARPLINE_HOME:-$(dirname "$0")/../../..}" && pwd)
[ $# -gt 0 ] || set -- saxpy bicg transpose matmul histogram scan spmv
mkdir -p profiles
for example; do
    warpline cc -O2 "$home/examples/$example/$example.cu" -o "profiles/$example"
    warpline run -o "profiles/$example.wlprof" -- "profiles/$example"
done
