#!/bin/sh
# Installs what building and using Warpline needs and this machine lacks, with --tests also what only the tests need, with --wheel
# what LLVM's archives need to be linked into the Python package. Safe to repeat: what is there is left alone. With root, Debian
# packages are installed; without, the exact command is printed and the exit code is 6.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
llvm=$(cat "$here/llvm-version")
wheels=$here/cuda-wheels.txt
test_wheels=$here/test-wheels.txt
minimum_rust=90
tests=${1:-}
toolchain_missing=6

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit "$toolchain_missing"; }
have() { command -v "$1" >/dev/null 2>&1; }

# Fetches wheels with pip, three times at most: registries and networks fail for moments.
fetch() {
    for pause in 5 20 0; do
        PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
            --only-binary=:all: "$@" >&2 && return 0
        sleep "$pause"
    done
    return 1
}

# Rust cannot come from Debian 12, whose version is too old.
check_rust() {
    have cargo || fail "cargo is missing. Install Rust 1.$minimum_rust or newer with rustup, then repeat."
    minor=$(cargo --version | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ "${minor:-0}" -ge "$minimum_rust" ] ||
        fail "$(cargo --version) is too old. Install Rust 1.$minimum_rust or newer (rustup update), then repeat."
}

# Prints the Debian packages whose commands or files are absent.
missing_packages() {
    have "clang-$llvm" || echo "clang-$llvm"
    have "llvm-config-$llvm" || echo "llvm-$llvm-dev"
    { have g++ || have c++; } || echo g++
    have make || echo make
    if [ "$tests" = --tests ]; then
        have cmake || echo cmake
        # Ranks of a job are tested with a real launcher.
        have mpirun || echo openmpi-bin
        [ -e /usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h ] || have mpicc || echo libopenmpi-dev
        # The report's page is tested in a browser.
        { have chromium || have chromium-browser || have google-chrome; } || echo chromium
    fi
    if [ "$tests" = --wheel ]; then
        libraries=/usr/lib/x86_64-linux-gnu
        [ -e "/usr/lib/llvm-$llvm/lib/libPolly.a" ] || echo "libpolly-$llvm-dev"
        [ -e "$libraries/libzstd.a" ] || echo libzstd-dev
        [ -e "$libraries/libz.a" ] || echo zlib1g-dev
        [ -e "$libraries/libffi.a" ] || echo libffi-dev
        [ -e "$libraries/libz3.so" ] || echo libz3-dev
        [ -e "$libraries/libxml2.so" ] || echo libxml2-dev
    fi
    # Only the wheels need pip.
    if { { ! cuda_toolkit >/dev/null && ! cuda_wheels_present; } || { [ "$tests" = --tests ] && ! test_wheels_present; }; } &&
        ! python3 -m pip --version >/dev/null 2>&1; then
        echo python3-pip
    fi
}

install_packages() {
    packages=$(missing_packages | tr '\n' ' ')
    packages=${packages% }
    [ -n "$packages" ] || return 0
    command="apt-get install -y --no-install-recommends $packages"
    have apt-get || fail "missing: $packages (Debian's names). Install these with your system's package manager, then repeat."
    [ "$(id -u)" -eq 0 ] || fail "missing: $packages. Run: sudo $command
setup: (in Debian 12, LLVM $llvm comes with the security updates: suite bookworm-security, component main)"
    say "installing $packages"
    apt-get update -qq -o Acquire::Retries=3 >&2 || say "apt-get update reported errors; going on with the package lists there are"
    for package in $packages; do
        apt-cache show "$package" >/dev/null 2>&1 || fail "apt knows no package $package. In Debian 12 it comes with the
setup: security updates: enable the suite bookworm-security (component main) in /etc/apt/sources.list, then repeat."
    done
    # shellcheck disable=SC2086  # one word per package
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends $packages >&2 ||
        fail "apt-get failed. Run it by hand to see why: $command"
}

# Whether a folder has the toolkit parts that a compilation needs.
complete_toolkit() {
    [ -e "$1/include/cuda_runtime.h" ] && [ -e "$1/include/curand_mtgp32_kernel.h" ] &&
        [ -e "$1/nvvm/libdevice/libdevice.10.bc" ] && [ -x "$1/bin/ptxas" ]
}

# Prints the installed toolkit, in the order in which `warpline-cc` looks.
cuda_toolkit() {
    for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda /usr/local/cuda-*; do
        if [ -n "$folder" ] && complete_toolkit "$folder"; then
            echo "$folder"
            return 0
        fi
    done
    return 1
}

cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/warpline
wheel_folder=$cache/cuda-13.0

# Whether every pinned wheel is unpacked in the cache, in its pinned version.
cuda_wheels_present() {
    complete_toolkit "$wheel_folder/nvidia/cu13" || return 1
    sed -n 's/^\([a-z0-9-]*\)==\([0-9.]*\) .*/\1 \2/p' "$wheels" | while read -r name version; do
        name=$(printf %s "$name" | tr - _)
        [ -d "$wheel_folder/$name-$version.dist-info" ] || exit 1
    done
}

test_folder=$cache/tests

# Whether what only tests need is unpacked in the cache, in its pinned version.
test_wheels_present() {
    sed -n 's/^\([a-z0-9-]*\)==\([0-9.]*\) .*/\1 \2/p' "$test_wheels" | while read -r name version; do
        name=$(printf %s "$name" | tr - _)
        [ -d "$test_folder/$name-$version.dist-info" ] || exit 1
    done
}

install_test_wheels() {
    test_wheels_present && return 0
    have python3 || fail "python3 is missing: it fetches what the tests of the report's page need. Install python3 and python3-pip."
    say "fetching axe for the tests to $test_folder"
    mkdir -p "$test_folder" || fail "cannot write to $cache. Set XDG_CACHE_HOME to a folder that can be written, then repeat."
    fetch --upgrade --target "$test_folder" -r "$test_wheels" ||
        fail "pip could not fetch what the tests need. Check the network, then repeat."
}

install_cuda() {
    if folder=$(cuda_toolkit); then
        say "CUDA toolkit: $folder"
        return 0
    fi
    cuda_wheels_present && return 0
    [ "$(uname -m)" = x86_64 ] || fail "no CUDA toolkit found and the pinned wheels are for x86-64 only. Install a CUDA 12 or 13 toolkit and set CUDA_PATH."
    have python3 || fail "python3 is missing: it fetches the CUDA toolkit parts. Install python3 and python3-pip, or a CUDA toolkit and set CUDA_PATH."
    say "fetching the CUDA toolkit parts (220 MB) to $wheel_folder"
    { mkdir -p "$cache" && partial=$(mktemp -d "$cache/cuda-13.0.partial.XXXXXX"); } ||
        fail "cannot write to $cache. Set XDG_CACHE_HOME to a folder that can be written, then repeat."
    trap 'rm -rf "$partial"' EXIT INT TERM
    fetch --target "$partial" -r "$wheels" ||
        fail "pip could not fetch the CUDA toolkit parts. Check the network, or install a CUDA 12 or 13 toolkit and set CUDA_PATH."
    complete_toolkit "$partial/nvidia/cu13" || fail "the fetched CUDA toolkit parts lack a file in $partial"
    chmod 755 "$partial"
    # Renamed last, so that an interrupted set-up is never taken for a finished one.
    rm -rf "$wheel_folder"
    mv "$partial" "$wheel_folder"
    trap - EXIT INT TERM
}

# Triton and what its tests need, a folder for each version that is tested, Dask, and readers of datasets and of other tools'
# formats. Python's own packages stay as they are.
install_python_packages() {
    for list in "$here"/triton-*.txt "$here"/cluster-*.txt "$here"/dataset-wheels.txt; do
        folder=$cache/$(basename "$list" .txt)
        mark=$folder/.$(cksum <"$list" | cut -d' ' -f1)
        [ -e "$mark" ] && continue
        python3 -m pip --version >/dev/null 2>&1 || fail "pip is missing: it fetches what the tests of the Python package need. Install python3-pip, then repeat."
        say "fetching $(basename "$list" .txt) to $folder"
        { mkdir -p "$cache" && partial=$(mktemp -d "$folder.partial.XXXXXX"); } ||
            fail "cannot write to $cache. Set XDG_CACHE_HOME to a folder that can be written, then repeat."
        trap 'rm -rf "$partial"' EXIT INT TERM
        fetch --target "$partial" -r "$list" ||
            fail "pip could not fetch $(basename "$list" .txt) (Python 3.11 to 3.13 are pinned). Check the network."
        chmod 755 "$partial"
        : >"$partial/$(basename "$mark")"
        rm -rf "$folder"
        mv "$partial" "$folder"
        trap - EXIT INT TERM
    done
}

check_rust
install_packages
install_cuda
if [ "$tests" = --tests ]; then
    install_python_packages
    install_test_wheels
fi
