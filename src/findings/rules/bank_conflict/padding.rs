//! Padding that keeps lanes in banks of their own: tried on the worst request, and counted again.

use crate::geometry::{BankRules, Banks, Width};
use crate::metrics::{WavefrontMemo, wavefronts};
use crate::profile::model::BankConflict;
use warpline_format::access::{Addresses, Space};

/// The fewest elements that rows of this length are to be padded by so that the example needs no passes beyond the ideal ones,
/// or at most an eighth of those it takes, and other examples of the array as few as can be: the row's length in bytes, the elements, and
/// the passes then.
pub(super) fn padding(
    example: &BankConflict,
    peers: &[&BankConflict],
    row: u64,
    most: u64,
    banks: Banks,
) -> Option<(u64, u64, u32)> {
    let element = u64::from(example.bytes.max(1));
    if row < 2 * element || !row.is_multiple_of(element) {
        return None;
    }
    let tried = (1..=most).map(|elements| {
        let padded = |address: u64| address + address / row * elements * element;
        let others = peers.iter().map(|peer| passes(peer, banks, padded)).fold(0, u32::saturating_add);
        (passes(example, banks, padded), others, elements)
    });
    let (passes, _, elements) = tried.min()?;
    (passes <= example.ideal.max(example.passes / 8)).then_some((row, elements, passes))
}

/// Passes of the example with an element of padding behind all banks' words, if that cures most of the conflict.
pub(super) fn behind_each_turn(example: &BankConflict, banks: Banks) -> Option<u32> {
    let turn = u64::from(banks.pass_bytes());
    if u64::from(example.bytes) >= turn {
        return None;
    }
    let passes = passes(example, banks, |address| address + address / turn * u64::from(example.bytes));
    (passes <= example.ideal.max(example.passes / 4)).then_some(passes)
}

/// Padding behind all banks' words, in words, and the passes of the example with it.
pub(super) fn padded_turns(example: &BankConflict, banks: Banks) -> Option<(String, u32)> {
    let turn = u64::from(banks.pass_bytes()) / u64::from(example.bytes.max(1));
    let passes = behind_each_turn(example, banks)?;
    Some((format!("leave an element of padding behind every {turn} (index i becomes i + i / {turn})"), passes))
}

/// Passes of the example, if its addresses were these.
pub(super) fn passes(example: &BankConflict, banks: Banks, place: impl Fn(u64) -> u64) -> u32 {
    let bytes: Vec<u8> = example.lanes.iter().flat_map(|&(_, address)| place(address).to_le_bytes()).collect();
    let mask = example.lanes.iter().fold(0u32, |mask, &(lane, _)| mask | 1u32.checked_shl(lane).unwrap_or(0));
    if mask.count_ones() as usize != example.lanes.len() || mask == 0 {
        return u32::MAX;
    }
    let access =
        warpline_format::access::Access { site: 0, space: Space::Shared, mask, addresses: Addresses::Full(&bytes) };
    let rules = BankRules { shared: banks, data: None };
    let width = Width::solid(example.bytes.clamp(1, 64));
    wavefronts(&access, width, &rules, &mut WavefrontMemo::default(), &mut Vec::new(), None).passes
}

/// Passes of the example's words, each for itself, with a word of padding behind each lane's row, where the compiler has joined neighbouring words
/// to one access; `None` where they are no fewer.
pub(super) fn padded_by_words(example: &BankConflict, row: u64, banks: Banks) -> Option<u32> {
    let word = u64::from(super::WORD_BYTES);
    if u64::from(example.bytes) <= word || row <= u64::from(example.bytes) || !row.is_multiple_of(word) {
        return None;
    }
    let words = u64::from(example.bytes) / word;
    let single = BankConflict { bytes: super::WORD_BYTES, ..example.clone() };
    let each = (0..words).map(|at| passes(&single, banks, |address| address + address / row * word + at * word));
    let all = each.fold(0, u32::saturating_add);
    (all <= example.ideal.max(example.passes / 2)).then_some(all)
}
