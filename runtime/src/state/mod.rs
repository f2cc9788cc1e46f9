//! The state of the runtime: what belongs to the program, in groups by subject.

pub mod contexts;
pub mod failed_calls;
pub mod failures;
pub mod launched;
pub mod outer;
pub mod pools;
pub mod runtime;
pub mod stream_order;
pub mod streams;
pub mod without_effect;
