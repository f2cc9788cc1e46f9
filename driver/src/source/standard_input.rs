//! A CUDA source that can be read only once: standard input (`-x cu -`), or a pipe. It is compiled twice, for device
//! and host, so it is first written to a file. No result contains the name of this file.

use crate::error::DriverError;
use crate::invocation::{Input, Invocation};
use crate::programs::tools::Tools;
use inkwell::module::Module;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;

/// The name on the command line.
const DASH: &str = "-";
/// The file in the folder of intermediate files.
const FILE: &str = "standard-input.cu";
/// clang's name for it in messages and debug information.
const SHOWN: &str = "<stdin>";

/// Returns the file, if the input can be read only once. Nothing is read for a dry run.
pub fn read(tools: &Tools, invocation: &Invocation, input: &Input) -> Result<Option<Input>, DriverError> {
    let is_pipe = || std::fs::metadata(&input.path).is_ok_and(|there| there.file_type().is_fifo());
    if invocation.dry_run || !(input.path == DASH || is_pipe()) {
        return Ok(None);
    }
    let name = shown(input);
    let mut text = format!("# 1 \"{}\"\n", name.replace('\\', "\\\\").replace('"', "\\\"")).into_bytes();
    match input.path.as_str() {
        DASH => std::io::stdin().lock().read_to_end(&mut text),
        pipe => std::fs::File::open(pipe).and_then(|mut pipe| pipe.read_to_end(&mut text)),
    }
    .map_err(DriverError::reading(name))?;
    let path = tools.temporary().join(FILE);
    std::fs::write(&path, text).map_err(DriverError::writing(&path))?;
    let known_as = Some(name.to_owned());
    Ok(Some(Input { path: path.display().to_string(), language: input.language, known_as }))
}

/// Returns the name of an input for the user, which is the same in every run.
pub fn shown(input: &Input) -> &str {
    match &input.known_as {
        Some(name) => name,
        None if input.path == DASH => SHOWN,
        None => &input.path,
    }
}

/// Replaces the file's name in code by the user's name for it. The file's name differs in every run, and so would the
/// hash of the code.
pub fn rename(module: &Module<'_>, shown: &str) {
    if module.get_source_file_name().to_string_lossy().ends_with(&format!("/{FILE}")) {
        module.set_source_file_name(shown);
    }
}

/// Returns arguments with which clang compiles the file as standard input: it searches for includes in the working
/// folder.
pub fn arguments(input: &Input) -> Vec<String> {
    match &input.known_as {
        Some(name) => vec!["-iquote".into(), ".".into(), format!("-fdebug-prefix-map={}={name}", input.path)],
        None => Vec::new(),
    }
}
