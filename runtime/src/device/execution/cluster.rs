//! Clusters of blocks: the positions of the blocks' shared memory, and the cluster barrier.

use super::lanes::lanes;
use super::scheduled::warp_of;
use super::warp::{Pause, Warp, pause};
use warpline_format::abi::{WarpContext, cluster_barrier};

/// A cluster's blocks while they run.
#[derive(Debug)]
pub struct Cluster {
    /// The start of each block's shared memory, indexed by rank.
    pub shared: Vec<u64>,
    /// The size of each block's shared memory in bytes.
    pub shared_bytes: u64,
    /// The number of blocks that have ended.
    pub ended: usize,
    /// The number of warps that have not ended.
    unfinished: u32,
    /// The number of warps at the barrier.
    arrived: u32,
    /// The number of barriers that have opened.
    opened: u64,
}

impl Cluster {
    /// Creates a cluster of blocks with `warps` warps each, of which none has started.
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

    /// Returns whether an access is in the shared memory of one of the blocks.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        self.place(address).is_some_and(|(_, offset)| offset + bytes <= self.shared_bytes)
    }

    /// Returns the rank of the block whose shared memory contains an address, and the offset from its start.
    pub fn place(&self, address: u64) -> Option<(usize, u64)> {
        let inside = |start: u64| address >= start && address - start < self.shared_bytes;
        self.shared.iter().position(|start| inside(*start)).map(|rank| (rank, address - self.shared[rank]))
    }
}

/// `barrier.cluster`: arrives at the barrier, or waits for it.
///
/// # Safety
/// Lowered code calls this function with its own context.
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
        // Other warps open the barrier while this warp pauses.
        loop {
            if (*(*warp).cluster).opened != (*warp).cluster_barrier {
                break;
            }
            pause(warp, Pause::Yield);
        }
        (*warp).cluster_barrier = u64::MAX;
    }
}

/// `mapa`: returns the addresses of the same offsets in the shared memory of other blocks of the cluster, and null for
/// ranks that do not exist.
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
                    // The program may map an address again that was already mapped.
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

/// `getctarank`: returns the ranks of the blocks whose shared memory contains the addresses, and 0 for other addresses.
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
