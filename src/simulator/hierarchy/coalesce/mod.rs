//! Turns the lanes of a request into pieces of lines, and counts their passes through the stages of L1.

mod coalescer;
mod lane_sectors;
mod piece;
mod sorted_lanes;
mod stages;

pub use coalescer::{Coalescer, Groups};
pub use piece::Piece;
pub use stages::{StageCounts, tag_passes};
