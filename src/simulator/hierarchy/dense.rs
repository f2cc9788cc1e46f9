//! Assigns dense numbers to lines.
//!
//! Device addresses are spread over a 48-bit space, but tables indexed by line need small numbers. The space is divided
//! into regions. A region gets the next free range of numbers when it is first touched, so tables grow with the
//! footprint and not with the address space.

use crate::geometry::LINE_BYTES;
use rustc_hash::FxHashMap;

const REGION_BITS: u32 = 18;
/// Lines per region.
const REGION_LINES: u64 = (1 << REGION_BITS) / LINE_BYTES;
const REGION_LINE_BITS: u32 = REGION_LINES.trailing_zeros();
const CACHED: usize = 4096;

/// Numbers lines in the order in which their regions are first touched.
pub struct DenseLines {
    /// Direct-mapped cache of recent regions: region + 1 (0 is empty) and its index.
    recent: Box<[(u64, u32); CACHED]>,
    index_of: FxHashMap<u64, u32>,
    /// Region of each index.
    regions: Vec<u64>,
}

impl Default for DenseLines {
    fn default() -> Self {
        DenseLines { recent: Box::new([(0, 0); CACHED]), index_of: FxHashMap::default(), regions: Vec::new() }
    }
}

impl DenseLines {
    /// Maximum number of regions: numbers of half lines must also fit into 32 bits.
    const MAX_REGIONS: usize = 1 << (31 - REGION_LINE_BITS);

    /// Returns the number of line `line` (address / 128); `None` if more than 256 GiB of distinct memory was touched,
    /// which exceeds the memory of any GPU.
    #[inline(always)]
    pub fn number(&mut self, line: u64) -> Option<u32> {
        let region = line >> REGION_LINE_BITS;
        let within = (line % REGION_LINES) as u32;
        let recent = self.recent[region as usize % CACHED];
        let index = if recent.0 == region + 1 { recent.1 } else { self.look_up(region)? };
        Some(index << REGION_LINE_BITS | within)
    }

    #[cold]
    fn look_up(&mut self, region: u64) -> Option<u32> {
        let next = self.regions.len();
        let index = *self.index_of.entry(region).or_insert(next as u32);
        if index as usize == next {
            if next == Self::MAX_REGIONS {
                self.index_of.remove(&region);
                return None;
            }
            self.regions.push(region);
        }
        self.recent[region as usize % CACHED] = (region + 1, index);
        Some(index)
    }

    /// Returns the number of a line if its region was touched before.
    pub fn known(&self, line: u64) -> Option<u32> {
        let index = self.index_of.get(&(line >> REGION_LINE_BITS))?;
        Some(index << REGION_LINE_BITS | (line % REGION_LINES) as u32)
    }

    /// Returns the line with a number that was assigned before.
    #[inline]
    pub fn line(&self, number: u32) -> u64 {
        (self.regions[(number >> REGION_LINE_BITS) as usize] << REGION_LINE_BITS) | (u64::from(number) % REGION_LINES)
    }

    /// Returns the table size that all assigned numbers need: the highest number plus one.
    pub fn bound(&self) -> usize {
        self.regions.len() << REGION_LINE_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_are_one_to_one(lines in prop::collection::vec(prop_oneof![0u64..5000, 0u64..1 << 41, Just((1 << 57) - 1)], 1..200)) {
            let mut dense = DenseLines::default();
            let mut seen: HashMap<u32, u64> = HashMap::new();
            for line in lines {
                let number = dense.number(line).unwrap();
                prop_assert_eq!(*seen.entry(number).or_insert(line), line);
                prop_assert_eq!(dense.line(number), line);
                prop_assert!((number as usize) < dense.bound());
            }
        }
    }
}
