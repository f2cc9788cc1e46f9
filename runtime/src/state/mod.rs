//! The state of the runtime, grouped by subject.

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
