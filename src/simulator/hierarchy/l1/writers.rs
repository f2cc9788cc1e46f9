//! Records which requests wrote the dirty sectors of L1.
//!
//! A line is evicted because another request needs its space, possibly for a different allocation. The write-back is
//! attributed to the request that made the data dirty.

use crate::geometry::sectors::Units;

/// Lines per part of the table. A part is allocated when one of its lines is first written.
const PART_LINES: usize = 2048;

/// The cell of the last write to each sector, by dense line number. Only entries of dirty sectors are valid.
#[derive(Default)]
pub(crate) struct Writers(Vec<Option<Box<[[u32; 4]; PART_LINES]>>>);

impl Writers {
    /// Records that a request of a cell wrote these sectors.
    #[inline(always)]
    pub(crate) fn note(&mut self, number: u32, sectors: u8, cell: u32) {
        let (part, line) = (number as usize / PART_LINES, number as usize % PART_LINES);
        let lines = match self.0.get_mut(part) {
            Some(Some(lines)) => lines,
            _ => self.make(part),
        };
        for (sector, writer) in lines[line].iter_mut().enumerate() {
            *writer = if sectors >> sector & 1 == 1 { cell } else { *writer };
        }
    }

    #[cold]
    fn make(&mut self, part: usize) -> &mut [[u32; 4]; PART_LINES] {
        if self.0.len() <= part {
            self.0.resize_with(part + 1, || None);
        }
        self.0[part].get_or_insert_with(|| Box::new([[0; 4]; PART_LINES]))
    }

    /// Groups written sectors by the cell that wrote them. Lookup units are not split, because one lookup is counted in
    /// one cell.
    #[inline(always)]
    pub(crate) fn divide(&self, number: u32, sectors: u8, units: Units, mut f: impl FnMut(u8, u32)) {
        let (part, line) = (number as usize / PART_LINES, number as usize % PART_LINES);
        let Some(Some(lines)) = self.0.get(part) else { return };
        let writers = &lines[line];
        let mut rest = sectors & 15;
        while rest != 0 {
            let cell = writers[rest.trailing_zeros() as usize & 3];
            let (mut here, mut left) = (0, rest);
            while left != 0 {
                let first = left.trailing_zeros();
                let unit = left & units.widen(1 << first);
                left &= !unit;
                here |= if writers[first as usize & 3] == cell { unit } else { 0 };
            }
            rest &= !here;
            f(here, cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(writers: &Writers, number: u32, sectors: u8, unit: u32) -> Vec<(u8, u32)> {
        let mut all = Vec::new();
        writers.divide(number, sectors, Units::new(unit), |sectors, cell| all.push((sectors, cell)));
        all
    }

    #[test]
    fn sectors_are_their_writers_and_lookups_stay_whole() {
        let mut writers = Writers::default();
        writers.note(5000, 0b1111, 7);
        writers.note(5000, 0b0110, 8);
        writers.note(5001, 0b1111, 9);
        assert_eq!(divided(&writers, 5000, 0b1111, 32), [(0b1001, 7), (0b0110, 8)]);
        assert_eq!(divided(&writers, 5000, 0b0010, 32), [(0b0010, 8)]);
        assert_eq!(divided(&writers, 5000, 0b1111, 64), [(0b0011, 7), (0b1100, 8)]);
        assert_eq!(divided(&writers, 5000, 0b1110, 128), [(0b1110, 8)]);
        assert_eq!(divided(&writers, 5001, 0b1111, 32), [(0b1111, 9)]);
        writers.note(5000, 0b1111, 4);
        assert_eq!(divided(&writers, 5000, 0b1111, 32), [(0b1111, 4)]);
        writers.note(5000, 0b0001, 5);
        assert_eq!(divided(&writers, 5000, 0b1111, 32), [(0b0001, 5), (0b1110, 4)]);
    }
}
