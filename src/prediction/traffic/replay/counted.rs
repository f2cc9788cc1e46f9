//! What a replay counts.

/// What was counted, in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Of loads' requests.
    pub loaded: u64,
    /// Of these: not found in L1.
    pub missed: u64,
    /// Of these: not what the blocks that share the SM at a time asked L2 for the first time.
    pub asked_again: u64,
    /// Of these: not found in the SM's share of L2.
    pub lost_again: u64,
}

impl Counted {
    /// The share of the loaded sectors that L1 did not have.
    pub fn missed_share(&self) -> f64 {
        if self.loaded > 0 { self.missed as f64 / self.loaded as f64 } else { 0.0 }
    }

    /// Adds another sum.
    #[inline(always)]
    pub fn add(&mut self, other: &Counted) {
        self.loaded += other.loaded;
        self.missed += other.missed;
        self.asked_again += other.asked_again;
        self.lost_again += other.lost_again;
    }
}
