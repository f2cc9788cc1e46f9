//! What a worker needs to know of a launch.

use std::sync::Arc;

use warpline_format::access::SITE_BITS;
use warpline_format::carveout::CarveoutPreference;
use warpline_format::device::Device;
use warpline_format::event::{Launch, LaunchId};

use crate::attribution::Module;

/// A launch, its module and the numbers that follow from its shape.
#[derive(Clone, Debug)]
pub struct LaunchShape {
    /// Number.
    pub id: LaunchId,
    /// Module with number, for the worker's per-module state.
    pub module: (u32, Arc<Module>),
    /// Kernel, as numbered by the analysis.
    pub kernel: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Dimensions of a block with more than one thread, a bit each from x.
    pub axes: u8,
    /// Blocks of the grid.
    pub blocks: u64,
    /// Warp slots of an SM.
    pub slots_per_sm: u32,
    /// Warp slots of the device.
    pub slots: u32,
    /// Shared memory of the blocks that share an SM, with what the system keeps for itself of each block's, bytes. The
    /// driver sizes L1 by it.
    pub shared_per_sm: u64,
    /// Division of L1 and shared memory that the program prefers.
    pub carveout: CarveoutPreference,
    /// Bytes of a lane's stack.
    pub local_bytes: u32,
}

/// Why there can be no such launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// No blocks, or more than there are numbers.
    #[error("launch {0} has an impossible grid")]
    Grid(LaunchId),
    /// No threads, or more than a block may have.
    #[error("launch {0} has an impossible block size")]
    Block(LaunchId),
    /// More warps at a time than any device has.
    #[error("launch {0} claims {1} warp slots")]
    Slots(LaunchId, u64),
}

impl LaunchShape {
    /// Creates a `LaunchShape` from a launch record and the device that its blocks are placed on.
    ///
    /// # Errors
    /// Returns what is impossible about the record.
    pub fn new(launch: &Launch, module: Arc<Module>, kernel: u32, device: &Device) -> Result<LaunchShape, ShapeError> {
        let product = |sizes: [u32; 3]| {
            let product = sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(u64::from(size)));
            product.filter(|&product| product > 0)
        };
        let blocks = product(launch.grid).ok_or(ShapeError::Grid(launch.id))?;
        let threads = product(launch.block).filter(|&threads| threads <= 1024).ok_or(ShapeError::Block(launch.id))?;
        let warps = threads.div_ceil(32) as u32;
        let per_sm = u64::from(warps) * u64::from(launch.resident_blocks.max(1));
        let slots = per_sm.saturating_mul(u64::from(device.sms.max(1)));
        if slots > 1 << SITE_BITS {
            return Err(ShapeError::Slots(launch.id, slots));
        }
        Ok(LaunchShape {
            id: launch.id,
            module: (launch.module, module),
            kernel,
            warps,
            axes: (0..3).filter(|&axis| launch.block[axis] > 1).map(|axis| 1 << axis).sum(),
            blocks,
            slots_per_sm: per_sm as u32,
            slots: slots as u32,
            shared_per_sm: u64::from(device.shared_taken(launch.static_shared.saturating_add(launch.dynamic_shared)))
                * u64::from(launch.resident_blocks.max(1)),
            carveout: CarveoutPreference::Default,
            local_bytes: launch.local_bytes,
        })
    }

    /// SM that a slot belongs to.
    pub fn sm(&self, slot: u32) -> u32 {
        slot / self.slots_per_sm
    }
}
