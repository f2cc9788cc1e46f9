//! Choice of the stretches between barriers that are checked, if not all are.
//!
//! What a check costs must not depend on how long a program runs: each stretch of code gets a fixed number of requests,
//! and beyond that all together a small share of what there is.

use rustc_hash::FxHashMap;

/// Blocks of a launch that are checked: the first ones, and those that follow in their places.
pub(super) const BLOCKS: u64 = 4;
/// Blocks of a launch of which all are checked, while [`UNSAMPLED`] lasts.
pub(super) const SMALL_GRID: u64 = 64;
/// Requests of a run that are checked before a sample is taken, about 0.05 s of work.
const UNSAMPLED: u64 = 1 << 17;
/// Requests per stretch of code, identified by its kernel and first site.
const PER_STRETCH: u64 = 1 << 10;
/// Requests after which a stretch without barriers is left.
const LONGEST: u64 = 4 << 10;
/// One more is checked per this many bytes of requests; most take 16 to 32.
const SHARE: u64 = 8 << 10;
/// Lines of device memory that a launch's loads make the shadow remember, and that all accesses do: 3 KiB each, so that what is
/// remembered stays in the processor's cache. Where loads have used up theirs, they are compared with what is there.
pub(super) const LINES: [usize; 2] = [512, 1024];
/// The same while all requests are checked.
pub(super) const UNSAMPLED_LINES: [usize; 2] = [4096, 8192];

/// What was spent.
#[derive(Default)]
pub(super) struct Sample {
    stretches: FxHashMap<(u32, u32), u64>,
    spent: u64,
    seen: u64,
}

impl Sample {
    /// So many bytes of requests have come.
    pub(super) fn saw(&mut self, bytes: u64) {
        self.seen += bytes;
    }

    /// Adds checked requests of a stretch.
    pub(super) fn spend(&mut self, kernel: u32, first_site: u32, requests: u64) {
        self.spent += requests;
        *self.stretches.entry((kernel, first_site)).or_default() += requests;
    }

    /// Returns whether all requests are checked still.
    pub(super) fn takes_all(&self) -> bool {
        self.spent < UNSAMPLED
    }

    fn within_share(&self) -> bool {
        self.takes_all() || self.spent < self.seen / SHARE
    }

    /// Returns whether to check another stretch that begins with this site.
    pub(super) fn begins(&self, kernel: u32, first_site: u32) -> bool {
        let spent = self.stretches.get(&(kernel, first_site)).copied().unwrap_or(0);
        spent < PER_STRETCH || self.within_share()
    }

    /// Returns whether to continue a stretch of which this many requests were checked.
    pub(super) fn goes_on(&self, requests: u64) -> bool {
        requests < LONGEST || self.within_share()
    }
}
