//! `--device=gpu-emulated`: the code for a GPU is lowered to the CPU device, and Warpline's runtime is linked a second
//! time instead of CUDA's own runtime. In this way, the code that runs on a GPU and its host side can be run, and
//! compared, without a GPU.
//!
//! The second copy is one object in which only CUDA's names and the names that lowered code calls are visible. They
//! have the names that CUDA's own runtime would have (`gpu.rs`).

use crate::clang_jobs;
use crate::error::DriverError;
use crate::programs::tools::Tools;
use object::{Object, ObjectSymbol};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpline_format::gpu::REAL_PREFIX;
use warpline_toolchain::cache::{self, content_hash};

/// The prefix of the second copy's own references to another runtime, which nothing defines.
const ABSENT_PREFIX: &str = "__wlnone_";

/// A symbol that is defined only for the second copy (`runtime/src/gpu/emulation.rs`).
const MARK: &str = "__warpline_is_the_gpu";
/// The symbol whose address the mark gets. Any address is suitable, so it is that of the symbol which identifies the
/// second copy.
const EMULATOR: &str = "__warpline_emulator";

/// Returns the second copy of the runtime `ours`, as an object in the cache.
pub fn runtime(tools: &Tools, ours: &Path) -> Result<PathBuf, DriverError> {
    let bytes = std::fs::read(ours).map_err(DriverError::reading(ours))?;
    let folder = cache::folder()?;
    let name = format!("libwarpline_emulator-{:016x}.o", content_hash(&bytes));
    let target = folder.join(&name);
    if target.is_file() {
        return Ok(target);
    }
    let whole = tools.temporary().join("emulator-whole.o");
    let linked = clang_jobs::linker(tools)
        .args(["-r", "-nostdlib", "-Wl,--build-id=none", "-Wl,--force-group-allocation"])
        .args([format!("-Wl,--defsym={MARK}={EMULATOR}")])
        .args(["-Wl,--whole-archive"])
        .path(ours)
        .args(["-Wl,--no-whole-archive", "-o"])
        .path(&whole)
        .capture()?;
    linked.report();
    if linked.code != 0 {
        return Err(DriverError::Compiler(linked.code));
    }
    let object = std::fs::read(&whole).map_err(DriverError::reading(&whole))?;
    let (renamed, kept) = names(&whole, &object)?;
    let (list, keep) = (tools.temporary().join("emulator-names"), tools.temporary().join("emulator-kept"));
    std::fs::write(&list, renamed).map_err(DriverError::writing(&list))?;
    std::fs::write(&keep, kept).map_err(DriverError::writing(&keep))?;
    let option = |name: &str, path: &Path| {
        let mut option = std::ffi::OsString::from(name);
        option.push(path);
        option
    };
    let made = tools.temporary().join("emulator.o");
    let output = Command::new("objcopy")
        .arg(option("--redefine-syms=", &list))
        .arg(option("--keep-global-symbols=", &keep))
        .arg(&whole)
        .arg(&made)
        .output()
        .map_err(DriverError::reading("objcopy"))?;
    if !output.status.success() {
        let cause = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(DriverError::Object { path: ours.into(), cause: format!("objcopy: {cause}") });
    }
    let bytes = std::fs::read(&made).map_err(DriverError::reading(&made))?;
    Ok(cache::keep_in(&folder, &name, &bytes)?)
}

/// Returns whether a name belongs to CUDA's runtime or driver API, or to the functions that lowered code calls.
fn is_offered(name: &str) -> bool {
    let driver = name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()));
    let others = ["cuda", "__cuda", "__wl_", "__warpline_", "warpline_"];
    (driver || others.iter().any(|start| name.starts_with(start))) && name != MARK
}

/// Returns lists for objcopy: old and new names, and the new names that stay visible.
fn names(path: &Path, bytes: &[u8]) -> Result<(String, String), DriverError> {
    let damaged = |cause: object::Error| DriverError::Object { path: path.into(), cause: cause.to_string() };
    let file = object::File::parse(bytes).map_err(damaged)?;
    let (mut renamed, mut kept) = (String::new(), String::new());
    for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
        let name = symbol.name().map_err(damaged)?;
        if symbol.is_undefined() {
            if let Some(rest) = name.strip_prefix(REAL_PREFIX) {
                renamed.push_str(&format!("{name} {ABSENT_PREFIX}{rest}\n"));
            }
        } else if is_offered(name) {
            renamed.push_str(&format!("{name} {REAL_PREFIX}{name}\n"));
            kept.push_str(&format!("{REAL_PREFIX}{name}\n"));
        }
    }
    Ok((renamed, kept))
}
