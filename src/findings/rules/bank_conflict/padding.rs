//! Padding that keeps lanes in banks of their own: tried on the worst request, and counted again.

use std::collections::BTreeMap;

use super::super::super::words;
use crate::geometry::{BankRules, Banks, Width};
use crate::metrics::{WavefrontMemo, wavefronts};
use crate::profile::model::BankConflict;
use warpline_format::access::{Addresses, Space};
use warpline_format::site_table::Op;

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

/// The same for rows of which a warp has several, each of the example's lanes in the row that the lanes before it lead to: addresses are known but for where rows begin.
pub(super) fn padding_of_rows(
    example: &BankConflict,
    peers: &[&BankConflict],
    row: u64,
    width: u32,
    banks: Banks,
) -> Option<(u64, u64, u32)> {
    let element = u64::from(example.bytes.max(1));
    let own = lanes_in_rows(example, row, width)?;
    let peers: Vec<(&BankConflict, BTreeMap<u64, u64>)> =
        peers.iter().filter_map(|peer| Some((*peer, lanes_in_rows(peer, row, width)?))).collect();
    let padded = |example: &BankConflict, rows: &BTreeMap<u64, u64>, elements: u64| {
        passes(example, banks, |address| address + rows.get(&address).copied().unwrap_or(0) * elements * element)
    };
    let tried = (1..=super::MOST_ROW_PADDING).map(|elements| {
        let others = peers.iter().map(|(peer, rows)| padded(peer, rows, elements)).fold(0, u32::saturating_add);
        (padded(example, &own, elements), others, elements)
    });
    let (passes, _, elements) = tried.min()?;
    (passes <= example.ideal.max(example.passes / 8)).then_some((row, elements, passes))
}

/// Rows of the example's addresses, from the first one on, where blocks are so wide.
fn lanes_in_rows(example: &BankConflict, row: u64, width: u32) -> Option<BTreeMap<u64, u64>> {
    let (element, row) = (i64::from(example.bytes), i64::try_from(row).ok().filter(|&row| row > 0)?);
    let mut number = 0i64;
    let mut numbers = vec![(example.lanes.first()?.1, 0i64)];
    for pair in example.lanes.windows(2) {
        let [(before, from), (lane, to)] = pair else { continue };
        let apart = (*to as i64).wrapping_sub(*from as i64);
        let beside = apart - element * i64::from(lane - before);
        // The first lane of a row of the block lies where the last one's row began.
        let below = apart - element * (i64::from(lane % width.max(1)) - i64::from(before % width.max(1)));
        number += [beside, below].into_iter().find(|bytes| bytes % row == 0)? / row;
        numbers.push((*to, number));
    }
    let first = numbers.iter().map(|(_, number)| *number).min()?;
    Some(numbers.into_iter().map(|(address, number)| (address, (number - first).unsigned_abs())).collect())
}

/// Padding behind all banks' words.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// Elements of the array between two pieces of padding.
    turn: u64,
    /// Elements of padding.
    elements: u64,
    /// Passes of the example with it.
    pub passes: u32,
}

impl Turns {
    /// "an element of padding behind every 32".
    pub(super) fn padding(&self) -> String {
        let padding = if self.elements == 1 {
            "an element".to_owned()
        } else {
            words::several(self.elements, "element", "elements")
        };
        format!("{padding} of padding behind every {}", self.turn)
    }

    /// What becomes of an index.
    pub(super) fn index(&self) -> String {
        let by = if self.elements == 1 { String::new() } else { format!(" * {}", self.elements) };
        format!("index i becomes i + i / {}{by}", self.turn)
    }
}

/// Padding behind all banks' words that cures most of the conflict: an element, or as many as a bank's word has, where these are narrower. Of several the one by
/// which other examples of the array take fewest passes, too.
pub(super) fn behind_each_turn(example: &BankConflict, peers: &[&BankConflict], banks: Banks) -> Option<Turns> {
    let (turn, element) = (u64::from(banks.pass_bytes()), u64::from(example.bytes.max(1)));
    if element >= turn {
        return None;
    }
    let tried = (1..=(u64::from(super::WORD_BYTES) / element).max(1)).map(|elements| {
        let padded = |address: u64| address + address / turn * elements * element;
        let alike = peers.iter().filter(|peer| peer.bytes == example.bytes);
        let others = alike.map(|peer| passes(peer, banks, padded)).fold(0, u32::saturating_add);
        (passes(example, banks, padded), others, elements)
    });
    let (passes, _, elements) = tried.min()?;
    (passes <= example.ideal.max(example.passes / 4)).then_some(Turns { turn: turn / element, elements, passes })
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
    // What is no load has banks that merge nothing.
    wavefronts(&access, width, Op::Load, &rules, &mut WavefrontMemo::default(), &mut Vec::new(), None).passes
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
