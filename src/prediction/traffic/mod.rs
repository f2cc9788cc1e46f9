//! Traffic between the levels of the memory hierarchy.

pub mod access;
pub mod capacity;
mod flow;
mod footprint;
mod l1;
mod l2;
mod lane_addresses;
pub mod moved;
mod overlaps;
mod schedule;
