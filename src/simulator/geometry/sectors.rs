//! Sets of the four sectors of a line, as bit masks. Functions convert them to bytes and to the lookup units of a cache
//! (32, 64 or 128 bytes).

/// Returns the sectors with a byte in `bytes`.
#[cfg(test)]
pub(crate) fn sectors_of(bytes: u128) -> u8 {
    let (low, high) = (bytes as u64, (bytes >> 64) as u64);
    u8::from(low as u32 != 0)
        | u8::from(low >> 32 != 0) << 1
        | u8::from(high as u32 != 0) << 2
        | u8::from(high >> 32 != 0) << 3
}

/// Returns all bytes of the sectors.
#[inline]
pub(crate) fn bytes_of(sectors: u8) -> u128 {
    const NIBBLE: [u128; 16] = {
        let mut table = [0u128; 16];
        let mut index = 0;
        while index < 16 {
            let mut sector = 0;
            while sector < 4 {
                if index >> sector & 1 == 1 {
                    table[index] |= 0xffff_ffff << (32 * sector);
                }
                sector += 1;
            }
            index += 1;
        }
        table
    };
    NIBBLE[(sectors & 15) as usize]
}

/// Returns the units that contain at least one of the sectors.
#[inline]
pub(crate) fn collapse(sectors: u8, unit: u32) -> u8 {
    match unit {
        32 => sectors,
        64 => u8::from(sectors & 3 != 0) | u8::from(sectors & 12 != 0) << 1,
        _ => u8::from(sectors != 0),
    }
}

/// Returns all sectors of the units.
#[inline]
pub(crate) fn expand(units: u8, unit: u32) -> u8 {
    match unit {
        32 => units,
        64 => ((units & 1) * 3) | ((units >> 1 & 1) * 12),
        _ => (units & 1) * 15,
    }
}

/// Returns the number of sectors in a set of up to four.
#[inline(always)]
pub(crate) fn count(sectors: u8) -> u32 {
    (sectors & 15).count_ones()
}

/// Tables of [`collapse`] and [`expand`] for one unit size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    counts: [u8; 16],
    sectors: [u8; 16],
    widths: [u8; 16],
}

impl Units {
    /// Creates the tables for lookup units of `bytes` bytes.
    pub(crate) fn new(bytes: u32) -> Units {
        let all = |f: &dyn Fn(u8) -> u8| std::array::from_fn(|sectors| f(sectors as u8));
        let wide = |sectors| expand(collapse(sectors, bytes), bytes);
        Units {
            counts: all(&|sectors| collapse(sectors, bytes).count_ones() as u8),
            sectors: all(&wide),
            widths: all(&|sectors| wide(sectors).count_ones() as u8),
        }
    }

    /// Returns the number of units that contain at least one of the sectors.
    #[inline(always)]
    pub(crate) fn count(&self, sectors: u8) -> u32 {
        u32::from(self.counts[(sectors & 15) as usize])
    }

    /// Returns the total number of sectors in the units that contain at least one of the sectors.
    #[inline(always)]
    pub(crate) fn width(&self, sectors: u8) -> u32 {
        u32::from(self.widths[(sectors & 15) as usize])
    }

    /// Returns all sectors of the units that contain at least one of the sectors.
    #[inline(always)]
    pub(crate) fn widen(&self, sectors: u8) -> u8 {
        self.sectors[(sectors & 15) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_the_same() {
        for unit in [32, 64, 128] {
            let table = Units::new(unit);
            for sectors in 0..16u8 {
                assert_eq!(table.widen(sectors), expand(collapse(sectors, unit), unit));
                assert_eq!(table.count(sectors), collapse(sectors, unit).count_ones());
                assert_eq!(table.width(sectors), table.widen(sectors).count_ones());
                assert_eq!(count(sectors), sectors.count_ones());
            }
        }
    }

    #[test]
    fn expanding_covers_and_collapsing_undoes() {
        for unit in [32, 64, 128] {
            for sectors in 0..16 {
                let units = collapse(sectors, unit);
                assert_eq!(expand(units, unit) & sectors, sectors);
                assert_eq!(collapse(expand(units, unit), unit), units);
            }
        }
    }
}
