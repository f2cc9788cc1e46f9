#!/bin/sh
# Builds a release into a folder: `scripts/dist.sh FOLDER [archive|wheel|all]`. Both contain the programs, clang and LLVM, so that a
# machine needs a host compiler (g++) and nothing of LLVM. BINARIES=FOLDER takes programs that are built already.
# The same sources and packages give the same archive: SOURCE_DATE_EPOCH is its time, by default that of the last commit. Sources
# without git's folder come from an archive that has this time on all files.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:?usage: scripts/dist.sh FOLDER [archive|wheel|all]}
what=${2:-all}
cargo=${CARGO:-cargo}
llvm=$(cat "$root/scripts/llvm-version")
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
name=warpline-$version-x86_64-linux
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || stat -c %Y "$root/Cargo.lock")}
export SOURCE_DATE_EPOCH
# Libraries that LLVM is linked with and Warpline calls nothing of: 57 MB of Debian's, replaced by stubs.
stubs="libz3.so.4 libxml2.so.2 libedit.so.2 libffi.so.8"
# Every machine that has a C++ compiler has these.
system="linux-vdso.so.1 ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 libdl.so.2 libpthread.so.0 librt.so.1"

say() { printf 'dist: %s\n' "$*" >&2; }

build() {
    "$root/scripts/setup.sh" --dist
    binaries=${BINARIES:-}
    [ -z "$binaries" ] || return 0
    # In a folder of its own, as other builds have other flags. Paths of this machine stay out of the programs.
    target=${CARGO_TARGET_DIR:-$root/target}/dist
    binaries=$target/release
    export CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RUNTIME_DEBUG=0
    export RUSTFLAGS="-C target-cpu=x86-64-v2 --remap-path-prefix=$root=/warpline --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
    (cd "$root" && $cargo build --release --locked --target-dir "$target" -p warpline-driver -p warpline --features warpline/parquet,warpline/mcp)
}

# Copies clang, its headers and the libraries that it needs, found relative to each other.
add_llvm() {
    parts=$1
    prefix=$("$root/scripts/find-llvm.sh")
    mkdir -p "$parts/bin" "$parts/lib/clang/$llvm"
    cp -L "$prefix/bin/clang" "$parts/bin/clang-$llvm"
    # clang compiles C++ and links its library by this name. A copy, as wheels have no links.
    cp "$parts/bin/clang-$llvm" "$parts/bin/clang++-$llvm"
    cp -RL "$prefix/lib/clang/$llvm/include" "$parts/lib/clang/$llvm/include"
    ldd "$prefix/bin/clang" "$prefix/lib/libLLVM.so."* | sed -n 's/^\t\([^ ]*\) => \([^ ]*\) .*/\1 \2/p' | sort -u >"$work/libraries"
    needed="libclang-cpp.so.$llvm.1 libLLVM.so.$llvm.1"
    for library in $needed; do
        cp -L "$(sed -n "s/^$library //p" "$work/libraries" | head -1)" "$parts/lib/$library"
    done
    for library in $needed; do
        for wanted in $(readelf -d "$parts/lib/$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
            case " $system $needed " in *" $wanted "*) continue ;; esac
            [ ! -e "$parts/lib/$wanted" ] || continue
            case " $stubs " in
            *" $wanted "*) "$root/scripts/dist/stub-library.sh" "$wanted" "$parts/lib/$wanted" "$parts/lib/libLLVM.so.$llvm.1" "$parts/lib/libclang-cpp.so.$llvm.1" ;;
            *) cp -L "$(sed -n "s/^$wanted //p" "$work/libraries" | head -1)" "$parts/lib/$wanted" ;;
            esac
        done
    done
    for file in "$parts"/bin/* "$parts"/lib/*.so*; do
        strip --strip-unneeded "$file"
        # shellcheck disable=SC2016  # the loader's word
        patchelf --set-rpath '$ORIGIN/../lib' "$file"
    done
}

# The folder that archive and wheel have in common.
make_tree() {
    tree=$1
    rm -rf "$tree"
    mkdir -p "$tree/bin" "$tree/lib/warpline"
    for program in warpline warpline-cc; do
        strip -o "$tree/bin/$program" "$binaries/$program"
    done
    add_llvm "$tree/lib/warpline"
    # shellcheck disable=SC2016
    patchelf --set-rpath '$ORIGIN/../lib/warpline/lib' "$tree/bin/warpline-cc"
    "$tree/bin/warpline-cc" --warpline-runtime -o "$tree/lib/warpline/libwarpline_rt.so"
    strip --strip-unneeded "$tree/lib/warpline/libwarpline_rt.so"
    python3 "$root/scripts/dist/licences.py" "$tree/lib/warpline"
    # For machines with Python and without pip, which fetches the toolkit's headers.
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes -d "$work" -r "$root/scripts/dist/pip.txt"
    cp "$work"/pip-*.whl "$tree/lib/warpline/pip.whl"
    find "$tree" -type f -exec chmod u=rwX,go=rX {} +
    (cd "$tree" && find bin lib -type f ! -name manifest.sha256 | LC_ALL=C sort | xargs -d '\n' sha256sum >"$work/manifest")
    cp "$work/manifest" "$tree/lib/warpline/manifest.sha256"
}

# What only the archive has: links, pages, completions, examples, build systems' files, licences.
add_shared() {
    tree=$1
    ln -s warpline-cc "$tree/bin/warpline-nvcc"
    ln -s warpline-cc "$tree/bin/warpline-clang++"
    "$root/scripts/dist/shared.sh" "$tree/bin/warpline" "$tree"
    documents=$tree/share/doc/warpline
    mkdir -p "$documents" "$tree/share/warpline"
    cp "$root"/README.md "$root"/CHANGELOG.md "$root"/LICENSE-* "$tree"/lib/warpline/NOTICE "$tree"/lib/warpline/LICENCES "$documents"
    # For `pip download` on a machine with a network.
    cp "$root/scripts/cuda-wheels.txt" "$tree/share/warpline"
    cp -R "$root/examples" "$root/models" "$root/skills" "$tree/share/warpline"
}

pack() {
    find "$1" -type d -exec chmod 755 {} + -o -type f -exec chmod u=rwX,go=rX {} +
    tar --directory "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=gnu \
        -cf - "$(basename "$1")" | zstd -q ${LEVEL:--19} --long=27 -T2 -f -o "$out/$name.tar.zst"
}

make_wheel() {
    package=$root/python/warpline
    rm -rf "$package/bin" "$package/lib"
    cp -R "$1/bin" "$1/lib" "$package"
    find "$package/bin" -type l -delete
    python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$out" "$root/python"
    rm -rf "$package/bin" "$package/lib"
}

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d "$out/.work.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
build
make_tree "$work/$name"
[ "$what" = archive ] || make_wheel "$work/$name"
if [ "$what" != wheel ]; then
    add_shared "$work/$name"
    pack "$work/$name"
fi
(cd "$out" && find . -maxdepth 1 -name 'warpline-*' -type f | sed 's|^\./||' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
(cd "$out" && ls -l warpline-*)
say "glibc floor: $(cd "$out" && "$root/scripts/dist/glibc-floor.sh" "$work/$name")"
