//! The substitute toolkit: a folder with the structure of a CUDA toolkit that links Warpline's runtime. Headers,
//! libdevice and programs are those of the real toolkit, `bin/nvcc` is `warpline-cc`, and the libraries named cudart
//! and nvrtc are the runtime. Build systems that query nvcc for its toolkit, and then link with another compiler, also
//! link the runtime in this way.

use crate::error::DriverError;
use crate::link::cmake_steps::PROGRAMS;
use crate::programs::embedded;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use warpline_toolchain::cache::{self, content_hash};
use warpline_toolchain::cuda::{Cuda, SHIM_MARKER};
use warpline_toolchain::interrupt;

/// The system libraries that the runtime, a Rust static library, needs (`rustc --print native-static-libs`).
const RUNTIME_NEEDS: &str = "-lgcc_s -lutil -lrt -lpthread -lm -ldl";

/// The paths where the NVIDIA driver installs its library.
const DRIVER_LIBRARIES: [&str; 3] =
    ["/usr/lib/x86_64-linux-gnu/libcuda.so", "/usr/lib64/libcuda.so", "/usr/lib/libcuda.so"];

/// Increased when the content of the folder changes, so that an older folder is not used.
const LAYOUT: u32 = 9;

/// CMake's toolchain file for projects that are built with the folder.
const TOOLCHAIN_FILE: &str = include_str!("../../cmake/toolchain.cmake");

/// An archive without members.
const EMPTY_ARCHIVE: &str = "!<arch>\n";

/// Creates the folder in the cache, or finds it there.
pub fn folder(cuda: &Cuda) -> Result<PathBuf, DriverError> {
    let runtime = embedded::runtime_library()?;
    let driver = std::env::current_exe().map_err(DriverError::reading("/proc/self/exe"))?;
    let nvidias = DRIVER_LIBRARIES.iter().map(Path::new).find(|path| path.exists());
    let own_headers = embedded::include_folder()?;
    let parts = [&cuda.root, &runtime, &own_headers, &driver].map(|part| part.display().to_string()).join("\0");
    let identity = format!("{LAYOUT}\0{parts}\0{nvidias:?}");
    let cache = cache::folder()?;
    let folder = cache.join(format!("toolkit-{:016x}", content_hash(identity.as_bytes())));
    if folder.join(SHIM_MARKER).is_file() {
        return Ok(folder);
    }
    // The folder is created under another name and renamed: compilers that run at the same time see either the complete
    // folder or none.
    std::fs::create_dir_all(&cache).map_err(DriverError::writing(&cache))?;
    let holder = tempfile::Builder::new().prefix(".toolkit.").tempdir_in(&cache);
    let holder = holder.map_err(DriverError::writing(&cache))?;
    let _removal = interrupt::removes(holder.path());
    let partial = holder.path().join("toolkit");
    let made = fill(&partial, cuda, (&runtime, &own_headers), &driver, nvidias).and_then(|()| {
        match std::fs::rename(&partial, &folder) {
            Err(_) if folder.join(SHIM_MARKER).is_file() => std::fs::remove_dir_all(&partial),
            result => result,
        }
    });
    made.map(|()| folder).map_err(DriverError::writing(partial))
}

/// Adds the toolkit's headers, and Warpline's headers for those that the toolkit does not have, so that host files
/// compiled by another compiler find them as well. NVML's header is always Warpline's, because the toolkit's header has
/// no library here.
fn headers(folder: &Path, cuda: &Path, own: &Path) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    for entry in std::fs::read_dir(cuda)?.flatten() {
        if entry.file_name() != "nvml.h" {
            symlink(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    const OWN: [&str; 10] = [
        "nvml.h",
        "nvrtc.h",
        "cublas_v2.h",
        "cublasLt.h",
        "cuda_profiler_api.h",
        "nvToolsExt.h",
        "nvToolsExtCuda.h",
        "nvToolsExtCudaRt.h",
        "nvtx3",
        "warpline.h",
    ];
    for name in OWN {
        let place = folder.join(name);
        if !place.exists() {
            symlink(own.join(name), place)?;
        }
    }
    Ok(())
}

fn fill(
    folder: &Path,
    cuda: &Cuda,
    (runtime, own_headers): (&Path, &Path),
    driver: &Path,
    nvidias: Option<&Path>,
) -> io::Result<()> {
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder.join("bin"))?;
    std::fs::create_dir(folder.join("lib64"))?;
    symlink(cuda.root.join("nvvm"), folder.join("nvvm"))?;
    headers(&folder.join("include"), &cuda.include(), own_headers)?;
    symlink("lib64", folder.join("lib"))?;
    // Meson searches for a toolkit in the folder of its target.
    let target = folder.join("targets/x86_64-linux");
    std::fs::create_dir_all(&target)?;
    symlink("../../include", target.join("include"))?;
    symlink("../../lib64", target.join("lib"))?;
    symlink(driver, folder.join("bin/nvcc"))?;
    for entry in std::fs::read_dir(cuda.root.join("bin"))?.flatten() {
        let name = entry.file_name();
        let ours = PROGRAMS.iter().any(|(program, _)| name == *program);
        if name != "nvcc" && name != "nvcc.profile" && !ours {
            symlink(entry.path(), folder.join("bin").join(name))?;
        }
    }
    for (program, _) in PROGRAMS {
        symlink(driver, folder.join("bin").join(program))?;
    }
    // The libraries are linker scripts, because a static library cannot list its dependencies.
    let script = format!("INPUT ( \"{}\" {RUNTIME_NEEDS} )\n", runtime.display());
    for name in ["libcudart_static.a", "libcudart.so", "libnvrtc_static.a", "libnvrtc.so"] {
        std::fs::write(folder.join("lib64").join(name), &script)?;
    }
    std::fs::write(folder.join("lib64/libcudadevrt.a"), EMPTY_ARCHIVE)?;
    // The runtime also offers a large part of the driver's library. Other functions come from NVIDIA's library, if it
    // is installed.
    let rest = nvidias.map(|library| format!("AS_NEEDED ( \"{}\" )", library.display())).unwrap_or_default();
    let script = format!("INPUT ( \"{}\" {RUNTIME_NEEDS} {rest} )\n", runtime.display());
    std::fs::write(folder.join("lib64/libcuda.a"), script)?;
    // If NVRTC is linked statically, parts of it are in separate libraries.
    for name in ["nvrtc-builtins_static", "nvptxcompiler_static"] {
        std::fs::write(folder.join("lib64").join(format!("lib{name}.a")), EMPTY_ARCHIVE)?;
    }
    // NVTX is implemented in its headers, which are Warpline's or NVIDIA's; before version 3, it was a library. Many
    // projects link cuBLAS to all of their programs, including those that do not call it.
    for name in ["nvToolsExt", "cublas", "cublasLt"] {
        let real = ["lib", "lib64"].map(|part| cuda.root.join(part).join(format!("lib{name}.so")));
        if !real.iter().any(|library| library.exists()) {
            std::fs::write(folder.join("lib64").join(format!("lib{name}.a")), EMPTY_ARCHIVE)?;
        }
    }
    // NVML is implemented in Warpline's header.
    std::fs::write(folder.join("lib64/libnvidia-ml.a"), EMPTY_ARCHIVE)?;
    std::fs::write(folder.join("warpline.cmake"), TOOLCHAIN_FILE)?;
    std::fs::write(folder.join(SHIM_MARKER), format!("{}\n", cuda.root.display()))
}
