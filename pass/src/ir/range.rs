//! Ranges of values.

/// The range of a value in all active lanes, as signed 64-bit numbers with inclusive limits; narrower types are
/// sign-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest value.
    pub low: i64,
    /// The largest value.
    pub high: i64,
}

impl Range {
    /// Returns the range of all values of an integer with this width, interpreted as signed.
    pub fn full(bits: u32) -> Range {
        match bits {
            0..=63 => Range { low: -(1 << (bits.max(1) - 1)), high: (1 << (bits.max(1) - 1)) - 1 },
            _ => Range { low: i64::MIN, high: i64::MAX },
        }
    }

    /// Returns a range with one value.
    pub fn constant(value: i64) -> Range {
        Range { low: value, high: value }
    }

    /// Returns whether the range is within the signed range of this width.
    pub fn fits(self, bits: u32) -> bool {
        let full = Range::full(bits);
        self.low >= full.low && self.high <= full.high
    }

    /// Returns whether no value is negative.
    pub fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// Returns the range of the sum, or `None` if it does not fit in 64 bits.
    pub fn plus(self, other: Range) -> Option<Range> {
        Some(Range { low: self.low.checked_add(other.low)?, high: self.high.checked_add(other.high)? })
    }

    /// Returns the range of the difference.
    pub fn minus(self, other: Range) -> Option<Range> {
        Some(Range { low: self.low.checked_sub(other.high)?, high: self.high.checked_sub(other.low)? })
    }

    /// Returns the range of the bitwise or of natural numbers: no bit above the highest possible bit of either is set.
    pub fn or(self, other: Range) -> Range {
        let bits = (self.high | other.high) as u64;
        Range { low: 0, high: u64::MAX.checked_shr(bits.leading_zeros()).unwrap_or(0) as i64 }
    }

    /// Returns the range of the product.
    pub fn times(self, other: Range) -> Option<Range> {
        let mut ends = [0; 4];
        for (index, (left, right)) in
            [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)]
                .into_iter()
                .enumerate()
        {
            ends[index] = left.checked_mul(right)?;
        }
        Some(Range { low: ends.into_iter().min()?, high: ends.into_iter().max()? })
    }
}
