"""What the measurements were taken on."""
import os
import subprocess

QUERY = ("name,driver_version,memory.total,ecc.mode.current,pcie.link.gen.max,pcie.link.width.max,clocks.sm,clocks.max.sm,"
         "clocks.mem,power.limit")


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def describe():
    lines = [f"GPU ({QUERY}): {output('nvidia-smi', f'--query-gpu={QUERY}', '--format=csv,noheader') or 'unknown'}"]
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            model = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "?")
    except OSError:
        model = "?"
    lines.append(f"processors: {os.cpu_count()}, {model}")
    version = output("ncu", "--version").splitlines()
    lines.append(f"Nsight Compute: {version[-1] if version else 'not there'}")
    return lines
