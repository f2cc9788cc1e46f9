//! Code that `warpline-cc` compiles to a shared object, or assembles for further architectures, while a program runs.
//! Each code is compiled once and stored by its content.

use crate::compiler::{Compiler, NO_FOLDER, folder};
use crate::cuda::error::{self, Error};
use crate::output::message;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use warpline_format::device_code::{KernelResources, decode_resources};
use warpline_format::operation::Followed;

/// The time after which a message explains what the program waits for.
const LONG: Duration = Duration::from_secs(3);

/// The name endings of results.
const SHARED_OBJECT: &str = "so";
const RESOURCES: &str = "resources";

/// Compiles a module's LLVM IR and returns the shared object.
pub fn shared_object(text: &str) -> Result<PathBuf, Error> {
    make(&["--warpline-module".to_owned()], "ll", text.as_bytes(), SHARED_OBJECT)
}

/// Compiles the functions with hooks of one kernel from the code that a program contains, and returns the shared
/// object.
pub fn hooks_of(carried: &[u8], kernel: &str) -> Result<PathBuf, Error> {
    make(&[format!("--warpline-hooks-of={kernel}")], "carried", carried, SHARED_OBJECT)
}

/// Compiles the code that a program contains for a device, with values tracked, and returns the shared object.
pub fn with_values(carried: &[u8], followed: &Followed, device: &str) -> Result<PathBuf, Error> {
    let first = [format!("--warpline-values={}", followed.to_names()), format!("--device={device}")];
    let lines = followed.lines.iter().map(|(file, line)| format!("--warpline-line={file}:{line}"));
    make(&first.into_iter().chain(lines).collect::<Vec<_>>(), "carried", carried, SHARED_OBJECT)
}

/// Assembles the code that a program contains for further architectures (75 is `sm_75`), and returns the registers and
/// spills of its kernels. Architectures that ptxas does not support are not included.
pub fn resources_on(carried: &[u8], architectures: &[u32]) -> Result<KernelResources, Error> {
    let names: Vec<String> = architectures.iter().map(u32::to_string).collect();
    let option = format!("--warpline-assemble-for={}", names.join(","));
    let path = make(&[option], "carried", carried, RESOURCES)?;
    let found = fs::read(&path).ok().and_then(|bytes| decode_resources(&bytes));
    found.ok_or_else(|| failed(&format!("{} cannot be read; remove it", path.display())))
}

/// Runs `warpline-cc` on a file, whose kind `suffix` and the options name, and returns the path of the result, whose
/// name ends in `result`.
fn make(options: &[String], suffix: &str, content: &[u8], result: &str) -> Result<PathBuf, Error> {
    let compiler = Compiler::find();
    let folder = folder("modules").ok_or_else(|| failed(NO_FOLDER))?;
    let mut hasher = DefaultHasher::new();
    (&compiler, options, content).hash(&mut hasher);
    let stem = format!("module-{:016x}", hasher.finish());
    let path = folder.join(format!("{stem}.{result}"));
    if path.is_file() {
        return Ok(path);
    }
    let unwritable = |cause: std::io::Error| failed(&format!("{} cannot be written: {cause}", folder.display()));
    fs::create_dir_all(&folder).map_err(unwritable)?;
    let own = format!("{stem}.{}", std::process::id());
    let (source, made) = (folder.join(format!("{own}.{suffix}")), folder.join(format!("{own}.{result}")));
    fs::write(&source, content).map_err(unwritable)?;
    let mut command = compiler.command();
    let status = wait(command.args(options).arg("-o").args([&made, &source]).stdout(Stdio::null()));
    // The source is not needed any more; if it cannot be removed, nothing is lost.
    _ = fs::remove_file(&source);
    match status {
        Ok(status) if status.success() => {}
        // The compiler has already printed the reason.
        Ok(_) => return Err(error::INVALID_PTX),
        Err(cause) => return Err(failed(&compiler.not_started(&cause))),
    }
    // The file is renamed, so that other processes that load it see either the complete file or no file.
    fs::rename(&made, &path).map_err(unwritable)?;
    Ok(path)
}

/// Runs a command. If it takes long, a message on a terminal explains what the program waits for.
fn wait(command: &mut Command) -> std::io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let (ended, has_ended) = channel::<()>();
    let explaining = std::thread::spawn(move || {
        if has_ended.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) && std::io::stderr().is_terminal() {
            message::note_once("warpline-cc compiles device code for this run; later runs use the result".into());
        }
    });
    let status = child.wait();
    drop(ended);
    _ = explaining.join();
    status
}

fn failed(cause: &str) -> Error {
    message::note(&format!("device code cannot be compiled: {cause}"));
    error::JIT_COMPILER_NOT_FOUND
}
