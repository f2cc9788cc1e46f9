//! Padding that places lanes in different banks. The padding is applied to the worst request, whose passes are counted
//! again.

use super::super::thresholds::banks::*;
use warpline_format::access::{Addresses, Space};
use warpline_format::site_table::Op;
use warpline_profile::model::BankConflict;
use warpline_simulator::geometry::{BankRules, Banks, Width};
use warpline_simulator::metrics::{WavefrontMemo, wavefronts};

/// Padding elements after each row of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding {
    /// Number of bytes per row.
    pub row: u64,
    /// Number of bytes per element.
    pub element: u64,
    /// Number of padding elements.
    pub elements: u64,
    /// Number of passes of the request with the padding.
    pub passes: u32,
}

/// Returns the best padding of up to `most` elements after rows of this length, if it leaves no or few conflicts. Of
/// equally good paddings, returns the one with the fewest passes for other requests to the array.
pub fn of_rows(request: &BankConflict, others: &[&BankConflict], row: u64, most: u64, banks: Banks) -> Option<Padding> {
    let is_row = row >= 2 * u64::from(request.bytes.max(1));
    of_periods(request, others, row, most, banks).filter(|padding| is_row && padding.leaves(request, LEFT_OF_ROWS))
}

/// Returns the best padding after each sequence of words that covers all banks once, independent of rows. The padding
/// is one element, or the elements of one word.
pub fn of_bank_cycles(request: &BankConflict, others: &[&BankConflict], banks: Banks) -> Option<Padding> {
    let alike: Vec<&BankConflict> = others.iter().copied().filter(|other| other.bytes == request.bytes).collect();
    let most = u64::from(WORD_BYTES / request.bytes.max(1)).max(1);
    let padding = of_periods(request, &alike, banks.pass_bytes().into(), most, banks)?;
    padding.leaves(request, LEFT_OF_CYCLES).then_some(padding)
}

fn of_periods(request: &BankConflict, others: &[&BankConflict], row: u64, most: u64, banks: Banks) -> Option<Padding> {
    let element = u64::from(request.bytes.max(1));
    if row <= element || !row.is_multiple_of(element) {
        return None;
    }
    let tried = (1..=most).map(|elements| {
        // Addresses in a profile can be arbitrary numbers, so the sum may wrap around.
        let padded = |address: u64| address.wrapping_add((address / row).wrapping_mul(elements * element));
        let of_others = others.iter().map(|other| passes(other, banks, padded)).fold(0, u32::saturating_add);
        (passes(request, banks, padded), of_others, elements)
    });
    let (passes, _, elements) = tried.min()?;
    Some(Padding { row, element, elements, passes })
}

impl Padding {
    /// Returns whether no conflicts are left, or at most one `part`-th of the passes.
    fn leaves(&self, request: &BankConflict, part: u32) -> bool {
        self.passes <= request.ideal.max(request.passes / part)
    }

    /// Returns the number of elements per row.
    pub fn period(&self) -> u64 {
        self.row / self.element
    }
}

/// Returns the number of passes of a request with its addresses transformed by `place`.
pub fn passes(request: &BankConflict, banks: Banks, place: impl Fn(u64) -> u64) -> u32 {
    let bytes: Vec<u8> = request.lanes.iter().flat_map(|&(_, address)| place(address).to_le_bytes()).collect();
    let mask = request.lanes.iter().fold(0u32, |mask, &(lane, _)| mask | 1u32.checked_shl(lane).unwrap_or(0));
    if mask.count_ones() as usize != request.lanes.len() || mask == 0 {
        return u32::MAX;
    }
    let access =
        warpline_format::access::Access { site: 0, space: Space::Shared, mask, addresses: Addresses::Full(&bytes) };
    let rules = BankRules { shared: banks, data: None };
    let width = Width::solid(request.bytes.clamp(1, 64));
    // Only loads merge accesses to the same word.
    wavefronts(&access, width, Op::Load, &rules, &mut WavefrontMemo::default(), &mut Vec::new(), None).passes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(bytes: u32, apart: u64) -> BankConflict {
        let lanes = (0..32).map(|lane| (lane, u64::from(lane).wrapping_mul(apart))).collect();
        BankConflict { passes: 32, ideal: 1, bytes, lanes }
    }

    #[test]
    fn a_word_of_padding_spreads_a_column() {
        let padding = of_rows(&column(4, 128), &[], 128, 4, Banks::USUAL).expect("a padding");
        assert_eq!((padding.period(), padding.elements, padding.passes), (32, 1, 1));
        let padding = of_bank_cycles(&column(2, 128), &[], Banks::USUAL).expect("a padding");
        assert_eq!((padding.period(), padding.elements, padding.passes), (64, 2, 1));
    }

    #[test]
    fn addresses_may_be_any_numbers() {
        let wild = BankConflict { lanes: vec![(0, u64::MAX), (1, u64::MAX - 4096)], ..column(4, 128) };
        of_rows(&wild, &[&wild], 128, 16, Banks::USUAL);
        of_rows(&wild, &[], u64::MAX - 3, 16, Banks::USUAL);
        of_bank_cycles(&column(16, u64::MAX / 3), &[&wild], Banks::USUAL);
    }
}
