//! From the lanes of a request to pieces of lines, and the stages of L1 that these pass through.

mod coalescer;
mod lane_sectors;
mod piece;
mod stages;

pub use coalescer::{Coalescer, Groups};
pub use piece::Piece;
pub use stages::{StageCounts, tag_passes};
