//! Launches of which only a few blocks run, because only an estimate is requested.

use crate::modules::configuration::{Configuration, cluster_of};
use crate::modules::module::Member;
use crate::state::runtime::Runtime;
use std::collections::BTreeSet;
use warpline_format::abi::kernel_flags;
use warpline_format::cluster;

/// The steps between the blocks in each dimension, as fractions of the grid. They are powers of the inverse of the
/// plastic number, whose multiples are distributed evenly for any number of blocks.
const STEPS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_970_3];

/// The blocks of a launch that run.
pub(crate) struct Sample {
    /// One of this number of blocks runs.
    pub(crate) share: u64,
    /// The numbers of the blocks.
    pub(crate) blocks: BTreeSet<u64>,
}

impl Runtime {
    /// Returns the blocks of a launch that run, if not all blocks run. All blocks run if a block may wait for others,
    /// or if blocks share work dynamically.
    pub(crate) fn sample(&self, member: Member, configuration: &Configuration) -> Option<Sample> {
        let kernel = &self.modules[member.module].kernels()[member.index];
        let flags = kernel.flags;
        let clustered = cluster::blocks(cluster_of(kernel, configuration)) > 1;
        let dependent = flags & (kernel_flags::MAY_WAIT | kernel_flags::EXCHANGES_VALUES) != 0;
        if self.most_blocks == 0 || configuration.cooperative || clustered || dependent {
            return None;
        }
        spread(configuration.grid, self.most_blocks)
    }
}

/// Selects at most `most` blocks of a grid, distributed over all its dimensions. This is needed because the work of a
/// block often depends on its position, as in causal attention. Returns `None` if the grid does not have more blocks.
fn spread(grid: [u32; 3], most: u64) -> Option<Sample> {
    let [x, y, z] = grid.map(u64::from);
    let all = x.saturating_mul(y).saturating_mul(z);
    if most == 0 || all <= most {
        return None;
    }
    let share = all.div_ceil(most);
    let count = all.div_ceil(share);
    let at = |number: u64, dimension: usize, size: u64| {
        let place = (0.5 + number as f64 * STEPS[dimension]).fract();
        ((place * size as f64) as u64).min(size - 1)
    };
    let mut blocks = BTreeSet::new();
    for number in 0..count {
        let block = at(number, 0, x) + x * (at(number, 1, y) + y * at(number, 2, z));
        // Selects the next free block. There is one, because the grid has more blocks than are selected.
        let free = (block..all).chain(0..block).find(|one| !blocks.contains(one));
        blocks.extend(free);
    }
    Some(Sample { share, blocks })
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn small_grids_run_whole() {
        assert!(spread([4, 1, 1], 4).is_none());
        assert!(spread([1, 2, 2], 4).is_none());
        assert!(spread([1000, 1, 1], 0).is_none());
    }

    #[test]
    fn as_many_blocks_are_chosen_as_the_share_says() {
        for grid in [[5, 1, 1], [7, 3, 1], [128, 128, 1], [1, 1, 9], [2, 2, 2], [65_535, 3, 2]] {
            for most in [1, 2, 3, 4, 8] {
                let all: u64 = grid.iter().map(|&size| u64::from(size)).product();
                let Some(sample) = spread(grid, most) else {
                    assert!(all <= most);
                    continue;
                };
                assert_eq!(sample.blocks.len() as u64, all.div_ceil(sample.share), "{grid:?}, {most}");
                assert!(sample.blocks.len() as u64 <= most);
                assert!(sample.blocks.iter().all(|&block| block < all));
            }
        }
    }

    #[test]
    fn blocks_are_spread_over_each_dimension() {
        // As in causal attention, the work grows with x. The average position of four blocks is within 5 % of the
        // middle.
        let sample = spread([128, 128, 1], 4).unwrap();
        let mean = sample.blocks.iter().map(|block| block % 128).sum::<u64>() as f64 / sample.blocks.len() as f64;
        assert!((mean / 128.0 - 0.5).abs() < 0.05, "{mean}");
        let rows: std::collections::BTreeSet<u64> = sample.blocks.iter().map(|block| block / 128).collect();
        assert_eq!(rows.len(), 4);
    }
}
