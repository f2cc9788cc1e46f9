//! Sectors of which only some bytes are known.

use rustc_hash::FxHashMap;

/// Bytes written to sectors that are not whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial(FxHashMap<u64, u32>);

impl Partial {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes bytes written to a sector of a line that cannot be read. Whether some of them were known before, and
    /// whether all of the sector's are now; what is whole is forgotten here.
    pub(crate) fn write(&mut self, key: u64, sector: u32, bytes: u32) -> (bool, bool) {
        let place = key << 2 | u64::from(sector);
        if bytes == u32::MAX {
            return (!self.0.is_empty() && self.0.remove(&place).is_some(), true);
        }
        let known = self.0.entry(place).or_default();
        let before = *known != 0;
        *known |= bytes;
        let whole = *known == u32::MAX;
        if whole {
            self.0.remove(&place);
        }
        (before, whole)
    }

    /// Takes out what is known of some sectors of a line: which, and calls `f` with each one's bytes.
    #[inline(always)]
    pub(crate) fn take(&mut self, key: u64, sectors: u8, mut f: impl FnMut(u32, u32)) -> u8 {
        if self.0.is_empty() { 0 } else { self.take_slowly(key, sectors, &mut f) }
    }

    #[inline(never)]
    fn take_slowly(&mut self, key: u64, sectors: u8, f: &mut dyn FnMut(u32, u32)) -> u8 {
        let mut taken = 0;
        for sector in 0..4 {
            if sectors >> sector & 1 == 1
                && let Some(bytes) = self.0.remove(&(key << 2 | u64::from(sector)))
            {
                taken |= 1 << sector;
                f(sector, bytes);
            }
        }
        taken
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
