"""The last stages of Triton's compiler: Triton's LLVM IR becomes a shared object for the CPU device, which Triton
stores in its own cache instead of the GPU's code."""

import functools
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

import triton
from triton.backends import backends

from .. import _binaries
from .._errors import WarplineError


def install():
    """Replaces Triton's compiler for NVIDIA GPUs."""
    nvidia = backends["nvidia"]
    if not issubclass(nvidia.compiler, _Mixin):
        compiler = type("WarplineBackend", (_Mixin, nvidia.compiler), {})
        object.__setattr__(nvidia, "compiler", compiler)


class _Mixin:
    """The stages of Triton's compiler, except the last."""

    def add_stages(self, stages, options, *rest):
        """Replaces the stage that calls ptxas."""
        super().add_stages(stages, options, *rest)
        texts = {}

        def keep(stage):
            make = stages[stage]

            def made(source, metadata):
                result = make(source, metadata)
                # Later stages change the module of the first stage.
                texts[stage] = result if isinstance(result, str) else str(result)
                return result

            return made

        stages.update({stage: keep(stage) for stage in ("ttir", "llir", "ptx") if stage in stages})

        def shared_object(ptx, metadata):
            # If a stage is overridden, or the source begins with a later stage, this function is not called for it.
            if "llir" not in texts:
                raise WarplineError("a kernel that begins as PTX cannot run on the CPU device, which takes LLVM IR")
            resources = registers(ptx, self.target.arch)
            names = parameter_names(texts.get("ttir", ""), metadata["name"])
            return compile_ir(texts["llir"], metadata["name"], self.target.arch, resources, names)

        stages["cubin"] = shared_object

    def hash(self):
        """Returns the key for Triton's cache."""
        return f"{super().hash()}-warpline-{_compiler_stamp()}"


@functools.lru_cache(maxsize=1)
def _compiler_stamp():
    """Returns a value that changes with the compiler, and with its options in the environment."""
    path = _binaries.find("warpline-cc")
    stamp = path.stat()
    options = os.environ.get("WARPLINE_CC_DISABLE", "")
    return hashlib.sha256(f"{path}{stamp.st_size}{stamp.st_mtime_ns}{options}".encode()).hexdigest()[:16]


def parameter_names(ttir, kernel):
    """Returns the source names of a kernel's parameters in their order, from the text of Triton's own IR."""
    header = re.search(rf"tt\.func public @{re.escape(kernel)}\((.*)", ttir)
    names = []
    for parameter in re.split(r",\s(?=%)", header[1]) if header else []:
        place = re.search(r'loc\("([^",]*)"', parameter)
        name = re.match(r"%([\w.$]+):", parameter)
        names.append(place[1] if place else name[1] if name else "")
    return names


def compile_ir(text, name, architecture, resources=None, names=()):
    """Returns the shared object for a kernel's LLVM IR; ``names`` are the names of its parameters."""
    with tempfile.TemporaryDirectory(prefix="warpline-triton-") as folder:
        source, made = Path(folder, f"{name[:100]}.ll"), Path(folder, "kernel.so")
        source.write_text(text)
        options = [f"--warpline-system={Path(triton.__file__).parent}", f"-arch=sm_{architecture}", "--warpline-hooked-only"]
        if resources:
            options.append(f"--warpline-registers={resources[0]},{resources[1]}")
        if any(names):
            options.append(f"--warpline-parameters={','.join(names)}")
        done = _binaries.run("warpline-cc", "--warpline-module", *options, "-o", made, source, check=False)
        if done.returncode != 0:
            raise WarplineError(f"the kernel {name} cannot run on the CPU device: {_cause(done.stderr, source)}")
        return made.read_bytes()


def _cause(said, source):
    """Returns the compiler's message, without the name of the temporary file."""
    return said.strip().replace("warpline-cc: error: ", "").replace(f"{source}: ", "")


def registers(ptx, architecture):
    """Returns the registers and the bytes of spills per thread that ptxas would need, or ``None`` if Triton's ptxas
    cannot report them."""
    program = Path(triton.__file__).parent / "backends/nvidia/bin" / ("ptxas-blackwell" if architecture >= 100 else "ptxas")
    if not program.is_file():
        return None
    with tempfile.TemporaryDirectory(prefix="warpline-triton-") as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        target = re.search(r"\.target\s+(\w+)", ptx)
        command = [program, "-v", f"--gpu-name={target[1] if target else f'sm_{architecture}'}", source, "-o", "/dev/null"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    used = re.search(r"Used (\d+) registers", done.stderr)
    spilled = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
    if done.returncode != 0 or not used:
        return None
    return int(used[1]), sum(map(int, spilled.groups())) if spilled else 0
