//! The time axis of exact reuse distances.
//!
//! Every use takes the next position on the axis. A position is *live* while it is the last use of its element. The
//! number of live positions after an element's last use is the number of distinct elements used since then, which is
//! its reuse distance (Bennett and Kruskal). Positions are bits. For each word of a block, each block of 512 positions,
//! each 32 blocks and each 32 · 32 blocks, the axis stores the number of live positions before it. A query reads one
//! number per level. An update decrements all later numbers of each level with a few vector operations. Neither has
//! loops of unknown length.

use crate::simd::processor;

const BLOCK_WORDS: usize = 8;
const FAN: usize = 32;
/// Number of top-level counts that are updated together.
const TOPS: usize = 16;
/// Positions per block.
const BLOCK: usize = 64 * BLOCK_WORDS;
/// Number of positions of the smallest axis.
const SMALLEST: usize = BLOCK;
/// Bits per count in [`Axis::before_word`]; counts are at most 448.
const FIELD: usize = 9;
/// The value 1 in each of seven fields.
const ONES: u64 = {
    let (mut ones, mut field) = (0, 0);
    while field < BLOCK_WORDS - 1 {
        ones |= 1 << (FIELD * field);
        field += 1;
    }
    ones
};

/// Live positions in time order.
#[derive(Clone, Debug)]
pub struct Axis {
    words: Vec<u64>,
    /// Per block: the number of live positions before each of its words, packed into bit fields without the first word.
    before_word: Vec<u64>,
    /// Number of live positions before each block within its group of 32 blocks. Entries beyond the end have no
    /// meaning, here and in higher levels.
    before_block: Vec<[u16; FAN]>,
    /// Number of live positions before each group of 32 blocks, within 32 groups.
    before_group: Vec<[u32; FAN]>,
    /// Number of live positions before each 32 · 32 blocks.
    before_top: Vec<[u32; TOPS]>,
    end: u32,
    live: u32,
}

impl Default for Axis {
    fn default() -> Self {
        let mut axis = Axis {
            words: Vec::new(),
            before_word: Vec::new(),
            before_block: Vec::new(),
            before_group: Vec::new(),
            before_top: Vec::new(),
            end: 0,
            live: 0,
        };
        axis.resize(SMALLEST);
        axis
    }
}

impl Axis {
    /// Maximum number of positions. Users of times need one of the 32 bits for themselves.
    pub const MOST: usize = 1 << 31;

    fn resize(&mut self, positions: usize) {
        let blocks = positions / BLOCK;
        self.words.resize(positions / 64, 0);
        self.before_word.resize(blocks, 0);
        self.before_block.resize(blocks.div_ceil(FAN), [0; FAN]);
        self.before_group.resize(blocks.div_ceil(FAN * FAN), [0; FAN]);
        self.before_top.resize(blocks.div_ceil(FAN * FAN * TOPS), [0; TOPS]);
    }

    /// Returns the total number of live positions.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Returns whether `count` more positions fit.
    #[inline(always)]
    pub fn has_room(&self, count: u32) -> bool {
        self.end as usize + count as usize <= self.words.len() * 64
    }

    /// Extends the axis if most positions are live. Returns `false` if the owner should call [`Axis::compact`] instead
    /// because most positions are dead.
    pub fn grow(&mut self) -> bool {
        let positions = self.words.len() * 64;
        if positions >= Self::MOST || (positions > SMALLEST && (self.live as usize) * 4 < positions) {
            return false;
        }
        self.resize(positions * 2);
        true
    }

    /// Adds `count` live positions (at most 128) and returns the first. There must be room.
    #[inline(always)]
    pub fn push(&mut self, count: u32) -> u32 {
        let first = self.end;
        let mut at = first as usize;
        let end = at + count as usize;
        while at < end {
            let here = (64 - at % 64).min(end - at);
            if at.is_multiple_of(BLOCK) {
                self.begin_block(at / BLOCK);
            }
            let word = &mut self.words[at / 64];
            *word |= (u64::MAX >> (64 - here)) << (at % 64);
            let before = &mut self.before_word[at / BLOCK];
            *before = before.wrapping_add(behind(at / 64 % BLOCK_WORDS).wrapping_mul(here as u64));
            self.live += here as u32;
            at += here;
        }
        self.end = end as u32;
        first
    }

    /// Marks `count` live positions from `first` on as dead.
    #[inline(always)]
    pub fn clear(&mut self, first: u32, count: u32) {
        let mut at = first as usize;
        let end = at + count as usize;
        while at < end {
            let here = (64 - at % 64).min(end - at);
            let mask = (u64::MAX >> (64 - here)) << (at % 64);
            let word = &mut self.words[at / 64];
            debug_assert_eq!(*word & mask, mask);
            *word ^= mask;
            self.take_off(at / 64, here as u32);
            at += here;
        }
    }

    /// Marks a live position as dead; returns the number of live positions after it.
    #[inline(always)]
    pub fn take(&mut self, position: u32) -> u32 {
        let after = self.live - self.before(position) - 1;
        let at = position as usize;
        debug_assert_eq!(self.words[at / 64] >> (at % 64) & 1, 1);
        self.words[at / 64] ^= 1 << (at % 64);
        self.take_off(at / 64, 1);
        after
    }

    /// Starts a new block: all live positions precede it.
    #[inline(never)]
    fn begin_block(&mut self, block: usize) {
        let (group, top) = (block / FAN, block / FAN / FAN);
        if block.is_multiple_of(FAN * FAN) {
            self.before_top[top / TOPS][top % TOPS] = self.live;
        }
        let rest = self.live - self.before_top[top / TOPS][top % TOPS];
        if block.is_multiple_of(FAN) {
            self.before_group[top][group % FAN] = rest;
        }
        self.before_block[group][block % FAN] = (rest - self.before_group[top][group % FAN]) as u16;
        self.before_word[block] = 0;
    }

    /// Subtracts `count` dead positions of a word from all counts.
    #[inline(always)]
    fn take_off(&mut self, word: usize, count: u32) {
        self.live -= count;
        let block = word / BLOCK_WORDS;
        let before = &mut self.before_word[block];
        *before = before.wrapping_sub(behind(word % BLOCK_WORDS).wrapping_mul(u64::from(count)));
        let last = (self.end as usize).saturating_sub(1) / BLOCK;
        if block == last {
            return;
        }
        let (group, top) = (block / FAN, block / FAN / FAN);
        for (index, before) in (0..).zip(&mut self.before_block[group]) {
            let off = if index > (block % FAN) as u16 { count as u16 } else { 0 };
            *before = before.wrapping_sub(off);
        }
        if group == last / FAN {
            return;
        }
        for (index, before) in (0..).zip(&mut self.before_group[top]) {
            let off = if index > (group % FAN) as u32 { count } else { 0 };
            *before = before.wrapping_sub(off);
        }
        if top == last / FAN / FAN {
            return;
        }
        let (tops, later) = self.before_top[top / TOPS..].split_at_mut(1);
        for (index, before) in (0..).zip(&mut tops[0]) {
            let off = if index > (top % TOPS) as u32 { count } else { 0 };
            *before = before.wrapping_sub(off);
        }
        for before in later.as_flattened_mut() {
            *before = before.wrapping_sub(count);
        }
    }

    /// Returns the number of live positions before an existing position.
    #[inline(always)]
    fn before(&self, position: u32) -> u32 {
        let word = position as usize / 64;
        let block = word / BLOCK_WORDS;
        let group = block / FAN;
        let within = word % BLOCK_WORDS;
        // The first word has no field, because its count is 0.
        let field = self.before_word[block] >> (FIELD * within.saturating_sub(1)) & ((1 << FIELD) - 1);
        let field = if within == 0 { 0 } else { field as u32 };
        let bits = self.words[word] & !(u64::MAX << (position % 64));
        let top = group / FAN;
        self.before_top[top / TOPS][top % TOPS]
            + self.before_group[top][group % FAN]
            + u32::from(self.before_block[group][block % FAN])
            + field
            + bits.count_ones()
    }

    /// Returns the number of live positions from `from` on.
    #[inline(always)]
    pub fn after(&self, from: u32) -> u32 {
        if from >= self.end { 0 } else { self.live - self.before(from) }
    }

    /// Returns the positions that live positions will have after [`Axis::compact`].
    pub fn ranks(&self) -> Ranks<'_> {
        let mut sum = 0;
        let before = self.words.iter().map(|word| {
            let before = sum;
            sum += word.count_ones();
            before
        });
        Ranks { before: before.collect(), words: &self.words }
    }

    /// Removes dead positions: live positions become 0, 1, 2, … in order. The owner must replace its times by their
    /// ranks first.
    pub fn compact(&mut self) {
        let live = self.live;
        self.words.fill(0);
        self.end = 0;
        self.live = 0;
        let mut rest = live;
        while rest > 0 {
            let here = rest.min(128);
            self.push(here);
            rest -= here;
        }
    }

    /// Empties the axis; frees memory that a small axis does not need.
    pub fn reset(&mut self) {
        let keep = (self.words.len() * 64).min(1 << 16);
        let used = (self.end as usize).div_ceil(64).min(keep / 64);
        self.words[..used].fill(0);
        self.resize(keep);
        self.end = 0;
        self.live = 0;
    }

    /// Prefetches the memory that a query for `position` and its removal need.
    #[inline]
    pub fn prefetch(&self, position: u32) {
        processor::read(&self.words, position as usize / 64);
        processor::read(&self.before_word, position as usize / BLOCK);
        processor::read(&self.before_block, position as usize / BLOCK / FAN);
    }
}

/// Returns the value 1 in each field of the words after a word of a block.
#[inline(always)]
fn behind(word: usize) -> u64 {
    // After the last word there is no field; the shifted bit lies outside all fields.
    ONES << (FIELD * word)
}

/// Ranks of positions: the number of live positions before each.
pub struct Ranks<'a> {
    before: Vec<u32>,
    words: &'a [u64],
}

impl Ranks<'_> {
    /// Returns the rank of a position.
    #[inline(always)]
    pub fn rank(&self, position: u32) -> u32 {
        let word = position as usize / 64;
        self.before[word] + (self.words[word] & !(u64::MAX << (position % 64))).count_ones()
    }
}
