//! Pointer chases: what the program of `warpline validate` walks.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use warpline_simulator::hierarchy::HierarchyConfig;

/// Source of the program, in CUDA.
pub const PROGRAM: &str = include_str!("chases.cu");

/// One thread follows indices of 4 bytes through an array, round and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chase {
    /// Size of the array, a multiple of the stride.
    pub bytes: u64,
    /// From one load to the next, a multiple of 4.
    pub stride: u64,
    /// Loads before the clock is read.
    pub before: u64,
    /// Loads that are timed.
    pub timed: u64,
    /// The loads go past L1 (`ld.global.cg`).
    pub past_level_1: bool,
}

impl Chase {
    /// Runs half of the passes before the clock is read, half after it.
    pub fn passes(bytes: u64, stride: u64, passes: u64, past_level_1: bool) -> Chase {
        let bytes = whole(bytes, stride);
        let pass = bytes / stride;
        Chase { bytes, stride, before: pass * (passes / 2), timed: pass * (passes - passes / 2), past_level_1 }
    }

    /// Returns a pass to fill the caches, then at most [`TIMED`] loads under the clock.
    fn timed(bytes: u64, stride: u64, past_level_1: bool) -> Chase {
        let bytes = whole(bytes, stride);
        let pass = bytes / stride;
        Chase { bytes, stride, before: pass, timed: pass.clamp(TIMED / 8, TIMED), past_level_1 }
    }

    /// All loads.
    pub fn loads(&self) -> u64 {
        self.before + self.timed
    }
}

/// Loads under the clock: enough that the one which may be under way at either end does not count.
const TIMED: u64 = 32 << 10;

/// Returns a multiple of the stride, and at least one.
fn whole(bytes: u64, stride: u64) -> u64 {
    (bytes / stride).max(1) * stride
}

/// Sizes from `low` to `high`, `steps` per doubling.
fn sizes(low: u64, high: u64, steps: u32) -> impl Iterator<Item = u64> {
    let factor = 2f64.powf(1.0 / f64::from(steps));
    let doublings = (high as f64 / low as f64).log2();
    let count = (doublings * f64::from(steps)).ceil() as i32;
    // Whole lines of every GPU, so that no size divides one.
    (0..=count).map(move |step| (low as f64 * factor.powi(step) / 256.0).round() as u64 * 256)
}

/// Strides that show how much a miss fetches, in bytes.
const FETCH_STRIDES: [u64; 7] = [4, 8, 16, 32, 64, 128, 256];
/// Strides that show the bytes of a tag: odd multiples of lines, so that sets chosen by plain address bits are all
/// used.
const TAG_STRIDES: [u64; 4] = [3 * 32, 3 * 64, 3 * 128, 3 * 256];

/// What a timed chase is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Sizes: capacities.
    Sizes {
        /// The loads go past L1.
        past_level_1: bool,
    },
    /// Strides over an array that does not fit: what a miss fetches.
    Fetch {
        /// The loads go past L1.
        past_level_1: bool,
    },
    /// Sizes at a stride beyond a line: bytes of a tag.
    Tags {
        /// Bytes.
        stride: u64,
    },
}

/// What is timed on a GPU to find its caches; the model only bounds the search.
pub fn timing_plan(config: &HierarchyConfig) -> Vec<(Sweep, Chase)> {
    let l1 = config.l1.bytes;
    let l2 = config.l2.bytes();
    let mut plan = Vec::new();
    // Capacities, through L1 and past it. A stride of one line reaches every line once per pass.
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

/// Returns the plan as the program reads it.
pub fn plan_text<'a>(plan: impl IntoIterator<Item = &'a Chase>) -> String {
    plan.into_iter().fold(String::new(), |mut text, chase| {
        let Chase { bytes, stride, before, timed, past_level_1 } = chase;
        _ = writeln!(text, "{bytes} {stride} {before} {timed} {}", u8::from(*past_level_1));
        text
    })
}

/// Why a result of the program cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CyclesError {
    /// A line is something else.
    #[error("`{0}` is no number of cycles")]
    NoNumber(String),
    /// Lines are missing, or there are too many.
    #[error("{requested} chases were requested, {found} have a result")]
    Count {
        /// Chases of the plan.
        requested: usize,
        /// Lines of the result.
        found: usize,
    },
}

/// Returns the program's result: cycles of the timed loads, a line per chase.
///
/// # Errors
/// Returns what is wrong with it.
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
