//! Computes when and on which SM the blocks of a launch run, and in which issue slot a warp makes an access.
//!
//! The rules are those of [`warpline_format::schedule`]. In a rotation, an SM gives each of its warps an issue slot of
//! a few requests; the next block starts on the SM whose resident block ends first. [`program`] places accesses into
//! their loops, [`turn`] ends an issue slot, [`turns`] counts the issue slots of each warp, [`iterations`] maps
//! iterations to issue slots, and [`timeline`] returns times. Times are computed block by block ([`block_times`],
//! [`residents`], [`rotations`]), or by a formula far from the start of a launch ([`steady_state`]).

mod block_times;
mod code;
mod iterations;
mod program;
mod residents;
mod rotations;
mod steady_state;
mod timeline;
mod turn;
mod turns;

pub use code::{Code, changes_in_loops, route};
pub use iterations::turns_of_iterations;
pub use program::{Step, position_after};
pub use timeline::{SmBlocks, Timeline, round_robin};
pub use turn::Turn;

/// The golden ratio. Its multiples modulo 1 are evenly spread, and are not in step with rows of blocks.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Returns a multiple of the golden ratio, modulo 1.
pub fn golden(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}
