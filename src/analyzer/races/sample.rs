//! Selects the stretches between barriers that a sampled check covers.
//!
//! The cost of the check must not depend on the run time of the program. Each stretch of code therefore gets a fixed
//! number of requests. Beyond that, all stretches together get a small share of all requests.

use rustc_hash::FxHashMap;

/// Maximum number of simultaneously checked blocks of a launch: the first ones, and blocks that replace them in their
/// slots.
pub(super) const BLOCKS: u64 = 4;
/// Number of blocks up to which all blocks of a launch are checked, until [`UNSAMPLED`] is reached.
pub(super) const SMALL_GRID: u64 = 1024;
/// Number of requests of a run that are checked before sampling starts; they take about 0.05 s.
const UNSAMPLED: u64 = 1 << 17;
/// Number of checked requests per stretch of code, identified by its kernel and first site.
const PER_STRETCH: u64 = 1 << 10;
/// Number of requests after which the check leaves a stretch without barriers.
const LONGEST: u64 = 4 << 10;
/// One additional request is checked per this many bytes of requests. Most requests take 16 to 32 bytes.
const SHARE: u64 = 8 << 10;
/// Maximum number of lines of device memory in the shadow that a launch's loads add, and that all accesses add (3 KiB
/// per line, so that the shadow stays in the processor's cache). Beyond its limit, a load is only compared with
/// existing lines.
pub(super) const LINES: [usize; 2] = [512, 1024];
/// The same limits while all requests are checked.
pub(super) const UNSAMPLED_LINES: [usize; 2] = [4096, 8192];

/// Number of checked requests so far.
#[derive(Default)]
pub(super) struct Sample {
    stretches: FxHashMap<(u32, u32), u64>,
    spent: u64,
    seen: u64,
}

impl Sample {
    /// Records that requests with this many bytes have arrived.
    pub(super) fn saw(&mut self, bytes: u64) {
        self.seen += bytes;
    }

    /// Adds checked requests of a stretch.
    pub(super) fn spend(&mut self, kernel: u32, first_site: u32, requests: u64) {
        self.spent += requests;
        *self.stretches.entry((kernel, first_site)).or_default() += requests;
    }

    /// Returns whether all requests are still checked.
    pub(super) fn takes_all(&self) -> bool {
        self.spent < UNSAMPLED
    }

    fn within_share(&self) -> bool {
        self.takes_all() || self.spent < self.seen / SHARE
    }

    /// Returns whether to check another stretch that starts with this site.
    pub(super) fn begins(&self, kernel: u32, first_site: u32) -> bool {
        let spent = self.stretches.get(&(kernel, first_site)).copied().unwrap_or(0);
        spent < PER_STRETCH || self.within_share()
    }

    /// Returns whether to continue the check of a stretch after this many requests.
    pub(super) fn goes_on(&self, requests: u64) -> bool {
        requests < LONGEST || self.within_share()
    }
}
