//! When the blocks of a launch run, on which SM, and in which of its turns a warp makes an access.
//!
//! The rules are those of [`warpline_format::schedule`]: in a rotation an SM gives each of its warps a turn of a few requests, and
//! the next block starts on the SM whose resident block ends first. [`program`] puts accesses into their loops, [`turn`] ends a
//! turn, [`turns`] counts the turns of each warp, [`iterations`] maps iterations to turns, and [`timeline`] gives times: block by block
//! ([`block_times`], [`residents`], [`rotations`]), or by a formula far from the start of a launch
//! ([`steady_state`]).

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

/// The golden section: its multiples modulo 1 are spread evenly, and not in step with rows of blocks.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// Returns a multiple of the golden section, modulo 1.
pub fn golden(number: u64) -> f64 {
    (number as f64 * GOLDEN).fract()
}
