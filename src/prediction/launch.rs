//! What a launch gives: its shape and arguments.

use std::collections::BTreeMap;

use super::form::THREADS;

/// A launch that may never have been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks.
    pub grid: [u32; 3],
    /// Sizes of the threads' indices: those of the block, or those that its numbers are divided into.
    pub indices: [u32; THREADS],
    /// Arguments by parameter and offset: value, zero-extended; a pointer's is its device address.
    pub arguments: BTreeMap<(u32, u32), u64>,
}

impl Launch {
    /// A launch whose threads have the indices of their block.
    pub fn new(block: [u32; 3], grid: [u32; 3], arguments: BTreeMap<(u32, u32), u64>) -> Launch {
        let indices = std::array::from_fn(|index| block.get(index).copied().unwrap_or(1));
        Launch { block, grid, indices, arguments }
    }

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

    /// Returns the indices of a thread, by its number in the block.
    pub fn thread(&self, number: u32) -> [i64; THREADS] {
        let mut found = [0; THREADS];
        let mut rest = number;
        // What the last one that is used has no room for lies in no thread.
        let last = self.indices.iter().rposition(|&size| size > 1).unwrap_or(0);
        for (at, &size) in found.iter_mut().zip(&self.indices[..last]) {
            *at = i64::from(rest % size);
            rest /= size;
        }
        found[last] = i64::from(rest);
        found
    }

    /// The indices of as many threads on as the first index has values.
    #[inline(always)]
    pub fn next_row(&self, at: &mut [i64; THREADS]) {
        let last = self.indices.iter().rposition(|&size| size > 1).unwrap_or(0);
        if last == 0 {
            at[0] += i64::from(self.indices[0]);
        }
        for (axis, (at, &size)) in at.iter_mut().zip(&self.indices).enumerate().take(last + 1).skip(1) {
            *at += 1;
            if axis == last || *at < i64::from(size) {
                return;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_each_other() {
        for block in [[4, 3, 2], [8, 1, 1], [1, 5, 1], [1, 1, 3]] {
            let launch = Launch::new(block, [1; 3], BTreeMap::new());
            let mut at = launch.thread(0);
            for first in (0..launch.threads()).step_by(block[0] as usize) {
                assert_eq!(at, launch.thread(first), "{block:?}, {first}");
                launch.next_row(&mut at);
            }
        }
    }
}
