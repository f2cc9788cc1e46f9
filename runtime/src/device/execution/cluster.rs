//! Clusters of blocks: where the shared memory of each lies, and their barrier.

use super::lanes::lanes;
use super::scheduled::warp_of;
use super::warp::{Pause, Warp, pause};
use warpline_format::abi::{WarpContext, cluster_barrier};

/// The blocks of a cluster while they run.
#[derive(Debug)]
pub struct Cluster {
    /// Start of each block's shared memory, by rank.
    pub shared: Vec<u64>,
    /// Bytes of it that each block has.
    pub shared_bytes: u64,
    /// Blocks that have ended.
    pub ended: usize,
    /// Warps that are not over.
    unfinished: u32,
    /// Warps at the barrier.
    arrived: u32,
    /// Barriers that opened.
    opened: u64,
}

impl Cluster {
    /// A cluster of blocks of `warps` warps, of which none has started.
    pub fn new(blocks: usize, warps: u32, shared_bytes: u64) -> Cluster {
        let unfinished = blocks as u32 * warps;
        Cluster { shared: vec![0; blocks], shared_bytes, ended: 0, unfinished, arrived: 0, opened: 0 }
    }

    fn open(&mut self) {
        if self.arrived > 0 && self.arrived >= self.unfinished {
            self.arrived = 0;
            self.opened += 1;
        }
    }

    /// Removes a finished warp, so that no barrier waits for it.
    pub fn end_warp(&mut self) {
        self.unfinished = self.unfinished.saturating_sub(1);
        self.open();
    }

    /// Returns whether an access lies in the shared memory of a block.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.place(address).is_some_and(|(_, offset)| offset + bytes <= self.shared_bytes)
    }

    /// Rank of the block in whose shared memory an address lies, and how far from its start.
    pub fn place(&self, address: u64) -> Option<(usize, u64)> {
        let inside = |start: u64| address >= start && address - start < self.shared_bytes;
        self.shared.iter().position(|start| inside(*start)).map(|rank| (rank, address - self.shared[rank]))
    }
}

/// `barrier.cluster`: arrival, or the wait for it.
///
/// # Safety
/// Called by lowered code with its own context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_cluster_barrier(context: *mut WarpContext, action: u32) {
    // SAFETY: by the contract; a cluster outlives the warps of its blocks.
    unsafe {
        let warp: *mut Warp = warp_of(context);
        let Some(cluster) = (*warp).cluster.as_mut() else { return };
        if action == cluster_barrier::ARRIVE {
            (*warp).cluster_barrier = cluster.opened;
            cluster.arrived += 1;
            cluster.open();
            return;
        }
        // Other warps open it while this one pauses.
        loop {
            if (*(*warp).cluster).opened != (*warp).cluster_barrier {
                break;
            }
            pause(warp, Pause::Yield);
        }
        (*warp).cluster_barrier = u64::MAX;
    }
}

/// `mapa`: addresses of the same places in the shared memory of other blocks of the cluster; null for ranks that do not exist.
///
/// # Safety
/// See [`__wl_cluster_barrier`]; the arrays have 32 entries, of which the active ones are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_map_shared(
    context: *mut WarpContext,
    mask: u32,
    ranks: *const [u32; 32],
    addresses: *mut [u64; 32],
) {
    // SAFETY: by the contract.
    unsafe {
        let cluster = (*warp_of(context)).cluster.as_ref();
        for lane in lanes(mask) {
            let rank = (*ranks)[lane] as usize;
            let address = &mut (*addresses)[lane];
            *address = match cluster {
                Some(cluster) => {
                    // An address that was mapped before may be mapped again.
                    let (_, offset) =
                        cluster.place(*address).unwrap_or((0, address.wrapping_sub((*context).shared as u64)));
                    cluster.shared.get(rank).map_or(0, |start| start.wrapping_add(offset))
                }
                None if rank == 0 => *address,
                None => 0,
            };
        }
    }
}

/// `getctarank`: ranks of the blocks in whose shared memory addresses lie; 0 for others.
///
/// # Safety
/// See [`__wl_map_shared`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_shared_rank(
    context: *mut WarpContext,
    mask: u32,
    addresses: *const [u64; 32],
    ranks: *mut [u32; 32],
) {
    // SAFETY: by the contract.
    unsafe {
        let cluster = (*warp_of(context)).cluster.as_ref();
        for lane in lanes(mask) {
            let place = cluster.and_then(|cluster| cluster.place((*addresses)[lane]));
            (*ranks)[lane] = place.map_or(0, |(rank, _)| rank as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lie_in_blocks() {
        let mut cluster = Cluster::new(2, 1, 64);
        cluster.shared = vec![4096, 8192];
        assert_eq!(cluster.place(8192 + 63), Some((1, 63)));
        assert_eq!(cluster.place(4096 + 64), None);
    }

    #[test]
    fn warps_that_are_over_are_not_waited_for() {
        let mut cluster = Cluster::new(2, 2, 0);
        cluster.arrived = 3;
        cluster.open();
        assert_eq!(cluster.opened, 0);
        cluster.end_warp();
        assert_eq!((cluster.opened, cluster.arrived), (1, 0));
    }
}
