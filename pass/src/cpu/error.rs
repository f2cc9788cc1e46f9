//! The errors of lowering.

use crate::llvm::shim::demangle;
use crate::llvm::{MachineError, Value};

/// An instruction or construct that the CPU device does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The description of the construct.
    pub what: String,
    /// The text of the instruction, as LLVM prints it.
    pub instruction: String,
    /// The file and line, if known.
    pub place: Option<(String, u32)>,
    /// The mangled name of the function.
    pub function: String,
    /// Whether the reason is a function or variable that the module uses but does not define; `what` is then its
    /// mangled name.
    pub undefined: bool,
}

/// The result of lowering a part of the code.
pub type Emitted<T> = Result<T, Refusal>;

impl Refusal {
    /// Refuses an instruction.
    pub fn new(value: Value<'_>, what: impl Into<String>) -> Refusal {
        let line = value.debug_line();
        let function = value.block().map(|block| block.function().name()).unwrap_or_default();
        Refusal {
            what: what.into(),
            instruction: if value.is_global() { value.name() } else { value.to_string() },
            place: (line != 0).then(|| (value.debug_file(), line)),
            function,
            undefined: false,
        }
    }

    /// Refuses the use of a function or variable that the module does not define.
    pub fn undefined(value: Value<'_>, name: &str) -> Refusal {
        Refusal { undefined: true, ..Refusal::new(value, name) }
    }
}

/// The reason why a module could not be lowered.
#[derive(Debug, thiserror::Error)]
pub enum LowerError {
    /// There is no lowering for an instruction.
    #[error("{}", refusal_text(.0))]
    Unsupported(Box<Refusal>),
    /// LLVM reported an error.
    #[error("lowering to the CPU device: {0}")]
    Machine(#[from] MachineError),
    /// The module is not device code.
    #[error(transparent)]
    Target(#[from] crate::ir::machine::TargetError),
    /// The site table does not belong to the module.
    #[error("lowering to the CPU device: the site table does not fit the module: {0}")]
    Table(String),
}

impl From<Refusal> for LowerError {
    fn from(refusal: Refusal) -> Self {
        LowerError::Unsupported(Box::new(refusal))
    }
}

fn refusal_text(refusal: &Refusal) -> String {
    let place = match &refusal.place {
        Some((file, line)) => format!("{file}:{line}: "),
        None => String::new(),
    };
    if refusal.undefined {
        let name = demangle(&refusal.what);
        return match refusal.function.as_str() {
            "" => format!("{place}{name} is used and not defined"),
            function => format!("{place}{} uses {name}, which is not defined", demangle(function)),
        };
    }
    let function = if refusal.function.is_empty() { String::new() } else { format!(" in {}", refusal.function) };
    format!("{place}the CPU device does not support {}{function}: {}", refusal.what, refusal.instruction)
}
