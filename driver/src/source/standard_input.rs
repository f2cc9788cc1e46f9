//! A CUDA source from standard input (`-x cu -`). It is compiled twice, for device and host, and can be read once, so it goes to a
//! file first, which nothing that is made of it names.

use crate::error::DriverError;
use crate::invocation::{Input, Invocation};
use crate::programs::tools::Tools;
use std::io::Read;

/// What it is called on the command line.
const DASH: &str = "-";
/// The file in the folder of intermediate files.
const FILE: &str = "standard-input.cu";
/// What clang calls it in messages and debug information.
const SHOWN: &str = "<stdin>";

/// The file, where the input is standard input. Nothing is read for a dry run.
pub fn read(tools: &Tools, invocation: &Invocation, input: &Input) -> Result<Option<Input>, DriverError> {
    if input.path != DASH || invocation.dry_run {
        return Ok(None);
    }
    let mut text = format!("# 1 \"{SHOWN}\"\n").into_bytes();
    std::io::stdin().lock().read_to_end(&mut text).map_err(DriverError::reading(SHOWN))?;
    let path = tools.temporary().join(FILE);
    std::fs::write(&path, text).map_err(DriverError::writing(&path))?;
    Ok(Some(Input { path: path.display().to_string(), language: input.language }))
}

/// Whether a path is that of the file.
pub fn is_file(path: &str) -> bool {
    path.ends_with(&format!("/{FILE}"))
}

/// The name of an input that people know, and that is the same in every run.
pub fn shown(input: &Input) -> &str {
    if input.path == DASH || is_file(&input.path) { SHOWN } else { &input.path }
}

/// What clang is told so that the file is compiled as standard input would be: includes are looked for in the working folder.
pub fn arguments(tools: &Tools, input: &Input) -> Vec<String> {
    let path = tools.temporary().join(FILE).display().to_string();
    match input.path == path {
        true => vec!["-iquote".into(), ".".into(), format!("-fdebug-prefix-map={path}={SHOWN}")],
        false => Vec::new(),
    }
}
