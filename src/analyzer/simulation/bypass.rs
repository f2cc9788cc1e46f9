//! Loads of global memory that go past L1.

use rustc_hash::FxHashSet;

/// Which loads go past L1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bypass {
    /// Only the first this many warps of each block use L1 (horizontal bypassing); `None`: all do.
    pub warps: Option<u32>,
    /// Sites whose loads go past it, by kernel as numbered by the analysis.
    pub sites: FxHashSet<(u32, u32)>,
}

impl Bypass {
    /// Returns whether loads of warp `warp` of a block at a site go past L1.
    #[inline]
    pub fn covers(&self, kernel: u32, site: u32, warp: u32) -> bool {
        self.warps.is_some_and(|first| warp >= first) || self.sites.contains(&(kernel, site))
    }
}
