//! What ends a command.

/// What a command could not do, and the exit code for it.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    /// Message for standard error; empty if all has been reported.
    pub message: String,
}

impl Failure {
    pub(super) fn new(code: u8, message: impl std::fmt::Display) -> Failure {
        Failure { code, message: message.to_string() }
    }
}
