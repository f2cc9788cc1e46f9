//! Banks of shared memory, and of the data stage of L1.

use serde::{Deserialize, Serialize};

/// Banks that shared memory or a cache's data array has. Words go round the banks; a pass takes one
/// row of each bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banks {
    /// How many.
    pub banks: u32,
    /// Bytes of a row: what a bank delivers in a pass.
    pub bank_bytes: u32,
    /// Bytes of the words that lie in neighbouring banks. Smaller than a row in Kepler's 32-bit mode,
    /// where words `i` and `i + 32` of an aligned segment of 64 share a row.
    pub word_bytes: u32,
    /// Whether loads of 8 and 16 bytes whose lanes share addresses in pairs are served in groups of lanes twice as large.
    #[serde(default)]
    pub merges_pairs: bool,
}

impl Banks {
    /// 32 banks of 4 bytes: shared memory of every compute capability but 3.x.
    pub const USUAL: Banks = Banks { banks: 32, bank_bytes: 4, word_bytes: 4, merges_pairs: false };

    /// Returns whether these are 32 banks of 4 bytes.
    pub fn are_usual(&self) -> bool {
        Banks { merges_pairs: false, ..*self } == Banks::USUAL
    }

    /// Bytes of one row of every bank.
    pub fn pass_bytes(&self) -> u32 {
        self.banks * self.bank_bytes
    }
}

/// Banks of the memories that requests are counted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankRules {
    /// Shared memory.
    pub shared: Banks,
    /// Data stage of L1, where it is to be counted.
    pub data: Option<Banks>,
}

impl Default for BankRules {
    fn default() -> Self {
        BankRules { shared: Banks::USUAL, data: None }
    }
}

impl BankRules {
    /// Requests to shared memory that are alike but for a shift of all addresses by a multiple of this (a power of two)
    /// need as many passes.
    pub fn shared_period(&self) -> u32 {
        period(self.shared)
    }
}

/// Returns a shift by whole words only renames the banks; where rows hold several words, one by whole rounds does.
pub(crate) fn period(banks: Banks) -> u32 {
    if banks.bank_bytes == banks.word_bytes { banks.word_bytes } else { banks.pass_bytes() }
}
