#!/bin/sh
# Makes Warpline usable in a job of a CI service: LLVM's packages, the CUDA toolkit's parts and the two binaries come from the
# cache folder where they are, and go into it where they are not. Needs Debian 12 with Rust, gcc, make, git and python3, and no
# GPU. The binaries' folder goes to $GITHUB_PATH where that is set; others put `$cache/bin` on PATH.
set -eu

home=$(cd "${WARPLINE_HOME:-$(dirname "$0")/../../..}" && pwd)
cache=${WARPLINE_CI_CACHE:-${HOME:?HOME is not set}/.cache/warpline-ci}
cargo=${CARGO:-cargo}
mkdir -p "$cache/apt" "$cache/bin" "$cache/wheels"

# apt keeps what it fetches, in the cache, and takes from there what it kept. Only root installs packages.
if [ "$(id -u)" -eq 0 ] && [ -z "${APT_CONFIG:-}" ] && command -v apt-get >/dev/null 2>&1; then
    mkdir -p "$cache/apt/partial"
    cat >"$cache/apt.conf" <<END
Dir::Cache::archives "$cache/apt";
Binary::apt::APT::Keep-Downloaded-Packages "true";
APT::Keep-Downloaded-Packages "true";
APT::Sandbox::User "root";
#clear DPkg::Post-Invoke;
#clear APT::Update::Post-Invoke;
END
    APT_CONFIG=$cache/apt.conf
    export APT_CONFIG
fi
# The toolkit's parts lie in the cache, too: below the folder that `warpline-cc` looks in.
user=${XDG_CACHE_HOME:-$HOME/.cache}/warpline
if [ ! -e "$user" ]; then
    mkdir -p "$(dirname "$user")"
    ln -s "$cache/wheels" "$user"
fi
"$home/scripts/setup.sh"

# The cache's key says which sources the binaries are of.
if [ ! -x "$cache/bin/warpline" ] || [ ! -x "$cache/bin/warpline-cc" ]; then
    (cd "$home" && "$cargo" build --release --locked --package warpline --package warpline-driver)
    built=${CARGO_TARGET_DIR:-$home/target}/release
    for binary in warpline warpline-cc; do
        cp "$built/$binary" "$cache/bin/$binary.new"
        mv "$cache/bin/$binary.new" "$cache/bin/$binary"
    done
    ln -sf warpline-cc "$cache/bin/warpline-nvcc"
    ln -sf warpline-cc "$cache/bin/warpline-clang++"
fi
[ -z "${GITHUB_PATH:-}" ] || echo "$cache/bin" >>"$GITHUB_PATH"
"$cache/bin/warpline" --version
