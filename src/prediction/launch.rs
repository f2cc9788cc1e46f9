//! What a launch gives: its shape and arguments.

use std::collections::BTreeMap;

/// A launch that may never have been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// Arguments by parameter and offset: value, zero-extended; a pointer's is its device address.
    pub arguments: BTreeMap<(u32, u32), u64>,
}

impl Launch {
    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&size| u64::from(size)).product()
    }

    /// `blockIdx` of a block, by its number in the grid.
    pub fn place(&self, linear: u64) -> [i64; 3] {
        let [width, height, _] = self.grid.map(u64::from);
        [linear % width, linear / width % height, linear / width / height].map(|at| at as i64)
    }

    /// Warps of a block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// `threadIdx` of a thread, by its number in the block.
    pub fn thread(&self, number: u32) -> [i64; 3] {
        let [x, y, _] = self.block;
        [number % x, number / x % y, number / x / y].map(i64::from)
    }
}
