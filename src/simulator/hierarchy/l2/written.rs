//! Device memory that a copy or a fill wrote.

use crate::geometry::LINE_BYTES;

/// Rows of bytes. The start of each row is `pitch` bytes after the start of the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    address: u64,
    width: u64,
    rows: u64,
    pitch: u64,
    last: u64,
}

impl Written {
    /// Creates `rows` rows of `width` bytes, starting at `address`; `None` if they exceed the address space or are
    /// empty.
    pub fn new(address: u64, width: u64, rows: u64, pitch: u64) -> Option<Written> {
        let last_row = rows.checked_sub(1)?.checked_mul(pitch)?.checked_add(address)?;
        let last = last_row.checked_add(width.checked_sub(1)?)?;
        // If rows are this close, they touch every line.
        if rows == 1 || pitch < width.saturating_add(LINE_BYTES) {
            let whole = last - address;
            return Some(Written { address, width: whole.checked_add(1)?, rows: 1, pitch: 0, last });
        }
        Some(Written { address, width, rows, pitch, last })
    }

    /// Returns the number of lines; some lines may be counted twice.
    pub fn line_count(&self) -> u64 {
        self.rows.saturating_mul(self.width / LINE_BYTES + 2)
    }

    /// Returns the lines in order. If there are more than `most`, returns at least the last `most`, and not many more.
    pub fn last_lines(&self, most: u64) -> impl Iterator<Item = u64> + use<> {
        let Written { address, width, rows, pitch, .. } = *self;
        // Rows that are far apart share no line.
        let in_row = (width / LINE_BYTES).max(1);
        let needed = if in_row >= most { 1 } else { (most / in_row).saturating_add(2) };
        (rows - rows.min(needed)..rows).flat_map(move |row| {
            let first = address + row * pitch;
            let last = (first + (width - 1)) / LINE_BYTES;
            (first / LINE_BYTES).max(last.saturating_sub(most))..=last
        })
    }

    /// Returns whether a byte of the line was written.
    pub fn covers(&self, line: u64) -> bool {
        let Some(first) = line.checked_mul(LINE_BYTES) else { return false };
        let last = first.saturating_add(LINE_BYTES - 1);
        if last < self.address || first > self.last {
            return false;
        }
        if self.rows == 1 || first <= self.address {
            return true;
        }
        let into = (first - self.address) % self.pitch;
        // The line's first byte is in a row, or less than a line before the next row. The last row has no next row.
        into < self.width || self.pitch - into < LINE_BYTES && first + (self.pitch - into) <= self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn lines(address: u64, width: u64, rows: u64, pitch: u64) -> BTreeSet<u64> {
        let row = |row| (address + row * pitch) / LINE_BYTES..=(address + row * pitch + width - 1) / LINE_BYTES;
        (0..rows).flat_map(row).collect()
    }

    proptest! {
        #[test]
        fn rows_are_their_lines(
            address in 0u64..2000, width in 1u64..700, rows in 1u64..20, pitch in 0u64..2000, most in 1u64..50,
        ) {
            let written = Written::new(address, width, rows, pitch).unwrap();
            let mut wanted = lines(address, width, rows, pitch);
            if rows > 1 && pitch < width + LINE_BYTES {
                // Rows that overlap or nearly touch form one contiguous range.
                wanted = (*wanted.first().unwrap()..=*wanted.last().unwrap()).collect();
            }
            let got: Vec<u64> = written.last_lines(u64::MAX).collect();
            prop_assert_eq!(&got.iter().copied().collect::<BTreeSet<_>>(), &wanted);
            prop_assert!(written.line_count() >= got.len() as u64);
            for line in 0..=wanted.last().unwrap() + 2 {
                prop_assert_eq!(written.covers(line), wanted.contains(&line), "line {}", line);
            }
            let last: Vec<u64> = written.last_lines(most).collect();
            prop_assert!(got.ends_with(&last));
            prop_assert!(last.len() as u64 >= most.min(got.len() as u64));
            prop_assert!(last.len() as u64 <= 4 * most + 8);
        }
    }

    #[test]
    fn impossible_extents_are_none() {
        assert_eq!(Written::new(0, 0, 1, 0), None);
        assert_eq!(Written::new(0, 1, 0, 0), None);
        assert_eq!(Written::new(u64::MAX, 2, 1, 0), None);
        assert_eq!(Written::new(1, 8, u64::MAX, u64::MAX), None);
        assert_eq!(Written::new(0, u64::MAX, 2, u64::MAX), None);
        let huge = Written::new(1 << 44, 1 << 20, 1 << 40, 1 << 22).unwrap();
        assert!(huge.last_lines(1000).count() < 1 << 16);
    }
}
