//! LLVM IR that a program loads, compiled by `warpline-cc` once and kept by its content.

use crate::cuda::error::{self, Error};
use crate::message;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Names `warpline-cc` where it is not on the search path.
const VARIABLE: &str = "WARPLINE_CC";

/// The shared object of a module's IR.
pub fn shared_object(text: &str) -> Result<PathBuf, Error> {
    let compiler = std::env::var_os(VARIABLE).unwrap_or_else(|| "warpline-cc".into());
    let folder =
        folder().ok_or_else(|| failed("neither XDG_CACHE_HOME nor HOME is set, so there is no folder for it"))?;
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), warpline_format::abi::ABI_VERSION, &compiler, text).hash(&mut hasher);
    // Another build of the same release may lower it differently.
    if let Ok(data) = PathBuf::from(&compiler).metadata() {
        (data.len(), data.modified().ok()).hash(&mut hasher);
    }
    let stem = format!("module-{:016x}", hasher.finish());
    let path = folder.join(format!("{stem}.so"));
    if path.is_file() {
        return Ok(path);
    }
    let unwritable = |cause: std::io::Error| failed(&format!("{} cannot be written: {cause}", folder.display()));
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let own = format!("{stem}.{}", std::process::id());
    let (source, made) = (folder.join(format!("{own}.ll")), folder.join(format!("{own}.so")));
    fs::write(&source, text).map_err(unwritable)?;
    let status = Command::new(&compiler)
        .args(["--warpline-module", "-o"])
        .args([&made, &source])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    // What it is made of is not needed any more; nothing is lost where it stays.
    _ = fs::remove_file(&source);
    match status {
        Ok(status) if status.success() => {}
        // It has said why.
        Ok(_) => return Err(error::INVALID_PTX),
        Err(cause) => {
            let program = compiler.to_string_lossy();
            return Err(failed(&format!("{program} cannot be started ({cause}); set {VARIABLE} to its path")));
        }
    }
    // Renamed, so that processes that load the same see all of it or nothing.
    fs::rename(&made, &path).map_err(unwritable)?;
    Ok(path)
}

/// Where `warpline-cc` keeps its files, too.
fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(".cache")));
    base.map(|base| base.join("warpline/modules"))
}

fn failed(cause: &str) -> Error {
    message::note(&format!("a module of LLVM IR cannot be compiled: {cause}"));
    error::JIT_COMPILER_NOT_FOUND
}
