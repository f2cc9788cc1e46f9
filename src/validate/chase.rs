//! Pointer chases, which the program of `warpline validate` runs.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use warpline_simulator::hierarchy::HierarchyConfig;

/// CUDA source of the program.
pub const PROGRAM: &str = include_str!("chases.cu");

/// A chase in which one thread follows 4-byte indices through an array, repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chase {
    /// Size of the array in bytes; a multiple of the stride.
    pub bytes: u64,
    /// Distance between consecutive loads in bytes; a multiple of 4.
    pub stride: u64,
    /// Number of loads before the clock is read.
    pub before: u64,
    /// Number of timed loads.
    pub timed: u64,
    /// Whether the loads bypass L1 (`ld.global.cg`).
    pub past_level_1: bool,
}

impl Chase {
    /// Returns a chase whose first half of the passes is not timed and whose second half is.
    pub fn passes(bytes: u64, stride: u64, passes: u64, past_level_1: bool) -> Chase {
        let bytes = whole(bytes, stride);
        let pass = bytes / stride;
        Chase { bytes, stride, before: pass * (passes / 2), timed: pass * (passes - passes / 2), past_level_1 }
    }

    /// Returns a chase with one pass to fill the caches, followed by at most [`TIMED`] timed loads.
    fn timed(bytes: u64, stride: u64, past_level_1: bool) -> Chase {
        let bytes = whole(bytes, stride);
        let pass = bytes / stride;
        Chase { bytes, stride, before: pass, timed: pass.clamp(TIMED / 8, TIMED), past_level_1 }
    }

    /// Returns the number of all loads.
    pub fn loads(&self) -> u64 {
        self.before + self.timed
    }
}

/// Number of timed loads: large enough that a load in flight at either end is negligible.
const TIMED: u64 = 32 << 10;

/// Rounds to a multiple of the stride, at least one stride.
fn whole(bytes: u64, stride: u64) -> u64 {
    (bytes / stride).max(1) * stride
}

/// Returns sizes from `low` to `high`, `steps` per doubling.
fn sizes(low: u64, high: u64, steps: u32) -> impl Iterator<Item = u64> {
    let factor = 2f64.powf(1.0 / f64::from(steps));
    let doublings = (high as f64 / low as f64).log2();
    let count = (doublings * f64::from(steps)).ceil() as i32;
    // Sizes are multiples of the line size of every GPU.
    (0..=count).map(move |step| (low as f64 * factor.powi(step) / 256.0).round() as u64 * 256)
}

/// Strides in bytes that show how much a miss fetches.
const FETCH_STRIDES: [u64; 7] = [4, 8, 16, 32, 64, 128, 256];
/// Strides that show the bytes per tag. They are odd multiples of lines, so that all sets are used if address bits
/// select the set.
const TAG_STRIDES: [u64; 4] = [3 * 32, 3 * 64, 3 * 128, 3 * 256];

/// The measurement that a timed chase belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Different sizes, which show capacities.
    Sizes {
        /// Whether the loads bypass L1.
        past_level_1: bool,
    },
    /// Different strides in an array that does not fit, which show how much a miss fetches.
    Fetch {
        /// Whether the loads bypass L1.
        past_level_1: bool,
    },
    /// Different sizes at a stride larger than a line, which show the bytes per tag.
    Tags {
        /// Stride in bytes.
        stride: u64,
    },
}

/// Returns the chases that are timed on a GPU to find its caches. The model only limits the search.
pub fn timing_plan(config: &HierarchyConfig) -> Vec<(Sweep, Chase)> {
    let l1 = config.l1.bytes;
    let l2 = config.l2.bytes();
    let mut plan = Vec::new();
    // These chases measure capacities, with and without L1. A stride of one line reaches every line once per pass.
    for (past_level_1, low) in [(false, 4 << 10), (true, 256 << 10)] {
        let all = sizes(low, 1 << 20, 8).chain(sizes(1 << 20, 4 * l2, 6).skip(1));
        plan.extend(all.map(|bytes| (Sweep::Sizes { past_level_1 }, Chase::timed(bytes, 128, past_level_1))));
    }
    for (past_level_1, bytes) in [(false, 4 * l1), (true, 2 * l2)] {
        let all = FETCH_STRIDES.map(|stride| Chase::timed(bytes, stride, past_level_1));
        plan.extend(all.map(|chase| (Sweep::Fetch { past_level_1 }, chase)));
    }
    for stride in TAG_STRIDES {
        let all = sizes(l1 / 4, 8 * l1, 8).map(|bytes| Chase::timed(bytes, stride, false));
        plan.extend(all.map(|chase| (Sweep::Tags { stride }, chase)));
    }
    plan
}

/// Returns the plan in the format that the program reads.
pub fn plan_text<'a>(plan: impl IntoIterator<Item = &'a Chase>) -> String {
    plan.into_iter().fold(String::new(), |mut text, chase| {
        let Chase { bytes, stride, before, timed, past_level_1 } = chase;
        _ = writeln!(text, "{bytes} {stride} {before} {timed} {}", u8::from(*past_level_1));
        text
    })
}

/// Reasons why a result of the program cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CyclesError {
    /// A line is not a number.
    #[error("`{0}` is not a number of cycles")]
    NoNumber(String),
    /// The number of lines is wrong.
    #[error("{requested} chases were requested, {found} have a result")]
    Count {
        /// Number of chases in the plan.
        requested: usize,
        /// Number of lines in the result.
        found: usize,
    },
}

/// Parses the program's result: the cycles of the timed loads, one line per chase.
///
/// # Errors
/// Returns an error if it is invalid.
pub fn read_cycles(text: &str, chases: usize) -> Result<Vec<u64>, CyclesError> {
    let number = |line: &str| line.trim().parse().map_err(|_| CyclesError::NoNumber(line.to_owned()));
    let cycles: Vec<u64> = text.lines().map(number).collect::<Result<_, _>>()?;
    if cycles.len() == chases { Ok(cycles) } else { Err(CyclesError::Count { requested: chases, found: cycles.len() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_simulator::models;

    #[test]
    fn plans_are_whole_laps_of_whole_strides() {
        for name in models::names() {
            let config = models::find(name).unwrap().hierarchy().unwrap();
            let plan = timing_plan(&config);
            assert!(plan.len() < 400, "{name}: {}", plan.len());
            for (_, chase) in &plan {
                assert_eq!(chase.bytes % chase.stride, 0, "{name}: {chase:?}");
                assert!(chase.before * chase.stride >= chase.bytes && chase.timed > 0, "{name}: {chase:?}");
            }
        }
    }

    #[test]
    fn what_the_program_writes_is_read() {
        let plan = [Chase::passes(4096, 128, 3, true), Chase::passes(100, 64, 1, false)];
        assert_eq!(plan_text(&plan), "4096 128 32 64 1\n64 64 0 1 0\n");
        assert_eq!(read_cycles("7\n8\n", 2), Ok(vec![7, 8]));
        assert!(read_cycles("7\n", 2).unwrap_err().to_string().contains("2 chases"));
        assert!(read_cycles("7\nx\n", 2).unwrap_err().to_string().contains("`x`"));
    }
}
