//! Loads of global memory that bypass L1.

use rustc_hash::FxHashSet;

/// Specifies which loads bypass L1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bypass {
    /// Number of warps of each block that use L1 (horizontal bypassing); `None` means all.
    pub warps: Option<u32>,
    /// Sites whose loads bypass L1, by number of the kernel in the analysis.
    pub sites: FxHashSet<(u32, u32)>,
}

impl Bypass {
    /// Returns whether a load of warp `warp` of a block at a site bypasses L1.
    #[inline]
    pub fn covers(&self, kernel: u32, site: u32, warp: u32) -> bool {
        self.warps.is_some_and(|first| warp >= first) || self.sites.contains(&(kernel, site))
    }
}
