//! A program's preference for the division of an SM's memory between L1 and shared memory.

use serde::{Deserialize, Serialize};

/// The preference for a kernel. It is a hint: a block always gets the shared memory that it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CarveoutPreference {
    /// No preference: `cudaFuncCachePreferNone`, or a carve-out of -1.
    #[default]
    Default,
    /// As much shared memory as possible: `cudaFuncCachePreferShared`.
    Shared,
    /// As much L1 as possible: `cudaFuncCachePreferL1`.
    L1,
    /// Equal parts: `cudaFuncCachePreferEqual`.
    Equal,
    /// Per cent of the largest shared memory: `cudaFuncAttributePreferredSharedMemoryCarveout`.
    Percent(u8),
}

impl CarveoutPreference {
    /// Returns the preference for a `cudaFuncCache` or `CUfunc_cache` value; `None` for other numbers.
    pub fn from_cache_config(config: i32) -> Option<CarveoutPreference> {
        Some(match config {
            0 => CarveoutPreference::Default,
            1 => CarveoutPreference::Shared,
            2 => CarveoutPreference::L1,
            3 => CarveoutPreference::Equal,
            _ => return None,
        })
    }

    /// Returns the `cudaFuncCache` value of a preference; 0 if CUDA has none.
    pub fn cache_config(self) -> i32 {
        match self {
            CarveoutPreference::Default | CarveoutPreference::Percent(_) => 0,
            CarveoutPreference::Shared => 1,
            CarveoutPreference::L1 => 2,
            CarveoutPreference::Equal => 3,
        }
    }

    /// Returns the preference for a carve-out attribute from -1 (none) to 100; `None` for other numbers.
    pub fn from_percent(percent: i32) -> Option<CarveoutPreference> {
        match percent {
            -1 => Some(CarveoutPreference::Default),
            0..=100 => Some(CarveoutPreference::Percent(percent as u8)),
            _ => None,
        }
    }

    /// Returns the carve-out attribute of a preference; -1 if it is not a percentage.
    pub fn percent(self) -> i32 {
        match self {
            CarveoutPreference::Percent(percent) => percent.into(),
            _ => -1,
        }
    }
}
