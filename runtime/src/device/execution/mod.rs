//! The CPU device: runs warp functions, in the scheduler's order where their records are wanted.

pub mod arena;
mod border;
pub mod buffers;
pub mod cluster;
mod drain;
pub mod fibre;
pub mod heap;
pub mod hooks;
pub mod items;
pub mod lanes;
pub mod mbarrier;
pub mod native;
mod residents;
pub mod scheduled;
mod slot;
pub mod warp;
pub mod warp_blocks;
