//! Snapshots of a run in progress. The analysing process writes a snapshot to a private folder twice a second, and
//! `warpline top` shows it.

mod place;
mod publish;
mod snapshot;

pub use place::{LiveError, find, read};
pub use publish::{Publisher, Source};
pub use snapshot::{KernelRow, Memory, Snapshot, is_running};
