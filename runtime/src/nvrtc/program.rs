//! A program in NVRTC's sense: source, options, and the result of its compilation.

use super::build::{Build, BuildError, Request, build};
use std::collections::BTreeMap;
use std::ffi::CString;

/// `nvrtcResult`.
pub type Code = i32;

/// The call succeeded.
pub const SUCCESS: Code = 0;
/// An argument is not valid.
pub const INVALID_INPUT: Code = 3;
/// There is no program, or the program does not have the requested result.
pub const INVALID_PROGRAM: Code = 4;
/// An option is not valid.
pub const INVALID_OPTION: Code = 5;
/// The source does not compile; the log contains the errors.
pub const COMPILATION: Code = 6;
/// A part of the compiler is missing; the log names it.
pub const BUILTIN_OPERATION_FAILURE: Code = 7;
/// Name expressions must be added before the compilation.
pub const NO_NAME_EXPRESSIONS_AFTER_COMPILATION: Code = 8;
/// Mangled names are only available after the compilation.
pub const NO_LOWERED_NAMES_BEFORE_COMPILATION: Code = 9;
/// This expression was not added, or it has no name.
pub const NAME_EXPRESSION_NOT_VALID: Code = 10;

/// An NVRTC program.
#[derive(Default)]
pub struct Program {
    source: String,
    name: String,
    headers: Vec<(String, String)>,
    expressions: Vec<String>,
    log: String,
    made: Option<Compiled>,
}

struct Compiled {
    ptx: String,
    image: Vec<u8>,
    names: BTreeMap<String, CString>,
    /// Whether a real architecture was requested, so that there is a cubin.
    real: bool,
}

impl Program {
    /// Creates a program that is not compiled yet.
    pub fn new(source: String, name: Option<String>, headers: Vec<(String, String)>) -> Program {
        Program { source, name: name.unwrap_or_default(), headers, ..Program::default() }
    }

    /// Requests the mangled name of the entity that an expression names.
    pub fn add_expression(&mut self, expression: String) -> Result<(), Code> {
        if self.made.is_some() {
            return Err(NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
        }
        if !self.expressions.contains(&expression) {
            self.expressions.push(expression);
        }
        Ok(())
    }

    /// Compiles the program.
    pub fn compile(&mut self, options: &[String]) -> Result<(), Code> {
        self.made = None;
        let request = Request {
            source: &self.source,
            name: &self.name,
            headers: &self.headers,
            options,
            names: &self.expressions,
        };
        let (code, log) = match build(&request) {
            Ok(Build { ptx, image, names, log }) => {
                let named = self.expressions.iter().cloned().zip(names);
                let names = named.filter_map(|(expression, name)| Some((expression, CString::new(name).ok()?)));
                self.made = Some(Compiled {
                    ptx,
                    image,
                    names: names.filter(|(_, name)| !name.is_empty()).collect(),
                    real: real_architecture(options),
                });
                self.log = log;
                return Ok(());
            }
            Err(BuildError::Source(log)) => (COMPILATION, log),
            Err(BuildError::Option(log)) => (INVALID_OPTION, log),
            Err(BuildError::Header(log)) => (INVALID_INPUT, log),
            Err(BuildError::Service(log)) => {
                // Few programs print the log after this error.
                crate::output::message::note(&format!(
                    "a program's CUDA source cannot be compiled: {}",
                    log.trim_end()
                ));
                (BUILTIN_OPERATION_FAILURE, log)
            }
        };
        self.log = log;
        Err(code)
    }

    /// Returns the compiler's output.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Returns the PTX, whose mark refers to the code for the CPU device.
    pub fn ptx(&self) -> Result<&[u8], Code> {
        Ok(self.made.as_ref().ok_or(INVALID_PROGRAM)?.ptx.as_bytes())
    }

    /// Returns the code for the CPU device; empty if only a virtual architecture was requested.
    pub fn cubin(&self) -> Result<&[u8], Code> {
        let made = self.made.as_ref().ok_or(INVALID_PROGRAM)?;
        Ok(if made.real { &made.image } else { &[] })
    }

    /// Returns the mangled name of the entity that an expression names.
    pub fn lowered(&self, expression: &str) -> Result<&CString, Code> {
        let made = self.made.as_ref().ok_or(NO_LOWERED_NAMES_BEFORE_COMPILATION)?;
        made.names.get(expression).ok_or(NAME_EXPRESSION_NOT_VALID)
    }
}

/// Returns whether the last requested architecture is that of a GPU (`sm_80`), not of PTX (`compute_80`).
fn real_architecture(options: &[String]) -> bool {
    let words = options.iter().flat_map(|option| option.split('=')).collect::<Vec<_>>();
    let requested = words.windows(2).rev().find(|pair| {
        let name = pair[0].trim_start_matches('-');
        pair[0].starts_with('-') && (name == "arch" || name == "gpu-architecture")
    });
    requested.is_some_and(|pair| pair[1].starts_with("sm_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_real_or_virtual() {
        let of = |options: &[&str]| real_architecture(&options.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        assert!(of(&["-arch=sm_80"]) && of(&["-std=c++17", "--gpu-architecture", "sm_90a"]));
        assert!(!of(&["-arch=compute_80"]) && !of(&[]) && !of(&["-arch"]) && !of(&["-DX=sm_80"]));
        assert!(!of(&["-arch=sm_80", "--gpu-architecture=compute_80"]));
    }

    #[test]
    fn results_are_requested_after_compilation() {
        let mut program = Program::new("broken".into(), None, Vec::new());
        assert_eq!(program.ptx(), Err(INVALID_PROGRAM));
        assert_eq!(program.lowered("k"), Err(NO_LOWERED_NAMES_BEFORE_COMPILATION));
        assert_eq!(program.add_expression("k".into()), Ok(()));
        assert_eq!(program.log(), "");
    }
}
