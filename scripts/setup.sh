#!/bin/sh
# Installs what building and using Warpline needs and this machine lacks, with --tests also what only the tests need, with --dist
# what packing a release needs. Safe to repeat: what is there is left alone. With root and apt, packages are installed; otherwise
# the exact command of the distribution is printed and the exit code is 6. --print-packages only prints the command.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
llvm=$(cat "$here/llvm-version")
wheels=$here/cuda-wheels.txt
test_wheels=$here/test-wheels.txt
minimum_rust=90
tests=${1:-}
toolchain_missing=6
packages=$here/packages.txt
# Tests put other files in the place of the system's.
root=${WARPLINE_SYSTEM_ROOT:-}
os_release=$root/etc/os-release

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit "$toolchain_missing"; }
have() { command -v "$1" >/dev/null 2>&1; }

# Fetches wheels with pip, three times at most, because registries and networks fail for a short time. Without a network, the requests
# that pip itself repeats are enough. Prints the messages of the last attempt only.
fetch() {
    for pause in 5 20 0; do
        messages=$(PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
            --only-binary=:all: "$@" 2>&1 >/dev/null) && return 0
        case $messages in
        *"Name or service not known"* | *"failure in name resolution"* | *"Network is unreachable"* | *"Connection refused"*) break ;;
        esac
        sleep "$pause"
    done
    printf '%s\n' "$messages" | tail -n 4 >&2
    return 1
}

# Rust comes from rustup: distributions have older versions.
check_rust() {
    have cargo || fail "cargo is missing. Install Rust 1.$minimum_rust or newer with rustup, then repeat."
    cargo_version=$(cargo --version) ||
        fail "cargo --version failed. Install Rust 1.$minimum_rust or newer (rustup default stable), then repeat."
    minor=$(printf %s "$cargo_version" | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
    [ "${minor:-0}" -ge "$minimum_rust" ] ||
        fail "$cargo_version is too old. Install Rust 1.$minimum_rust or newer (rustup update), then repeat."
}

# Prints the rows of packages.txt whose commands or files are absent.
missing_parts() {
    "$here/find-llvm.sh" >/dev/null || printf '%s\n' clang llvm
    { have g++ || have c++; } || echo g++
    have make || echo make
    if [ "$tests" = --tests ]; then
        have cmake || echo cmake
        have ccache || echo ccache
        # Ranks of a job are tested with a real launcher.
        have mpirun || echo mpirun
        [ -e "$root/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h" ] || have mpicc || echo mpi.h
        # The report's page is tested in a browser.
        { have chromium || have chromium-browser || have google-chrome; } || echo chromium
    fi
    if [ "$tests" = --dist ]; then
        have patchelf || echo patchelf
        have zstd || echo zstd
    fi
    # Only the wheels need pip.
    if { { ! cuda_toolkit >/dev/null && ! cuda_wheels_present; } || [ "$tests" = --dist ] ||
        { [ "$tests" = --tests ] && ! test_wheels_present; }; } && ! python3 -m pip --version >/dev/null 2>&1; then
        echo pip
    fi
}

# A cell of packages.txt: `cell ROW COLUMN`.
cell() {
    awk -F '|' -v row="$1" -v column="$2" '!/^#/ { name = $1; gsub(/^ +| +$/, "", name)
        if (name == row) { value = $column; gsub(/^ +| +$/, "", value); print value } }' "$packages" | sed "s/@/$llvm/g"
}

# The column of this distribution in packages.txt, by ID, else by the words of ID_LIKE. Nothing if it has none.
distribution() {
    # shellcheck disable=SC1090  # a file of assignments
    for id in $( (. "$os_release" && echo "${ID:-} ${ID_LIKE:-}") 2>/dev/null); do
        for column in 2 3 4 5 6; do
            case " $(cell ids "$column") " in *" $id "*) echo "$column" && return 0 ;; esac
        done
    done
}

# `install_command COLUMN PART…`
install_command() {
    column=$1
    shift
    line=$(cell install "$column")
    for part; do line="$line $(cell "$part" "$column")"; done
    echo "$line"
}

install_packages() {
    parts=$(missing_parts | tr '\n' ' ')
    parts=${parts% }
    [ -n "$parts" ] || return 0
    column=$(distribution)
    if [ -z "$column" ]; then
        say "missing: $parts. This distribution is not in $packages; one of these commands may fit:"
        # shellcheck disable=SC2086  # one word per part
        for column in 2 4 5 6; do say "  $(install_command "$column" $parts)"; done
        exit "$toolchain_missing"
    fi
    # shellcheck disable=SC2086
    command=$(install_command "$column" $parts)
    note=
    case " $parts " in *" llvm "*) note=$(cell note "$column") ;; esac
    manager=${command%% *}
    [ "$manager" = apt-get ] && [ "$(id -u)" -eq 0 ] && [ "$tests" != --print-packages ] ||
        fail "missing: $parts. Run: sudo $command${note:+
setup: ($note)}"
    say "installing: $command"
    apt-get update -qq -o Acquire::Retries=3 >&2 || say "apt-get update reported errors; going on with the package lists there are"
    names=${command#"$(cell install "$column")"}
    for package in $names; do
        apt-cache show "$package" >/dev/null 2>&1 || fail "apt knows no package $package.${note:+
setup: ($note)}"
    done
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Acquire::Retries=3 --no-install-recommends $names >&2 ||
        fail "apt-get failed. Run it by hand to see why: $command"
}

# Whether a folder has the toolkit parts that a compilation needs.
complete_toolkit() {
    [ -e "$1/include/cuda_runtime.h" ] && [ -e "$1/include/curand_mtgp32_kernel.h" ] &&
        [ -e "$1/nvvm/libdevice/libdevice.10.bc" ] && [ -x "$1/bin/ptxas" ]
}

# Prints the installed toolkit, in the order in which `warpline-cc` looks.
cuda_toolkit() {
    for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "$root"/usr/local/cuda "$root"/usr/local/cuda-*; do
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
    for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}"; do
        [ -z "$folder" ] || complete_toolkit "$folder" ||
            say "$folder (of CUDA_PATH or CUDA_HOME) lacks parts of a CUDA toolkit and is not used"
    done
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

# Triton and what its tests need, a folder for each version that is tested, Dask, readers of datasets and of other tools' formats, and
# build systems. Python's own packages stay as they are.
install_python_packages() {
    for list in "$here"/triton-*.txt "$here"/cluster-*.txt "$here"/dataset-wheels.txt "$here"/build-systems.txt; do
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

if [ "$tests" = --print-packages ]; then
    install_packages
    say "nothing is missing"
    exit 0
fi
check_rust
install_packages
# Building needs no toolkit.
[ "$tests" = --dist ] || install_cuda
if [ "$tests" = --tests ]; then
    install_python_packages
    install_test_wheels
fi
