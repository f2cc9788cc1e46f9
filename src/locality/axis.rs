//! The time axis of exact reuse distances.
//!
//! Every use takes the next position. A position is *live* while it is the last use of its element,
//! so the number of live positions after an element's last use is the number of distinct elements
//! used since: its reuse distance (Bennett and Kruskal). Positions are bits; counts of them are kept
//! for blocks of 512, for 32 blocks and for 32 of those, so that a query reads a few cache lines and
//! an update writes three numbers.

const BLOCK_WORDS: usize = 8;
const FAN: usize = 32;
/// Positions of the smallest axis.
const SMALLEST: usize = 64 * BLOCK_WORDS;

/// Live positions in order of time.
#[derive(Clone, Debug)]
pub struct Axis {
    words: Vec<u64>,
    blocks: Vec<u16>,
    groups: Vec<u32>,
    tops: Vec<u32>,
    end: u32,
    live: u32,
}

impl Default for Axis {
    fn default() -> Self {
        let mut axis =
            Axis { words: Vec::new(), blocks: Vec::new(), groups: Vec::new(), tops: Vec::new(), end: 0, live: 0 };
        axis.resize(SMALLEST);
        axis
    }
}

impl Axis {
    /// Most positions: times have to leave one bit of 32 to their users.
    pub const MOST: usize = 1 << 31;

    fn resize(&mut self, positions: usize) {
        let blocks = positions / 64 / BLOCK_WORDS;
        self.words.resize(positions / 64, 0);
        self.blocks.resize(blocks, 0);
        self.groups.resize(blocks.div_ceil(FAN), 0);
        self.tops.resize(blocks.div_ceil(FAN * FAN), 0);
    }

    /// Live positions in all.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Whether `count` more positions fit.
    #[inline(always)]
    pub fn has_room(&self, count: u32) -> bool {
        self.end as usize + count as usize <= self.words.len() * 64
    }

    /// Makes the axis longer where that is the right thing to do; `false` where the owner should
    /// call [`Axis::compact`] instead because most positions are dead.
    pub fn grow(&mut self) -> bool {
        let positions = self.words.len() * 64;
        if positions >= Self::MOST || (positions > SMALLEST && (self.live as usize) * 4 < positions) {
            return false;
        }
        self.resize(positions * 2);
        true
    }

    /// Adds `count` live positions, at most 128; the first is returned. There must be room.
    #[inline(always)]
    pub fn push(&mut self, count: u32) -> u32 {
        let first = self.end;
        self.flip(first, count, true);
        self.end += count;
        first
    }

    /// Ends the life of `count` positions from `first` on, all of them live.
    #[inline(always)]
    pub fn clear(&mut self, first: u32, count: u32) {
        self.flip(first, count, false);
    }

    #[inline(always)]
    fn flip(&mut self, first: u32, count: u32, live: bool) {
        let mut at = first as usize;
        let end = at + count as usize;
        while at < end {
            let here = (64 - at % 64).min(end - at);
            let mask = (u64::MAX >> (64 - here)) << (at % 64);
            let block = at / 64 / BLOCK_WORDS;
            let word = &mut self.words[at / 64];
            debug_assert_eq!(*word & mask, if live { 0 } else { mask });
            *word ^= mask;
            if live {
                self.blocks[block] += here as u16;
                self.groups[block / FAN] += here as u32;
                self.tops[block / FAN / FAN] += here as u32;
            } else {
                self.blocks[block] -= here as u16;
                self.groups[block / FAN] -= here as u32;
                self.tops[block / FAN / FAN] -= here as u32;
            }
            at += here;
        }
        if live {
            self.live += count;
        } else {
            self.live -= count;
        }
    }

    /// Live positions from `from` on.
    #[inline(always)]
    pub fn after(&self, from: u32) -> u32 {
        if from >= self.end {
            return 0;
        }
        let word = from as usize / 64;
        let last = (self.end as usize - 1) / 64;
        let mut count = (self.words[word] >> (from % 64)).count_ones();
        let block = word / BLOCK_WORDS;
        let last_block = last / BLOCK_WORDS;
        let stop = ((block + 1) * BLOCK_WORDS).min(last + 1);
        count += self.words[word + 1..stop.max(word + 1)].iter().map(|word| word.count_ones()).sum::<u32>();
        if block == last_block {
            return count;
        }
        let group = block / FAN;
        let last_group = last_block / FAN;
        let stop = ((group + 1) * FAN).min(last_block + 1);
        count += self.blocks[block + 1..stop].iter().map(|block| u32::from(*block)).sum::<u32>();
        if group == last_group {
            return count;
        }
        let top = group / FAN;
        let stop = ((top + 1) * FAN).min(last_group + 1);
        count += self.groups[group + 1..stop].iter().sum::<u32>();
        count + self.tops[top + 1..].iter().sum::<u32>()
    }

    /// Where positions will be after [`Axis::compact`].
    pub fn ranks(&self) -> Ranks<'_> {
        let mut sum = 0;
        let before = self.words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        Ranks { before: before.collect(), words: &self.words }
    }

    /// Forgets dead positions: live ones become 0, 1, 2, … in order. The owner has replaced its times
    /// by their ranks before.
    pub fn compact(&mut self) {
        let live = self.live;
        self.words.fill(0);
        self.blocks.fill(0);
        self.groups.fill(0);
        self.tops.fill(0);
        self.end = 0;
        self.live = 0;
        let mut rest = live;
        while rest > 0 {
            let here = rest.min(128);
            self.push(here);
            rest -= here;
        }
    }

    /// Back to empty; memory beyond a small axis is given back.
    pub fn reset(&mut self) {
        let keep = (self.words.len() * 64).min(1 << 16);
        let used = (self.end as usize).div_ceil(64).min(keep / 64);
        self.words.truncate(keep / 64);
        self.words[..used].fill(0);
        let blocks = keep / 64 / BLOCK_WORDS;
        self.blocks.truncate(blocks);
        self.blocks.fill(0);
        self.groups.truncate(blocks.div_ceil(FAN));
        self.groups.fill(0);
        self.tops.truncate(blocks.div_ceil(FAN * FAN));
        self.tops.fill(0);
        self.end = 0;
        self.live = 0;
    }

    /// Asks for the memory that a query from `position` and its clearing will need.
    #[inline]
    pub fn prefetch(&self, position: u32) {
        crate::hierarchy::processor::read(&self.words, position as usize / 64);
    }
}

/// Ranks of positions: the number of live ones before each.
pub struct Ranks<'a> {
    before: Vec<u32>,
    words: &'a [u64],
}

impl Ranks<'_> {
    /// The rank of one.
    #[inline(always)]
    pub fn of(&self, position: u32) -> u32 {
        let word = position as usize / 64;
        self.before[word] + (self.words[word] & !(u64::MAX << (position % 64))).count_ones()
    }
}
