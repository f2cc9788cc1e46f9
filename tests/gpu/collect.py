"""The part of the suite that needs the GPU: every command is a step with a key, whose outcome is kept; a step that was done is
not done again, and none is begun when the time is over. `run.py` makes its report of what is there."""
import os
import shutil
import time

import fidelity
import suite

SECTIONS = ("programs", "fidelity", "shapes", "hooks", "caches", "fidelity-kept", "large", "flushed")
# Kernel, grid and shapes of docs/cases/block-shapes.md.
STENCIL, LATTICE = ("long_range", "640", "512", "512"), ("stream_collide", "256", "256", "256")
# Counted in addition to fidelity's metrics, where Nsight Compute has them.
SHAPE_METRICS = ("l1tex__data_pipe_lsu_wavefronts.sum", "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
                 "lts__t_sectors_srcunit_tex_op_write.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")


def shapes(threads):
    """All shapes of powers of two with so many threads, none deeper than 64."""
    sides = [1 << power for power in range(11)]
    return [f"{x}x{y}x{z}" for x in sides for y in sides for z in sides if x * y * z in threads and z <= 64]


# The rows of the page's tables, which are counted.
COUNTED = {"long_range": "1024x1x1,512x2x1,128x8x1,32x32x1,64x4x4,16x16x4,16x8x8,16x2x32,16x1x64,16x4x16,8x8x16,4x16x16,"
                         "2x16x32,32x4x2,256x1x1",
           "stream_collide": "256x1x1,32x8x1,16x16x1,8x8x8,4x8x8,2x8x16,1x16x16"}


class Collector:
    """Runs steps until the time is over."""

    def __init__(self, run, model, seconds):
        self.run, self.model = run, model
        self.end = time.monotonic() + seconds

    def step(self, key, do, least=5):
        """Does a step unless it was done or too little time is left."""
        if key in self.run.outcomes:
            return self.run.outcomes[key]
        left = self.end - time.monotonic()
        if left < least:
            return None
        outcome = self.run.keep(key, do(left))
        print(f"{outcome['seconds']:7.2f} s  {key}  {outcome['code'] or 'ok'} {' / '.join(outcome['errors'][-1:])}", flush=True)
        return outcome

    def timed(self, key, do, limit, untimed=False):
        """A step whose kernels are timed by events, for which the runtime waits for each launch."""
        def attempt(left):
            if untimed:
                return do(min(limit, left), {})
            times = self.run.path("now", "times")
            if os.path.exists(times):
                os.remove(times)
            outcome = do(min(limit, left), {"WARPLINE_GPU_TIMES": times})
            if os.path.exists(times):
                with open(times, encoding="utf-8") as file:
                    outcome["times"] = file.read()
            return outcome
        return self.step(key, attempt)

    def forms(self, name, suffix, arguments, number):
        """A program native, traced and counted."""
        label = name + suffix
        run, options = self.run, ["--device", self.run.device, "--gpu", self.model]
        # Waits for the host while its kernel runs.
        untimed = name in suite.GPU_ONLY
        self.timed(f"{label} native {number}", lambda limit, times: run.execute(
            [run.program(name), *arguments], limit, WARPLINE="0", **times), 60, untimed)
        self.timed(f"{label} traced {number}", lambda limit, times: run.profile(
            name, "gpu-kept" + suffix, options, limit, arguments, **times), 60, untimed)
        if run.device == "gpu":
            self.timed(f"{label} counted {number}", lambda limit, times: run.profile(
                name, "counted" + suffix, ["--mode", "counters", *options], limit, arguments, **times), 60, untimed)

    def programs(self, repeat):
        for number in range(repeat):
            for name in self.run.programs:
                self.forms(name, "", [], number)

    def flushed(self):
        """Profiles whose simulation empties the caches before each launch, as Nsight Compute does."""
        options = ["--device", self.run.device, "--gpu", self.model, "--l2-launches", "flushed"]
        for name in self.run.programs:
            if name not in suite.GPU_ONLY:
                self.step(f"{name} traced flushed", lambda left, name=name: self.run.profile(
                    name, "gpu-flushed", options, min(60, left)))

    def large(self, repeat):
        for number in range(repeat):
            for name in self.run.programs:
                if name in suite.LARGE:
                    self.forms(name, "-large", suite.LARGE[name], number)

    def counters(self, states):
        """What Nsight Compute counts of each program."""
        run, ncu = self.run, shutil.which("ncu")
        if ncu is None:
            return
        metrics = self.metrics()
        for state, control in states:
            for name in run.programs:
                if name in suite.GPU_ONLY:
                    continue
                self.step(f"{name} ncu {state}", lambda left, name=name, state=state, control=control: self.count(
                    ncu, metrics, control, [run.program(name)], run.path(name, state, "csv"), min(60, left)))

    def metrics(self):
        return self.run.execute([self.run.warpline, "validate", "--list-counters"], 20)["output"].strip()

    def count(self, ncu, metrics, control, command, path, limit, more=()):
        begin = time.monotonic()
        text, why = fidelity.count(ncu, metrics, control, command, self.run.environment(WARPLINE="0"), limit, more)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return {"code": 0 if text is not None else 1, "seconds": time.monotonic() - begin, "output": "",
                "errors": [why] if why else []}

    def shapes(self):
        run, program = self.run, os.path.join(suite.HERE, "block_shapes")
        every = ",".join(shapes((128, 256, 512, 1024)))
        for kernel, *size in (STENCIL, LATTICE):
            self.step(f"shapes {kernel}", lambda left, kernel=kernel, size=size: run.execute(
                [program, kernel, *size, "3", every], min(90, left), WARPLINE="0"), 20)
        ncu = shutil.which("ncu")
        for kernel, *size in (STENCIL, LATTICE) if ncu else ():
            metrics = ",".join([self.metrics(), *SHAPE_METRICS])
            self.step(f"shapes {kernel} ncu", lambda left, kernel=kernel, size=size, metrics=metrics: self.count(
                ncu, metrics, "all", [program, kernel, *size, "0", COUNTED[kernel]], run.path("shapes", kernel, "csv"),
                min(90, left), ["--kernel-name", f"regex:{kernel}"]), 20)

    def hooks(self):
        for arguments in (["256", "8"], ["16384", "8", "0"]):
            self.step("hook_bench " + " ".join(arguments), lambda left, arguments=arguments: self.run.execute(
                [os.path.join(suite.HERE, "hook_bench"), *arguments], min(60, left)))

    def caches(self):
        command = [self.run.warpline, "validate", "--device", self.run.device, "--gpu", self.model, "--program",
                   os.path.join(suite.HERE, "chases"), "--curves", self.run.path("curves", "toml")]
        self.step("caches", lambda left: self.run.execute(command, min(200, left)), 30)

    def all(self, sections, repeat):
        states = dict(fidelity.STATES)
        does = {"programs": lambda: self.programs(repeat), "large": lambda: self.large(repeat), "hooks": self.hooks,
                "fidelity": lambda: self.counters([("flushed", states["flushed"])]), "shapes": self.shapes,
                "caches": self.caches, "fidelity-kept": lambda: self.counters([("kept", states["kept"])]), "flushed": self.flushed}
        for section in sections:
            does[section]()
