//! The CPU device: runs warp functions, in the scheduler's order where their records are wanted.

pub mod arena;
pub mod buffers;
pub mod fibre;
pub mod heap;
pub mod hooks;
pub mod items;
pub mod native;
pub mod scheduled;
pub mod warp;
pub mod warp_blocks;
