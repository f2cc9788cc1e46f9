#!/bin/sh
# Builds the programs that `run.py` runs on a machine with a GPU: make gpu-bundle [ARCHS="80 90"]
#   bundle.sh FOLDER WARPLINE_CC WARPLINE
set -eu
folder=$1 cc=$2 warpline=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
archs=${ARCHS:-"80 90"}
gencode=
for arch in $archs; do gencode="$gencode -gencode arch=compute_$arch,code=sm_$arch"; done
mkdir -p "$folder/examples"
# Without symbols: the folder may have to travel.
strip -o "$folder/warpline" "$warpline"
for part in run suite collect machine equality overhead fidelity; do cp "$here/$part.py" "$folder/"; done
# The machine that runs it need not have this one's processor.
build() {
    echo "  $1"
    name=$1
    shift
    # shellcheck disable=SC2086
    "$cc" --device=gpu --warpline-march=x86-64-v3 $gencode -O3 "$@" -o "$folder/examples/$name"
    strip "$folder/examples/$name"
}
for source in "$root"/examples/*/; do
    name=$(basename "$source")
    case $name in common | cases | triton | sweep | tutorial | custom_analysis) continue ;; esac
    build "$name" $(find "$source" -name '*.cu' -o -name '*.cpp')
done
# The cases with and without their fixes, to measure the estimated gains.
for source in "$root"/examples/cases/*.cu; do
    name=case_$(basename "$source" .cu)
    build "$name" "$source"
    build "${name}_fixed" -DFIXED "$source"
done
build streams "$here/streams.cu"
build graphs "$here/graphs.cu"
build long_running "$here/long_running.cu"
build l1_behaviour "$here/l1_behaviour.cu"
build ../block_shapes "$here/block_shapes.cu"
build ../chases "$root/src/validate/chases.cu"
# The hooks alone, without the rest of Warpline.
toolkit=$("$cc" --warpline-toolkit)
last=${archs##* }
clang=$(command -v clang++-22 || command -v clang++)
cuda=$(dirname "$(readlink -f "$toolkit/include")")
"$clang" -x cuda "--cuda-path=$cuda" -Wno-unknown-cuda-version "--cuda-gpu-arch=sm_$last" --no-offload-new-driver -O2 \
    -std=c++17 "$here/hook_bench.cu" -o "$folder/hook_bench" "-L$cuda/lib64" "-L$cuda/lib" -lcudart_static -ldl -lrt \
    -lpthread -static-libstdc++ -static-libgcc
# One file to copy. The programs have much in common, which a window over all of them finds: 17 MB, where gzip makes 66.
tar -C "$(dirname "$folder")" -cf - "$(basename "$folder")" | xz -T0 --lzma2=preset=3,dict=128MiB > "$folder.tar.xz"
echo "bundle: $folder, packed $folder.tar.xz (run $folder/run.py on a machine with a GPU)"
