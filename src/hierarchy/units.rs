//! Sectors of 32 bytes as the lookup units of a cache: 32, 64 or 128 bytes.

/// Units that hold one of the sectors.
#[inline]
pub(super) fn collapse(sectors: u8, unit: u32) -> u8 {
    match unit {
        32 => sectors,
        64 => u8::from(sectors & 3 != 0) | u8::from(sectors & 12 != 0) << 1,
        _ => u8::from(sectors != 0),
    }
}

/// All sectors of the units.
#[inline]
pub(super) fn expand(units: u8, unit: u32) -> u8 {
    match unit {
        32 => units,
        64 => ((units & 1) * 3) | ((units >> 1 & 1) * 12),
        _ => (units & 1) * 15,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
