//! The inputs that a launch provides: its shape and its arguments.

use std::collections::BTreeMap;

use super::form::THREADS;

/// A launch, which need not have been executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Threads per block.
    pub block: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Sizes of the threads' indices: those of the block, or of the digits that thread numbers are split into.
    pub indices: [u32; THREADS],
    /// Arguments by parameter and offset. Values are zero-extended; the value of a pointer is its device address.
    pub arguments: BTreeMap<(u32, u32), u64>,
}

impl Launch {
    /// Creates a launch whose thread indices are those of its blocks.
    pub fn new(block: [u32; 3], grid: [u32; 3], arguments: BTreeMap<(u32, u32), u64>) -> Launch {
        let indices = std::array::from_fn(|index| block.get(index).copied().unwrap_or(1));
        Launch { block, grid, indices, arguments }
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns the number of blocks in the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&size| u64::from(size)).product()
    }

    /// Returns the `blockIdx` of the block with a linear number.
    pub fn place(&self, linear: u64) -> [i64; 3] {
        let [width, height, _] = self.grid.map(u64::from);
        [linear % width, linear / width % height, linear / width / height].map(|at| at as i64)
    }

    /// Returns the number of warps per block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(32)
    }

    /// Returns the indices of the thread with this number in the block.
    pub fn thread(&self, number: u32) -> [i64; THREADS] {
        let mut found = [0; THREADS];
        let mut rest = number;
        // Values beyond the size of the last used index do not belong to a thread.
        let last = self.indices.iter().rposition(|&size| size > 1).unwrap_or(0);
        for (at, &size) in found.iter_mut().zip(&self.indices[..last]) {
            *at = i64::from(rest % size);
            rest /= size;
        }
        found[last] = i64::from(rest);
        found
    }

    /// Advances the indices by one row: as many threads as the first index has values.
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
