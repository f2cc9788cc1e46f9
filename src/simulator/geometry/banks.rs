//! Banks of shared memory, and of the data stage of L1.

use serde::{Deserialize, Serialize};

/// Banks of shared memory or of a cache's data array. Consecutive words lie in consecutive banks; one pass accesses one
/// row of each bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Banks {
    /// Number of banks.
    pub banks: u32,
    /// Bytes of a row, which a bank delivers in one pass.
    pub bank_bytes: u32,
    /// Bytes of the words that lie in adjacent banks. They are smaller than a row in Kepler's 32-bit mode, where words
    /// `i` and `i + 32` of an aligned segment of 64 words share a row.
    pub word_bytes: u32,
    /// Whether loads of 8 and 16 bytes use groups of twice as many lanes if the lanes share addresses in pairs.
    #[serde(default)]
    pub merges_pairs: bool,
}

impl Banks {
    /// 32 banks of 4 bytes, as in shared memory of every compute capability except 3.x.
    pub const USUAL: Banks = Banks { banks: 32, bank_bytes: 4, word_bytes: 4, merges_pairs: false };

    /// Returns whether these are 32 banks of 4 bytes.
    pub fn are_usual(&self) -> bool {
        Banks { merges_pairs: false, ..*self } == Banks::USUAL
    }

    /// Returns the bytes of one row of all banks.
    pub fn pass_bytes(&self) -> u32 {
        self.banks * self.bank_bytes
    }
}

/// Banks of the memories whose passes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankRules {
    /// Shared memory.
    pub shared: Banks,
    /// Data stage of L1; `None` if its passes are not counted.
    pub data: Option<Banks>,
}

impl Default for BankRules {
    fn default() -> Self {
        BankRules { shared: Banks::USUAL, data: None }
    }
}

impl BankRules {
    /// Returns the period (a power of two) of the number of passes: requests to shared memory that differ only in a
    /// shift of all addresses by a multiple of it need the same number of passes.
    pub fn shared_period(&self) -> u32 {
        period(self.shared)
    }
}

/// Returns the period of one memory. A shift by whole words only renames the banks. If rows hold several words, the
/// shift must cover all banks.
pub(crate) fn period(banks: Banks) -> u32 {
    if banks.bank_bytes == banks.word_bytes { banks.word_bytes } else { banks.pass_bytes() }
}
