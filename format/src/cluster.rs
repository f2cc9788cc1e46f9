//! Clusters of thread blocks: the order in which blocks start, and the blocks of a cluster.

/// Maximum number of blocks of a cluster.
pub const MOST_BLOCKS: u32 = 16;

/// Returns the number of blocks in a cluster of this shape.
pub const fn blocks(cluster: [u32; 3]) -> u64 {
    cluster[0] as u64 * cluster[1] as u64 * cluster[2] as u64
}

/// Returns the linear index of the block that starts at position `sequence`. The blocks of a cluster start together,
/// with x fastest. The grid must be a multiple of the cluster in each dimension.
pub fn block_at(grid: [u32; 3], cluster: [u32; 3], sequence: u64) -> u64 {
    if cluster[1] * cluster[2] == 1 {
        return sequence;
    }
    let split =
        |number: u64, shape: [u64; 3]| [number % shape[0], number / shape[0] % shape[1], number / shape[0] / shape[1]];
    let size = blocks(cluster).max(1);
    let [across, down, deep] = [0, 1, 2].map(|axis| u64::from(grid[axis] / cluster[axis].max(1)).max(1));
    let first = split(sequence / size, [across, down, deep]);
    let inside = split(sequence % size, cluster.map(|size| u64::from(size.max(1))));
    let [x, y, z] = [0, 1, 2].map(|axis| first[axis] * u64::from(cluster[axis]) + inside[axis]);
    x + u64::from(grid[0]) * (y + u64::from(grid[1]) * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_starts_once_beside_its_cluster() {
        for (grid, cluster) in [([8, 1, 1], [4, 1, 1]), ([4, 6, 2], [2, 3, 2]), ([3, 4, 1], [1, 2, 1])] {
            let count = blocks(grid);
            let order: Vec<u64> = (0..count).map(|sequence| block_at(grid, cluster, sequence)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..count).collect::<Vec<_>>());
            let home = |block: u64| {
                let (x, y) = (u64::from(grid[0]), u64::from(grid[1]));
                [block % x, block / x % y, block / x / y]
                    .iter()
                    .zip(cluster)
                    .map(|(at, size)| at / u64::from(size))
                    .collect::<Vec<_>>()
            };
            for members in order.chunks(blocks(cluster) as usize) {
                assert!(members.iter().all(|block| home(*block) == home(members[0])), "{grid:?} {cluster:?}");
            }
        }
    }
}
