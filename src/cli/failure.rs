//! The error that ends a command.

/// The reason why a command failed, and its exit code.
#[derive(Debug)]
pub struct Failure {
    /// Exit code.
    pub code: u8,
    /// Message for standard error; empty if everything is already reported.
    pub message: String,
}

impl Failure {
    pub(super) fn new(code: u8, message: impl std::fmt::Display) -> Failure {
        Failure { code, message: message.to_string() }
    }
}
