"""What hooks cost, from the times that WARPLINE_GPU_TIMES gives: a line per launch with kernel, form, milliseconds,
registers, bytes of local memory per thread, resident blocks per SM."""
import statistics


def read_times(text):
    """By kernel: milliseconds over all launches, launches, and the last launch's registers, local bytes and residency."""
    kernels = {}
    for line in text.splitlines():
        kernel, form, milliseconds, registers, local, resident = line.split("\t")
        entry = kernels.setdefault(kernel, {"form": form, "ms": 0.0, "launches": 0})
        if entry["form"] != form:
            # One launch without hooks among hooked ones: the kernel's times are not comparable.
            entry["form"] = "mixed"
        entry["ms"] += float(milliseconds)
        entry["launches"] += 1
        entry.update(registers=int(registers), local=int(local), resident=int(resident))
    return kernels


def best(runs):
    """The run with the least time in kernels."""
    return min(runs, key=lambda run: sum(kernel["ms"] for kernel in run.values()), default={})


def ratios(native, hooked):
    """Hooked over native time, by kernel that ran in both."""
    return {name: hooked[name]["ms"] / entry["ms"] for name, entry in native.items()
            if name in hooked and hooked[name]["form"] != "mixed" and entry["ms"] > 0.0}


def row(program, native, traced, counted, wall, requests):
    """A line of the table of one program: all its kernels together."""
    total = {form: sum(kernel["ms"] for kernel in run.values())
             for form, run in (("native", native), ("traced", traced), ("counted", counted))}
    share = {form: total[form] / total["native"] if total["native"] else float("nan") for form in total}
    rate = requests / total["traced"] / 1e3 if total["traced"] else float("nan")

    def most(field):
        return "/".join(str(max((kernel[field] for kernel in run.values()), default=0))
                        for run in (native, counted, traced))

    return (f"| {program} | {total['native']:.3f} | {share['counted']:.2f} | {share['traced']:.2f} | {wall['native']:.2f} | "
            f"{wall['counted']:.2f} | {wall['traced']:.2f} | {requests} | {rate:.1f} | {most('registers')} | "
            f"{most('resident')} |")


HEADER = ("| program | kernels native, ms | counted / native | traced / native | whole run native, s | counted, s | traced, s | "
          "requests | traced, million requests/s | registers native/counted/traced | resident blocks, likewise |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|")


def medians(all_ratios):
    """Median over all kernels of all programs."""
    return statistics.median(all_ratios) if all_ratios else float("nan")
