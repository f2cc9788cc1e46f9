//! How a program would have an SM's memory divided between L1 and shared memory.

use serde::{Deserialize, Serialize};

/// A program's preference for a kernel. A hint: a block's shared memory always gets its room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CarveoutPreference {
    /// None stated: `cudaFuncCachePreferNone`, or a carve-out of -1.
    #[default]
    Default,
    /// As much shared memory as possible: `cudaFuncCachePreferShared`.
    Shared,
    /// As much L1 as possible: `cudaFuncCachePreferL1`.
    L1,
    /// The same of both: `cudaFuncCachePreferEqual`.
    Equal,
    /// Percent of the largest shared memory: `cudaFuncAttributePreferredSharedMemoryCarveout`.
    Percent(u8),
}

impl CarveoutPreference {
    /// Returns the preference that a `cudaFuncCache` or `CUfunc_cache` stands for, `None` for other numbers.
    pub fn from_cache_config(config: i32) -> Option<CarveoutPreference> {
        Some(match config {
            0 => CarveoutPreference::Default,
            1 => CarveoutPreference::Shared,
            2 => CarveoutPreference::L1,
            3 => CarveoutPreference::Equal,
            _ => return None,
        })
    }

    /// Returns the `cudaFuncCache` of a preference; 0 where CUDA has none.
    pub fn cache_config(self) -> i32 {
        match self {
            CarveoutPreference::Default | CarveoutPreference::Percent(_) => 0,
            CarveoutPreference::Shared => 1,
            CarveoutPreference::L1 => 2,
            CarveoutPreference::Equal => 3,
        }
    }

    /// Returns the preference that a carve-out attribute stands for, from -1 (none) to 100, `None` for other numbers.
    pub fn from_percent(percent: i32) -> Option<CarveoutPreference> {
        match percent {
            -1 => Some(CarveoutPreference::Default),
            0..=100 => Some(CarveoutPreference::Percent(percent as u8)),
            _ => None,
        }
    }

    /// Returns the carve-out attribute of a preference; -1 where none was stated as a percentage.
    pub fn percent(self) -> i32 {
        match self {
            CarveoutPreference::Percent(percent) => percent.into(),
            _ => -1,
        }
    }
}
