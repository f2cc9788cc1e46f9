#!/bin/sh
# Runs the bundle on a machine with a GPU and writes one file with the machine, the results and the overheads.
# Needs no compiler: only the NVIDIA driver and python3.     run.sh [RESULT]
cd "$(dirname "$0")" || exit 1
result=${1:-result.md}
work=$(mktemp -d)
failed=0
say() { echo "$@" | tee -a "$result"; }
: >"$result"
say "# Warpline on a GPU"
say
say "$(command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version,memory.total,pcie.link.gen.max,pcie.link.width.max --format=csv,noheader 2>&1)"
say "processors: $(nproc), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2)"
say
timeout 120 ./hook_bench 256 8 >"$work/bench" 2>&1 || failed=1
if grep -Eq 'driver version is insufficient|no CUDA-capable device' "$work/bench"; then
    say "There is no GPU here that the driver can use; nothing was run: $(tail -n 1 "$work/bench")"
    rm -rf "$work"
    exit 1
fi
say "## Hooks alone"
say '```'
say "$(cat "$work/bench")"
tail -n 1 "$work/bench" | grep -q ok || failed=1
# Millions of records per SM: 16384 loads of 64 warps.
timeout 120 ./hook_bench 16384 8 0 2>&1 | tee -a "$result" | tail -n 1 | grep -q ok || failed=1
say '```'
say
say "## Programs"
say
say "| program | native s | recorded s | counted s | requests | right result | as on the CPU device | counts, too |"
say "|---|---:|---:|---:|---:|---|---|---|"
now() { date +%s.%N; }
for program in examples/*; do
    name=$(basename "$program")
    begin=$(now)
    WARPLINE=0 WARPLINE_DEVICE=gpu timeout 60 "$program" >"$work/out" 2>&1
    native_code=$?
    middle=$(now)
    timeout 120 ./warpline run --device gpu -o "$work/gpu.wlprof" -- "$program" >"$work/out" 2>"$work/err"
    code=$?
    end=$(now)
    timeout 120 ./warpline run --device gpu --mode counters -o "$work/counted.wlprof" -- "$program" >"$work/out" 2>>"$work/err" || code=$?
    counted=$(now)
    ./warpline report "$work/counted.wlprof" --format json >"$work/counted.json" 2>>"$work/err"
    ./warpline report "$work/gpu.wlprof" --format json >"$work/gpu.json" 2>>"$work/err"
    requests=$(python3 -c "import json,sys; p=json.load(open('$work/gpu.json')); print(sum(m['requests'] for k in p['kernels'] for m in k['metrics'].values()))" 2>/dev/null)
    same=- same_counts=-
    if [ "$name" != long_running ]; then
        timeout 300 ./warpline run --device cpu -o "$work/cpu.wlprof" -- "$program" >/dev/null 2>>"$work/err"
        ./warpline report "$work/cpu.wlprof" --format json >"$work/cpu.json" 2>>"$work/err"
        same=$(python3 compare.py "$work/cpu.json" "$work/gpu.json" 2>&1) && same_code=0 || same_code=1
        [ $same_code = 0 ] || failed=1
        echo "$name: $same" >>"$work/differences"
        same=$(echo "$same" | tail -n 1)
        same_counts=$(python3 compare.py "$work/cpu.json" "$work/counted.json" 2>&1) || failed=1
        echo "$name, counted: $same_counts" >>"$work/differences"
        same_counts=$(echo "$same_counts" | tail -n 1)
    fi
    [ $native_code = 0 ] && [ $code = 0 ] || failed=1
    [ $code = 0 ] && right=yes || right="NO ($native_code, $code): $(tail -n 1 "$work/err")"
    say "| $name | $(python3 -c "print(round($middle - $begin, 2))") | $(python3 -c "print(round($end - $middle, 2))") | $(python3 -c "print(round($counted - $end, 2))") | $requests | $right | $same | $same_counts |"
done
say
say "## Differences"
say '```'
cat "$work/differences" >>"$result" 2>/dev/null
cat "$work/differences" 2>/dev/null
say '```'
[ $failed = 0 ] && say "all right" || say "FAILED"
rm -rf "$work"
exit $failed
