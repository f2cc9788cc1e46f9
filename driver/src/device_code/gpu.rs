//! `--device=gpu`: GPU code in addition to the code for the CPU device, and CUDA's own runtime in addition to
//! Warpline's.
//!
//! CUDA's static runtime is linked under other names: every symbol that it exports gets the prefix `__wlreal_`.
//! Warpline's functions with the original names are called first; functions that Warpline does not offer refer to
//! CUDA's runtime directly.

use crate::error::DriverError;
use crate::invocation::{GpuCode, Invocation};
use crate::programs::tools::Tools;
use inkwell::module::Module;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_format::gpu::REAL_PREFIX;
use warpline_format::site_table::SiteTable;
use warpline_pass::gpu::{self, Assembler, GpuError, Plan};
use warpline_pass::llvm::ModuleItems;
use warpline_toolchain::cache::{self, content_hash};
use warpline_toolchain::interrupt;

/// The oldest architecture that the hooks support.
const OLDEST: u32 = 70;

/// The inputs for generating the GPU code of a translation unit.
#[derive(Clone, Debug)]
pub struct GpuBuild {
    processors: Vec<String>,
    assembler: Assembler,
}

impl GpuBuild {
    /// Creates the build for a command line that requests GPU code; `None` for others.
    pub fn new(tools: &Tools, invocation: &Invocation) -> Option<GpuBuild> {
        if invocation.gpu != GpuCode::Real {
            return None;
        }
        let mut numbers: BTreeSet<u32> = invocation.architectures.iter().copied().filter(|&n| n >= OLDEST).collect();
        // Code for the oldest architecture runs on all newer ones of its generation; both devices execute its code
        // paths.
        numbers.insert(tools.architecture.max(OLDEST));
        let processors = numbers.into_iter().map(|number| format!("sm_{number}")).collect();
        Some(GpuBuild { processors, assembler: assembler(tools, invocation) })
    }

    /// Creates the build of code that a program contains. The code runs on the GPU for which it was compiled, and later
    /// GPUs compile its PTX.
    pub fn of_carried(tools: &Tools, invocation: &Invocation, hooked: &Module<'_>) -> GpuBuild {
        let processor =
            ModuleItems::functions(hooked).into_iter().find_map(|function| function.string_attribute("target-cpu"));
        let supported = processor.filter(|name| {
            let digits = name.strip_prefix("sm_").unwrap_or_default().trim_end_matches(|c: char| !c.is_ascii_digit());
            digits.parse::<u32>().is_ok_and(|number| number >= OLDEST)
        });
        let processors = vec![supported.unwrap_or_else(|| format!("sm_{OLDEST}"))];
        GpuBuild { processors, assembler: assembler(tools, invocation) }
    }

    /// Returns the fat binary of a hooked module, and notes for the user.
    pub fn fat_binary(&self, hooked: &Module<'_>, table: &SiteTable) -> Result<(Vec<u8>, Vec<String>), GpuError> {
        let plan = Plan { processors: &self.processors, assembler: &self.assembler };
        gpu::build(hooked, table, &plan).map(|built| (built.fat_binary, built.notes))
    }
}

fn assembler(tools: &Tools, invocation: &Invocation) -> Assembler {
    Assembler {
        ptxas: tools.cuda.ptxas(),
        oldest: tools.cuda.oldest_architecture(),
        older_ptxas: tools.cuda.older_ptxas(),
        fatbinary: tools.cuda.fatbinary(),
        options: invocation.ptxas.iter().map(Into::into).collect(),
        folder: tools.temporary().into(),
    }
}

/// Returns the linker arguments for CUDA's own runtime. `ours` is the library that defines CUDA's names.
pub fn link_arguments(tools: &Tools, ours: &Path) -> Result<Vec<String>, DriverError> {
    let original = tools.cuda.root.join("lib64/libcudart_static.a");
    let original = if original.is_file() { original } else { tools.cuda.root.join("lib/libcudart_static.a") };
    let bytes = std::fs::read(&original).map_err(DriverError::reading(&original))?;
    let names = exported(&original, &bytes)?;
    let real = renamed(&original, &bytes, &names)?;
    let own = std::fs::read(ours).map_err(DriverError::reading(ours))?;
    let offered = exported(ours, &own)?;
    let mut arguments =
        vec!["-Wl,--whole-archive".to_string(), real.display().to_string(), "-Wl,--no-whole-archive".to_string()];
    // The arguments are in one response file, because there are hundreds.
    let list = tools.temporary().join("cuda-names.ld");
    let aliases: String =
        names.difference(&offered).map(|name| format!("PROVIDE({name} = {REAL_PREFIX}{name});\n")).collect();
    std::fs::write(&list, aliases).map_err(DriverError::writing(&list))?;
    arguments.push(list.display().to_string());
    arguments.extend(["-ldl", "-lrt", "-lpthread"].map(String::from));
    Ok(arguments)
}

/// Returns CUDA's names among the functions and variables that an archive defines.
fn exported(path: &Path, bytes: &[u8]) -> Result<BTreeSet<String>, DriverError> {
    let damaged = |cause: object::Error| DriverError::Object { path: path.into(), cause: cause.to_string() };
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut names = BTreeSet::new();
    for member in archive.members() {
        let data = member.and_then(|member| member.data(bytes)).map_err(damaged)?;
        let Ok(file) = object::File::parse(data) else { continue };
        for symbol in file.symbols().filter(|symbol| symbol.is_global() && !symbol.is_undefined()) {
            let name = symbol.name().unwrap_or_default();
            if name.starts_with("cuda") || name.starts_with("__cuda") {
                names.insert(name.into());
            }
        }
    }
    Ok(names)
}

/// Returns CUDA's runtime with the other names, in the cache.
fn renamed(original: &Path, bytes: &[u8], names: &BTreeSet<String>) -> Result<PathBuf, DriverError> {
    let folder = cache::folder()?;
    let target = folder.join(format!("libcudart_real-{:016x}.a", content_hash(bytes)));
    if target.is_file() {
        return Ok(target);
    }
    std::fs::create_dir_all(&folder).map_err(DriverError::writing(&folder))?;
    let holder = tempfile::Builder::new().prefix(".cudart.").tempdir_in(&folder);
    let holder = holder.map_err(DriverError::writing(&folder))?;
    let _removal = interrupt::removes(holder.path());
    let (list, partial) = (holder.path().join("names"), holder.path().join("real.a"));
    let lines: String = names.iter().map(|name| format!("{name} {REAL_PREFIX}{name}\n")).collect();
    std::fs::write(&list, lines).map_err(DriverError::writing(&list))?;
    let mut option = std::ffi::OsString::from("--redefine-syms=");
    option.push(&list);
    let output = Command::new("objcopy").arg(option).arg(original).arg(&partial).output();
    let renamed = output.map_err(DriverError::reading("objcopy"))?;
    if !renamed.status.success() {
        let cause = String::from_utf8_lossy(&renamed.stderr).trim().to_owned();
        return Err(DriverError::Object { path: original.into(), cause: format!("objcopy: {cause}") });
    }
    // The file is renamed, so that links that run at the same time see either the complete file or no file.
    std::fs::rename(&partial, &target).map_err(DriverError::writing(&target))?;
    Ok(target)
}
