//! The order of use of up to 16 ways, packed into one word.

/// Maximum number of ways.
pub(crate) const WAYS: u32 = 16;

/// Way numbers as nibbles; the most recently used way is lowest. Ways that the cache does not have stay highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order(u64);

impl Order {
    /// Creates the initial order. Way 0 is the oldest, so empty ways are filled in order.
    pub(crate) fn new(ways: u32) -> Order {
        let place = |way: u32| if way < ways { ways - 1 - way } else { way };
        Order((0..WAYS).map(|way| u64::from(way) << (4 * place(way))).sum())
    }

    /// Marks a way as used.
    #[inline(always)]
    pub(crate) fn touch(&mut self, way: u32) {
        const ONES: u64 = 0x1111_1111_1111_1111;
        let (order, way) = (self.0, u64::from(way));
        if order & 15 == way {
            return;
        }
        let other = order ^ (way * ONES);
        // This finds the lowest nibble that is zero; the borrow changes only higher nibbles.
        let shift = (other.wrapping_sub(ONES) & !other & (ONES << 3)).trailing_zeros() & !3;
        let below = order & ((1 << shift) - 1);
        let above = order & !(u64::MAX >> (60 - shift));
        self.0 = above | below << 4 | way;
    }

    /// Returns the least recently used of `ways`.
    #[inline(always)]
    pub(crate) fn oldest(self, ways: u32) -> u32 {
        (self.0 >> (4 * (ways - 1)) & 15) as u32
    }

    /// Returns the least recently used way, which becomes the most recently used.
    #[inline(always)]
    pub(crate) fn take_oldest(&mut self, ways: u32) -> u32 {
        if ways == WAYS {
            self.0 = self.0.rotate_left(4);
            return (self.0 & 15) as u32;
        }
        let way = self.oldest(ways);
        let used = u64::MAX >> (60 - 4 * (ways - 1));
        self.0 = self.0 & !used | (self.0 << 4 | u64::from(way)) & used;
        way
    }

    /// Makes a way the least recently used, so that it is selected next.
    pub(crate) fn retire(&mut self, way: u32, ways: u32) {
        self.touch(way);
        let top = 4 * (ways - 1);
        let used = u64::MAX >> (60 - top);
        self.0 = self.0 & !used | (self.0 & used) >> 4 | u64::from(way) << top;
    }
}
