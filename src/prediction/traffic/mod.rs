//! From footprints to traffic: volumes of blocks and waves, and what the caches keep of them.

mod box_order;
pub mod by_thread;
pub mod caches;
pub mod capacity;
mod carry;
pub mod curves;
mod first_level;
mod flow;
mod kinds;
mod lattice;
mod overlaps;
mod partitions;
mod replay;
mod rounds;
mod sampled;
mod second_level;
mod skewed;
mod stagger;
mod sweep;
pub mod volumes;
mod windows;
