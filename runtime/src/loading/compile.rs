//! Code that `warpline-cc` makes a shared object of while a program runs, once, kept by its content.

use crate::compiler::{Compiler, NO_FOLDER, folder};
use crate::cuda::error::{self, Error};
use crate::output::message;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Stdio;
use warpline_format::operation::Followed;

/// Returns the shared object of a module's LLVM IR.
pub fn shared_object(text: &str) -> Result<PathBuf, Error> {
    make(&["--warpline-module".to_owned()], "ll", text.as_bytes())
}

/// Returns the shared object of code that a program carries, with values followed.
pub fn with_values(carried: &[u8], followed: &Followed) -> Result<PathBuf, Error> {
    let kinds = format!("--warpline-values={}", followed.to_names());
    let lines = followed.lines.iter().map(|(file, line)| format!("--warpline-line={file}:{line}"));
    make(&std::iter::once(kinds).chain(lines).collect::<Vec<_>>(), "carried", carried)
}

/// Has `warpline-cc` make a shared object of a file, by options of which the first names the kind of the file.
fn make(options: &[String], suffix: &str, content: &[u8]) -> Result<PathBuf, Error> {
    let compiler = Compiler::find();
    let folder = folder("modules").ok_or_else(|| failed(NO_FOLDER))?;
    let mut hasher = DefaultHasher::new();
    (&compiler, options, content).hash(&mut hasher);
    let stem = format!("module-{:016x}", hasher.finish());
    let path = folder.join(format!("{stem}.so"));
    if path.is_file() {
        return Ok(path);
    }
    let unwritable = |cause: std::io::Error| failed(&format!("{} cannot be written: {cause}", folder.display()));
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let own = format!("{stem}.{}", std::process::id());
    let (source, made) = (folder.join(format!("{own}.{suffix}")), folder.join(format!("{own}.so")));
    fs::write(&source, content).map_err(unwritable)?;
    let mut command = compiler.command();
    let status = command.args(options).arg("-o").args([&made, &source]).stdout(Stdio::null()).status();
    // What it is made of is not needed any more; nothing is lost where it stays.
    _ = fs::remove_file(&source);
    match status {
        Ok(status) if status.success() => {}
        // The compiler has printed the reason.
        Ok(_) => return Err(error::INVALID_PTX),
        Err(cause) => return Err(failed(&compiler.not_started(&cause))),
    }
    // Renamed, so that processes that load the same see all of it or nothing.
    fs::rename(&made, &path).map_err(unwritable)?;
    Ok(path)
}

fn failed(cause: &str) -> Error {
    message::note(&format!("device code cannot be compiled: {cause}"));
    error::JIT_COMPILER_NOT_FOUND
}
