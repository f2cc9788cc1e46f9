#!/bin/sh
# Tries a release archive as a user would: `try-release.sh ARCHIVE [SOURCE]`. It is unpacked in an empty folder with an empty home, no
# LLVM of this machine is found, and `doctor` and a first report have to succeed. Prints the seconds of each command.
set -eu

archive=$(realpath "$1")
source=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
mkdir "$folder/home" "$folder/path"
# Only what a machine with g++ has: no clang, no LLVM.
for program in /usr/bin/* /bin/*; do
    case ${program##*/} in *clang* | *llvm* | warpline*) ;; *) ln -sf "$program" "$folder/path/${program##*/}" ;; esac
done
timed() {
    begin=$(date +%s.%N)
    env -i PATH="$folder/path" HOME="$folder/home" ${CUDA_PATH:+CUDA_PATH="$CUDA_PATH"} sh -c 'cd "$1" && shift && exec "$@"' sh "$folder" "$@"
    echo "try-release.sh: $(echo "$(date +%s.%N) $begin" | awk '{ printf "%.1f", $1 - $2 }') s: $*" >&2
}
timed tar xf "$archive"
root=$(echo "$folder"/warpline-*)
[ -n "$source" ] || source=$root/share/warpline/examples/bicg/bicg.cu
timed "$root/bin/warpline" profile "$source"
timed "$root/bin/warpline" doctor
# Found where it is put.
mv "$root" "$folder/moved"
case $source in "$root"/*) source=$folder/moved${source#"$root"} ;; esac
timed "$folder/moved/bin/warpline" profile "$source" >/dev/null
