//! Dynamic parallelism: kernels that launch kernels.
//!
//! A child begins when its parent's grid has ended, in the order of the launches. A child's own children run before the
//! next child. CUDA guarantees only that children are complete when their parent is complete, so for the host the
//! parent runs until the last child has ended. Tail launches run after all other launches of their grid. This order
//! also satisfies the order of a kernel's own streams and events.

pub mod calls;
pub mod queue;
