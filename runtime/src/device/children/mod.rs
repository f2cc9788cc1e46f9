//! Dynamic parallelism: kernels that launch kernels.
//!
//! A child begins when its parent's grid has ended, in the order of launches; then its own children run, before the next one
//! does. CUDA promises no more than that children are complete when their parent is, so the host sees the parent as running until the
//! last of them has ended. Tail launches come after all others of their grid. What a kernel does in streams and with
//! events of its own is in order that way, too.

pub mod calls;
pub mod queue;
