//! Barriers of a block with a number or a thread count: `bar.sync 1, 64`, `bar.arrive 1, 64`.

/// Number of barriers of a block.
pub const BARRIERS: usize = 16;
/// Lowest bit of the number of warps in a word.
pub const WARPS_SHIFT: u32 = 4;
/// Mask of the number of warps.
pub const WARPS_MASK: u32 = 0xfff;
/// Flag of a warp that arrives and continues.
pub const ARRIVES: u32 = 1 << 16;
/// Flag of a warp that has passed the barrier of its cluster.
pub const CLUSTER: u32 = 1 << 17;

/// The arrival of a warp at a barrier of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendezvous {
    /// Number of the barrier, below [`BARRIERS`].
    pub number: u32,
    /// Number of warps that open it; 0 means all unfinished warps of the block.
    pub warps: u32,
    /// Whether the warp waits until the barrier opens; otherwise, it arrives and continues (`bar.arrive`).
    pub waits: bool,
    /// Whether it is the barrier of the block's cluster, which the warp has passed. The order of issue slots shows
    /// which warps waited.
    pub cluster: bool,
}

impl Rendezvous {
    /// `__syncthreads`.
    pub const BLOCK: Rendezvous = Rendezvous { number: 0, warps: 0, waits: true, cluster: false };

    /// Returns the word that encodes it in lowered code and in the trace; 0 is [`Rendezvous::BLOCK`].
    pub const fn word(self) -> u32 {
        let arrives = if self.waits { 0 } else { ARRIVES } | if self.cluster { CLUSTER } else { 0 };
        (self.number & (BARRIERS as u32 - 1)) | (self.warps & WARPS_MASK) << WARPS_SHIFT | arrives
    }

    /// Decodes a word; bits without a meaning are ignored.
    pub const fn from_word(word: u32) -> Rendezvous {
        let number = word & (BARRIERS as u32 - 1);
        Rendezvous {
            number,
            warps: word >> WARPS_SHIFT & WARPS_MASK,
            waits: word & ARRIVES == 0,
            cluster: word & CLUSTER != 0,
        }
    }
}

/// Arrivals at the numbered barriers of one block.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Indexed by number: the number of arrived warps, and the number that opens the barrier.
    counts: Vec<(u32, u32)>,
}

impl Arrivals {
    /// Adds an arrival. `unfinished` is the number of the block's warps that have not ended. Returns whether the
    /// barrier opens.
    pub fn arrive(&mut self, meeting: Rendezvous, unfinished: u32) -> bool {
        self.counts.resize(BARRIERS, (0, 0));
        let (arrived, wanted) = &mut self.counts[meeting.number as usize % BARRIERS];
        *arrived += 1;
        *wanted = meeting.warps;
        self.opens(meeting.number, unfinished)
    }

    /// Returns whether a barrier opens now. If so, its count of arrivals is reset.
    pub fn opens(&mut self, number: u32, unfinished: u32) -> bool {
        let Some((arrived, wanted)) = self.counts.get_mut(number as usize % BARRIERS) else { return false };
        let opens = *arrived > 0 && *arrived >= if *wanted == 0 { unfinished } else { *wanted };
        if opens {
            *arrived = 0;
        }
        opens
    }

    /// Returns the number of warps that have arrived at a closed barrier, and the number that opens it.
    pub fn waiting(&self, number: u32) -> (u32, u32) {
        self.counts.get(number as usize % BARRIERS).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back() {
        assert_eq!(Rendezvous::BLOCK.word(), 0);
        for number in [0, 1, 15] {
            for warps in [0, 1, 32] {
                for waits in [true, false] {
                    let meeting = Rendezvous { number, warps, waits, cluster: !waits && number == 1 };
                    assert_eq!(Rendezvous::from_word(meeting.word()), meeting);
                }
            }
        }
    }

    #[test]
    fn barriers_open_when_enough_have_arrived() {
        let mut arrivals = Arrivals::default();
        let two = Rendezvous { number: 1, warps: 2, waits: true, cluster: false };
        let all = Rendezvous { number: 2, warps: 0, ..two };
        assert!(!arrivals.arrive(two, 4));
        assert!(!arrivals.arrive(all, 4));
        assert_eq!(arrivals.waiting(1), (1, 2));
        assert!(arrivals.arrive(Rendezvous { waits: false, ..two }, 4));
        assert!(!arrivals.arrive(two, 4), "its arrivals are counted anew");
        assert!(!arrivals.opens(2, 2));
        assert!(arrivals.opens(2, 1), "the others have ended");
        assert!(!arrivals.opens(3, 1));
    }
}
