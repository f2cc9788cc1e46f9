//! Commands that read traces, and programs that run.

pub(super) mod compact;
mod piped;
pub(super) mod sim;
pub(super) mod top;
