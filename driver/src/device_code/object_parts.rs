//! Objects that are generated in parts and joined to one object.

use crate::THREADS_VARIABLE;
use crate::command::Command;
use crate::error::DriverError;
use std::path::Path;
use warpline_pass::parts::Split;
use warpline_toolchain::cache::content_hash;

/// Returns the suffix of the names that the parts of an object share. It makes them unique, because two files may have
/// kernels with the same name. Files with the same code at different paths are different files.
pub fn suffix(split: &Split, source: &str) -> String {
    let path = std::path::absolute(source).unwrap_or_else(|_| source.into());
    let hashes = split.parts.iter().map(|part| content_hash(&part.bitcode).to_le_bytes());
    let all: Vec<u8> = hashes.flatten().chain(path.display().to_string().into_bytes()).collect();
    format!("{:016x}", content_hash(&all))
}

/// Returns the number of threads for one file.
pub fn threads() -> usize {
    let requested = std::env::var(THREADS_VARIABLE).ok().and_then(|text| text.parse().ok());
    requested.filter(|&count| count > 0).unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Joins objects to one object with the linker.
pub fn join(
    objects: impl Iterator<Item = Vec<u8>>,
    output: &Path,
    temporary: &Path,
    linker: &Command,
) -> Result<(), DriverError> {
    let stem = output.file_stem().map_or("unit".into(), |stem| stem.to_string_lossy());
    let mut command = linker.clone().args(["-r", "-nostdlib", "-Wl,--build-id=none", "-o"]).path(output);
    for (number, bytes) in objects.enumerate() {
        let path = temporary.join(format!("{stem}.part-{number}.o"));
        std::fs::write(&path, bytes).map_err(DriverError::writing(&path))?;
        command = command.path(&path);
    }
    let finished = command.capture()?;
    finished.report();
    match finished.code {
        0 => Ok(()),
        code => Err(DriverError::Compiler(code)),
    }
}
