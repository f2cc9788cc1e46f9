//! The CPU device: runs warp functions. If their records are needed, they run in the scheduler's order.

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
pub mod parallel;
mod residents;
pub mod scheduled;
mod slot;
pub mod warp;
pub mod warp_blocks;
