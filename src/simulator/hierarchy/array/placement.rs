//! Maps a line's address to a slice and a set.
//!
//! Manufacturers do not publish their hash functions. Two properties are known: power-of-two strides are evenly
//! distributed over slices and sets, and an array as large as the cache fits into it. The hash function here has both
//! properties. Within each aligned run of as many lines as there are slices (or sets), it is a one-to-one mapping;
//! higher address bits permute it from run to run.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How an index is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Index {
    /// The lowest bits, or the remainder if the count is not a power of two.
    Linear,
    /// The lowest bits combined with higher bits.
    Hashed,
    /// Fermi's L1. With 32 sets, bits 7 to 11 are xored with bits 13, 14, 15, 17 and 19. With 64 sets (48 KiB), bit 12
    /// is the additional, highest bit.
    Fermi,
}

/// Combines all base-`2^bits` digits of a number by xor.
#[inline]
fn fold(mut value: u64, bits: u32) -> u64 {
    let mut folded = 0;
    while value != 0 {
        folded ^= value;
        value >>= bits;
    }
    folded & ((1 << bits) - 1)
}

/// A divisor, prepared for many divisions.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    count: u32,
    /// Base-2 logarithm if the divisor is a power of two.
    bits: Option<u32>,
    /// 2^64 / count, rounded up.
    inverse: u64,
    /// Largest line number for which the inverse is exact.
    limit: u64,
}

impl Divisor {
    fn new(count: u32) -> Divisor {
        let count = count.max(1);
        let bits = count.is_power_of_two().then(|| count.trailing_zeros());
        let inverse = (u64::MAX / u64::from(count)).wrapping_add(1);
        // The inverse of 1 does not fit into 64 bits.
        let limit = if count == 1 { 0 } else { u64::MAX / u64::from(count) };
        Divisor { count, bits, inverse, limit }
    }

    /// Returns the remainder. The code has no branch for powers of two.
    #[inline(always)]
    fn remainder(&self, line: u64) -> u64 {
        if line <= self.limit { self.by_inverse(line).1 } else { line % u64::from(self.count) }
    }

    /// Returns the quotient and the remainder for a line up to the limit. The inverse times `count` exceeds 2^64 by at
    /// most `count`, so the quotient is exact as long as line · count is below 2^64 (Granlund and Montgomery, PLDI
    /// 1994, theorem 4.2).
    #[inline(always)]
    fn by_inverse(&self, line: u64) -> (u64, u64) {
        let quotient = ((u128::from(line) * u128::from(self.inverse)) >> 64) as u64;
        (quotient, line - quotient * u64::from(self.count))
    }

    /// Returns the quotient and the remainder.
    #[inline(always)]
    fn split(&self, line: u64) -> (u64, u64) {
        let count = u64::from(self.count);
        if let Some(bits) = self.bits {
            return (line >> bits, line & (count - 1));
        }
        if line <= self.limit { self.by_inverse(line) } else { (line / count, line % count) }
    }
}

/// Returns the index of `line` (address / line size) among `count`, and the remaining part of the line number.
#[inline(always)]
fn pick(line: u64, count: &Divisor, hashed: bool) -> (u32, u64) {
    if count.count == 1 {
        return (0, line);
    }
    let (rest, low) = count.split(line);
    if !hashed {
        return (low as u32, rest);
    }
    if let Some(bits) = count.bits {
        return ((low ^ fold(rest, bits)) as u32, rest);
    }
    let wide = u64::from(count.count);
    let sum = low + ((fold(rest, 11) * wide) >> 11);
    ((if sum >= wide { sum - wide } else { sum }) as u32, rest)
}

/// Maps lines to one number for slice and set: slice · sets + set.
#[derive(Clone, Copy, Debug)]
pub struct Placement {
    slices: Divisor,
    sets: Divisor,
    index: Index,
    line_shift: u32,
    form: Form,
}

/// Frequent special cases, distinguished when a placement is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One set in all.
    One,
    /// One slice with a linear index.
    Rest,
    /// All other cases.
    Any,
}

impl Placement {
    /// Creates a placement for `slices` of `sets` each and lines of `line_bytes`.
    pub fn new(slices: u32, sets: u32, index: Index, line_bytes: u32) -> Placement {
        Placement {
            slices: Divisor::new(slices),
            sets: Divisor::new(sets),
            index,
            line_shift: line_bytes.trailing_zeros(),
            form: match (slices, sets, index) {
                (1, 1, _) => Form::One,
                (1, _, Index::Linear) => Form::Rest,
                _ => Form::Any,
            },
        }
    }

    /// Returns the set of the line with number `line` (address / line size).
    #[inline(always)]
    pub fn set(&self, line: u64) -> u32 {
        match self.form {
            Form::One => 0,
            Form::Rest => self.sets.remainder(line) as u32,
            Form::Any => self.any_set(line),
        }
    }

    #[inline]
    fn any_set(&self, line: u64) -> u32 {
        if self.index == Index::Fermi {
            return self.fermi(line);
        }
        let hashed = self.index == Index::Hashed;
        let (slice, rest) = pick(line, &self.slices, hashed);
        let (set, _) = pick(rest, &self.sets, hashed);
        slice * self.sets.count + set
    }

    /// Returns the line of a slice within the `chunk`-th aligned run of as many lines as there are slices. Each slice
    /// has one line in the run. Returns `None` if the index does not have this property.
    #[inline(always)]
    pub fn line_of_slice(&self, chunk: u64, slice: u32) -> Option<u64> {
        let count = u64::from(self.slices.count);
        let low = match (self.index, self.slices.bits) {
            (Index::Fermi, _) => return None,
            (Index::Linear, _) => u64::from(slice),
            (Index::Hashed, Some(0)) => 0,
            (Index::Hashed, Some(bits)) => u64::from(slice) ^ fold(chunk, bits),
            (Index::Hashed, None) => {
                let turned = u64::from(slice) + count - ((fold(chunk, 11) * count) >> 11);
                if turned >= count { turned - count } else { turned }
            }
        };
        Some(chunk * count + low)
    }

    /// Calls `visit` for each of the given lines that lies in one of the given distinct sets.
    pub fn each_in_sets(&self, lines: RangeInclusive<u64>, sets: &[u32], visit: &mut impl FnMut(u64)) {
        let (Index::Hashed, 1, Some(bits @ 1..)) = (self.index, self.slices.count, self.sets.bits) else {
            return lines.filter(|&line| sets.contains(&self.set(line))).for_each(visit);
        };
        // A set has one line in each aligned run of as many lines as there are sets.
        for rest in lines.start() >> bits..=lines.end() >> bits {
            let turned = fold(rest, bits);
            let of_rest = sets.iter().map(|&set| rest << bits | (u64::from(set) ^ turned));
            of_rest.filter(|line| lines.contains(line)).for_each(&mut *visit);
        }
    }

    fn fermi(&self, line: u64) -> u32 {
        let address = line << self.line_shift;
        let bit = |at: u32| (address >> at & 1) as u32;
        let high = bit(13) | bit(14) << 1 | bit(15) << 2 | bit(17) << 3 | bit(19) << 4;
        let low = (address >> 7 & 31) as u32;
        ((low ^ high) | bit(12) << 5) & (self.sets.count - 1)
    }
}

/// Divides the sets of a cache among workers: whole slices if there are enough.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    count: u32,
    /// Number of consecutive sets that stay in one share.
    run: u32,
}

impl Shares {
    /// Divides `slices` of `sets` each into up to `wanted` shares.
    pub fn new(slices: u32, sets: u32, wanted: u32) -> Shares {
        let count = wanted.clamp(1, slices.saturating_mul(sets).max(1));
        Shares { count, run: if slices >= count { sets.max(1) } else { 1 } }
    }

    /// Returns the number of shares.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the share of a set number that [`Placement::set`] returned.
    #[inline]
    pub fn share(&self, set: u32) -> u32 {
        set / self.run % self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_as_large_as_the_cache_is_even() {
        for (slices, sets) in [(1, 5632), (44, 64), (80, 256), (48, 768), (1, 4096), (64, 32)] {
            for index in [Index::Linear, Index::Hashed] {
                let placement = Placement::new(slices, sets, index, 128);
                let total = slices * sets;
                for start in [0u64, 7 * u64::from(total), 1 << 30] {
                    let start = start - start % u64::from(total);
                    let mut counts = vec![0; total as usize];
                    for line in 0..u64::from(total) {
                        counts[placement.set(start + line) as usize] += 1;
                    }
                    assert!(counts.iter().all(|count| *count == 1), "{slices} {sets} {index:?}");
                }
            }
        }
    }

    #[test]
    fn a_slice_has_one_line_of_each_run() {
        for slices in [1, 8, 12, 40, 44, 64, 253] {
            for index in [Index::Linear, Index::Hashed] {
                let (all, whole) = (Placement::new(slices, 1, index, 128), Placement::new(slices, 64, index, 128));
                let of_slice = Placement::new(1, 64, index, 128);
                for chunk in (0..200).chain([1 << 20, (1 << 33) + 5, 1 << 40]) {
                    for slice in 0..slices {
                        let line = all.line_of_slice(chunk, slice).expect("no form of Fermi's");
                        assert_eq!((line / u64::from(slices), all.set(line)), (chunk, slice));
                        // Within the slice, the number of the run distinguishes the line from others.
                        assert_eq!(whole.set(line), slice * 64 + of_slice.set(chunk));
                    }
                }
            }
        }
        assert_eq!(Placement::new(1, 32, Index::Fermi, 128).line_of_slice(3, 0), None);
    }

    #[test]
    fn lines_of_some_sets_are_those_whose_sets_they_are() {
        for (count, index) in [(1, Index::Hashed), (32, Index::Hashed), (48, Index::Hashed), (64, Index::Linear)] {
            let placement = Placement::new(1, count, index, 128);
            for sets in [&[0][..], &[7, 3, 20], &[31, 1, 2, 47]] {
                let sets: Vec<u32> = sets.iter().copied().filter(|set| *set < count).collect();
                for lines in [0..=0, 5..=700, (1 << 30) + 3..=(1 << 30) + 5000] {
                    let mut found = Vec::new();
                    placement.each_in_sets(lines.clone(), &sets, &mut |line| found.push(line));
                    found.sort_unstable();
                    let want: Vec<u64> = lines.filter(|&line| sets.contains(&placement.set(line))).collect();
                    assert_eq!(found, want, "{count} {index:?} {sets:?}");
                }
            }
        }
    }

    #[test]
    fn shares_keep_slices_together() {
        let shares = Shares::new(64, 32, 8);
        assert_eq!((0..64 * 32).map(|set| shares.share(set)).max(), Some(7));
        assert!((0..64 * 32).all(|set| shares.share(set) == shares.share(set / 32 * 32)));
        // With one slice, sets are divided.
        let shares = Shares::new(1, 5632, 3);
        assert_eq!((0..6).map(|set| shares.share(set)).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert_eq!((Shares::new(1, 2, 8).count(), Shares::new(64, 32, 0).count()), (2, 1));
    }

    #[test]
    fn divisors_divide() {
        for count in [1u32, 2, 3, 44, 80, 5632, 12345, u32::MAX] {
            let divisor = Divisor::new(count);
            let wide = u64::from(count);
            for near in [0, 1, wide, 7 * wide, 1 << 32, 1 << 41, (1 << 57) / wide * wide, u64::MAX / wide * wide] {
                for line in [near.wrapping_sub(1), near, near.saturating_add(1)] {
                    assert_eq!(divisor.split(line), (line / wide, line % wide), "{line} / {count}");
                    assert_eq!(divisor.remainder(line), line % wide, "{line} / {count}");
                }
            }
        }
    }

    #[test]
    fn power_of_two_strides_stay_even_when_hashed() {
        for (slices, sets) in [(64, 32), (32, 64), (44, 64)] {
            let placement = Placement::new(slices, sets, Index::Hashed, 128);
            for stride in [1u64, 16, 256, 2048, 1 << 14] {
                let mut counts = vec![0u32; slices as usize];
                let lines = 1 << 16;
                for step in 0..lines {
                    counts[(placement.set(step * stride) / sets) as usize] += 1;
                }
                let most = counts.iter().max().copied().unwrap_or(0);
                assert!(
                    f64::from(most) < 1.1 * lines as f64 / f64::from(slices),
                    "{slices} stride {stride}: {counts:?}"
                );
            }
        }
    }

    #[test]
    fn fermi_bits() {
        let placement = Placement::new(1, 32, Index::Fermi, 128);
        assert_eq!(placement.set(0x1f), 0x1f);
        assert_eq!(placement.set((1 << 13) >> 7), 1);
        assert_eq!(placement.set((1 << 19) >> 7), 16);
        assert_eq!(placement.set((1 << 12) >> 7), 0);
        assert_eq!(Placement::new(1, 64, Index::Fermi, 128).set((1 << 12) >> 7), 32);
    }
}
