//! Sectors of which only some bytes have been written.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

/// Written bytes of partly written sectors: for each line, a mask for each of the four sectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Partial(FxHashMap<u64, [u32; 4]>);

impl Partial {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records bytes written to an invalid sector of a line. Returns whether some of them were known before, and
    /// whether the sector is now complete. The record of a complete sector is removed.
    pub(crate) fn write(&mut self, key: u64, sector: u32, bytes: u32) -> (bool, bool) {
        let sector = sector as usize & 3;
        let mut line = match self.0.entry(key) {
            Entry::Occupied(line) => line,
            Entry::Vacant(_) if bytes == u32::MAX => return (false, true),
            Entry::Vacant(place) => {
                place.insert([0; 4])[sector] = bytes;
                return (false, false);
            }
        };
        let known = line.get()[sector];
        let now = known | bytes;
        let whole = now == u32::MAX;
        line.get_mut()[sector] = if whole { 0 } else { now };
        if whole && *line.get() == [0; 4] {
            line.remove();
        }
        (known != 0, whole)
    }

    /// Removes the records of some sectors of a line. Calls `f` with each removed sector and its bytes.
    #[inline(always)]
    pub(crate) fn take(&mut self, key: u64, sectors: u8, mut f: impl FnMut(u32, u32)) -> u8 {
        if self.0.is_empty() { 0 } else { self.take_slowly(key, sectors, &mut f) }
    }

    #[inline(never)]
    fn take_slowly(&mut self, key: u64, sectors: u8, f: &mut dyn FnMut(u32, u32)) -> u8 {
        let Entry::Occupied(mut line) = self.0.entry(key) else { return 0 };
        let mut taken = 0;
        for (sector, bytes) in (0..).zip(line.get_mut()) {
            if sectors >> sector & 1 == 1 && *bytes != 0 {
                taken |= 1 << sector;
                f(sector, std::mem::take(bytes));
            }
        }
        if *line.get() == [0; 4] {
            line.remove();
        }
        taken
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
