//! `--version` and `--help`.

use crate::architecture;
use crate::error::DriverError;
use crate::options::Dialect;
use warpline_toolchain::{clang, cuda, programs};

/// Returns the version text, which build systems read. In clang's dialect, it is clang's own text, so that they
/// recognise its options; in nvcc's dialect, it contains the lines that name the CUDA release.
pub fn text(dialect: Dialect) -> Result<String, DriverError> {
    let clang = clang::clang()?;
    let own = format!("warpline-cc {}, compiling with clang {}\n", env!("CARGO_PKG_VERSION"), clang.version);
    match dialect {
        Dialect::Clang => Ok(programs::output(&clang.path, &["--version"]).unwrap_or_default() + &own),
        Dialect::Nvcc => {
            let (major, minor) = cuda::find(None)?.version;
            Ok(format!(
                "nvcc: NVIDIA (R) Cuda compiler driver (command-line dialect only; this is warpline-cc)\n{own}\
                 Cuda compilation tools, release {major}.{minor}, V{major}.{minor}.0\n"
            ))
        }
    }
}

/// Returns the architectures that can be requested, for the end of `--help`, because configure scripts search for them
/// there. Empty without a toolkit.
pub fn architectures() -> String {
    let Ok(cuda) = cuda::find(None) else { return String::new() };
    let names = architecture::known(cuda.oldest_architecture()).map(|number| format!(" compute_{number} sm_{number}"));
    format!("\nArchitectures of -arch:{}\n", names.collect::<String>())
}

/// `--help`.
pub const HELP: &str = "\
warpline-cc: compiles CUDA programs as nvcc or clang++ would, for the CPU device, with Warpline's hooks.

Usage: warpline-cc [options] files...          nvcc's options, and clang's where they do not collide
       warpline-nvcc, warpline-clang++         the same program, speaking that compiler's dialect only

What nvcc and clang++ call -c -o -O -g -G -I -D -U -L -l -std -x -arch -gencode --cuda-gpu-arch -rdc -dc -dlink
-Xcompiler -Xlinker -Xptxas -use_fast_math -MD -MF -E -ptx -shared -lib and so on means the same here. Flags without
effect are named in a note; unknown ones go to clang.

Warpline's own:
  --warpline-dump=DIR      keep the IR before and after each stage in DIR
  --warpline-march=CPU     processor that the CPU device's code is for, as for clang's -march (default: native)
  --warpline-no-bundles    one record for each access, also where several lie at constant distances
  --warpline-no-precompiled-headers
                           read CUDA's headers for each source, and keep none of them precompiled in the cache
  --warpline-cautious      lower device code in the slow, obvious way: a reference to compare with
  --warpline-hooked-only   make no version without hooks of a device module's kernels: half the time, where all launches are recorded
                           or checked
  --warpline-toolkit       print the path of a folder that looks like a CUDA toolkit, for build systems that take one:
                           its bin/nvcc is warpline-cc, its cudart is Warpline's runtime
  --warpline-launcher      (first) is followed by another compiler and its arguments, which warpline-cc compiles with in its place: for
                           CMAKE_CUDA_COMPILER_LAUNCHER
  --warpline-module        make a shared object (-o) of one device module given as LLVM IR, for programs that load device
                           code while they run; needs neither clang nor a CUDA toolkit
  --warpline-hooks=ahead|on-demand
                           when the code with hooks is generated: at the build, for runs on machines without
                           warpline-cc, or at a kernel's first recorded launch (default: by the size of the module)
  --warpline-hooks-of=KERNEL  make such a shared object of the code with hooks of one kernel (mangled name), from device
                           code that a program carries
  --warpline-values=KIND,…  make such a shared object of device code that a program carries, which reports values:
                           exceptions (for `warpline run --check-float`), or each execution of operations of the kinds
                           float, int, memory (for `--trace-values`); with --device, of the code for a GPU
  --warpline-line=FILE:LINE  limit --warpline-values to operations at this line; repeatable
  --warpline-assemble-for=ARCHITECTURE,…  write registers and spills of kernels on these architectures (75 is sm_75) from such
                           code to a file (-o)
  --warpline-runtime       make the shared library (-o) that such programs load first
  --warpline-source        make such a shared object of the device code of a CUDA source, and its PTX next to it: for
                           programs that use NVRTC
  --warpline-system=DIR    DIR holds no code of the user's (with --warpline-module)
  --warpline-registers=N,B registers and bytes of spills per thread, as ptxas reports (with --warpline-module)
  --warpline-parameters=NAME,…  what the source calls the kernel's parameters, in their order (with --warpline-module)
  --device=cpu|gpu         the device to build for; gpu carries both, and the program chooses when it starts
  -###                     show what would be done and do nothing
  -v                       show what is done

Environment:
  WARPLINE_CC_DISABLE=1    build without hooks
  WARPLINE_CC_THREADS=N    generate code in at most N threads
  WARPLINE_CLANG           the clang to use
  CUDA_PATH, CUDA_HOME     the CUDA toolkit to use
  WARPLINE_OFFLINE=1       fetch no toolkit parts where none is found
  NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS   more options, in nvcc's dialect

Exit code: the compiler's own; 6 when a tool is missing (see `warpline doctor`).
";
