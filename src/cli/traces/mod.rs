//! Commands that read traces, and commands for running programs.

pub(super) mod compact;
mod piped;
pub(super) mod sim;
pub(super) mod top;
