//! Counts the passes of a request through the stages of L1: first tags, then data.
//!
//! The data stage follows the rule for banks (see [`Banks`](crate::geometry::Banks)). The rule for the tag stage was
//! fitted to hardware counters of an A100 and verified on an H200: one pass looks up one line per tag bank, and the
//! bank of a line is the exclusive or of all bit groups of its number.

use super::piece::Piece;

/// Passes of a set of requests through the stages of L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounts {
    /// Passes through the data stage.
    pub data: u64,
    /// Passes through the data stage if all words were in different banks.
    pub ideal_data: u64,
    /// Passes through the tag stage.
    pub tag: u64,
    /// 4-byte words per lane that the load/store units move; 1 for a request of 4 bytes per lane.
    pub words: u64,
}

impl StageCounts {
    /// Adds another sum.
    pub fn add(&mut self, other: &StageCounts) {
        self.data += other.data;
        self.ideal_data += other.ideal_data;
        self.tag += other.tag;
        self.words += other.words;
    }
}

/// Returns the number of passes through a tag stage of `banks` banks (a power of two): the maximum number of lines in
/// one bank.
#[inline]
pub fn tag_passes(pieces: &[Piece], banks: u32) -> u32 {
    if pieces.len() <= 1 || banks <= 1 {
        return pieces.len() as u32;
    }
    let mut lines = [0u32; 64];
    let mut most = 0;
    for piece in pieces {
        let count = &mut lines[bank_of(piece.line, banks) as usize];
        *count += 1;
        most = most.max(*count);
    }
    most
}

/// Returns the bank of a line: the exclusive or of the bit groups of its number, each as wide as a bank number.
#[inline]
fn bank_of(line: u64, banks: u32) -> u32 {
    let bits = banks.trailing_zeros().clamp(1, 6);
    let mut folded = line;
    if bits.is_power_of_two() {
        let mut shift = 32;
        while shift >= bits {
            folded ^= folded >> shift;
            shift /= 2;
        }
    } else {
        let mut rest = line >> bits;
        while rest != 0 {
            folded ^= rest;
            rest >>= bits;
        }
    }
    folded as u32 & (banks - 1)
}

#[cfg(test)]
#[path = "stages_tests.rs"]
mod tests;
