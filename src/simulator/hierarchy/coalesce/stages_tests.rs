use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn pieces(lines: &BTreeSet<u64>) -> Vec<Piece> {
    lines.iter().map(|&line| Piece { line, sectors: 1, bytes: 1 }).collect()
}

/// Computes the bank digit by digit, as a reference.
fn slow_bank(line: u64, banks: u64) -> u64 {
    let (mut rest, mut bank) = (line, 0);
    while rest > 0 {
        bank ^= rest % banks;
        rest /= banks;
    }
    bank
}

#[test]
fn neighbouring_lines_share_passes() {
    // Lines 0 to 3 are in banks 0 to 3. Line 4 (bit groups 1 and 0) and line 1 are both in bank 1.
    let of = |lines: &[u64]| tag_passes(&pieces(&lines.iter().copied().collect()), 4);
    assert_eq!(of(&[]), 0);
    assert_eq!(of(&[7]), 1);
    assert_eq!(of(&[0, 1, 2, 3]), 1);
    assert_eq!(of(&[1, 4]), 2);
    assert_eq!(of(&[0, 5, 10, 15]), 4);
    assert_eq!(of(&[0, 4, 8, 12]), 1);
}

proptest! {
    #[test]
    fn agrees_with_digits(lines in prop::collection::btree_set(any::<u64>().prop_map(|line| line >> 7), 0..40), log in 0u32..7) {
        let mut by_bank: BTreeMap<u64, u32> = BTreeMap::new();
        for &line in &lines {
            *by_bank.entry(if log == 0 { 0 } else { slow_bank(line, 1 << log) }).or_default() += 1;
        }
        let want = by_bank.values().copied().max().unwrap_or(0);
        prop_assert_eq!(tag_passes(&pieces(&lines), 1 << log), want);
    }
}
