//! The state of the runtime: what belongs to the program, in groups by subject.

pub mod contexts;
pub mod copy;
pub(crate) mod failed_launches;
pub mod failures;
pub mod outer;
pub mod pools;
pub mod runtime;
pub mod sections;
pub mod streams;
