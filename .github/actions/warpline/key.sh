#!/bin/sh
# Prints which set-up belongs to this version of Warpline: `key` for the cache of a CI service, `cache` the folder to keep.
# Both go to $GITHUB_OUTPUT where that is set.
set -eu

home=$(cd "${WARPLINE_HOME:-$(dirname "$0")/../../..}" && pwd)
cache=${WARPLINE_CI_CACHE:-${HOME:?HOME is not set}/.cache/warpline-ci}

# Everything that the binaries are made of, and the system whose packages and compiler they are made with.
key=$(
    cd "$home"
    {
        find Cargo.toml Cargo.lock scripts format pass runtime driver src models docs/findings -type f ! -path '*/target/*' |
            LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum
        uname -m
        sed -n 's/^\(ID\|VERSION_ID\)=//p' /etc/os-release 2>/dev/null || true
        rustc --version 2>/dev/null || true
    } | sha256sum | cut -c1-32
)

for line in "key=$key" "cache=$cache"; do
    echo "$line"
    [ -z "${GITHUB_OUTPUT:-}" ] || echo "$line" >>"$GITHUB_OUTPUT"
done
