//! The properties of a launch that workers need.

use std::sync::Arc;

use warpline_format::access::SITE_BITS;
use warpline_format::carveout::CarveoutPreference;
use warpline_format::device::Device;
use warpline_format::event::{Launch, LaunchId};

use crate::attribution::Module;

/// A launch, its module, and numbers derived from its shape.
#[derive(Clone, Debug)]
pub struct LaunchShape {
    /// Number of the launch.
    pub id: LaunchId,
    /// Number and contents of the module; the number identifies the worker's state.
    pub module: (u32, Arc<Module>),
    /// Number of the kernel in the analysis.
    pub kernel: u32,
    /// Number of warps per block.
    pub warps: u32,
    /// Dimensions of a block with more than one thread, one bit each, starting with x.
    pub axes: u8,
    /// Number of blocks in the grid.
    pub blocks: u64,
    /// Number of warp slots per SM.
    pub slots_per_sm: u32,
    /// Number of warp slots of the device.
    pub slots: u32,
    /// Shared memory of the resident blocks of an SM in bytes, including the bytes that the system reserves per block.
    /// The driver chooses the size of L1 accordingly.
    pub shared_per_sm: u64,
    /// The division of L1 and shared memory that the program prefers.
    pub carveout: CarveoutPreference,
    /// Bytes of local memory per lane.
    pub local_bytes: u32,
}

/// Reasons why a launch is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The grid has no blocks, or too many.
    #[error("launch {0} has an impossible grid")]
    Grid(LaunchId),
    /// The block has no threads, or too many.
    #[error("launch {0} has an impossible block size")]
    Block(LaunchId),
    /// The launch has more resident warps than any device supports.
    #[error("launch {0} claims {1} warp slots")]
    Slots(LaunchId, u64),
}

impl LaunchShape {
    /// Creates a `LaunchShape` from a launch record and the device that its blocks are placed on.
    ///
    /// # Errors
    /// Returns the reason if the record is impossible.
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

    /// Returns the SM of a slot.
    pub fn sm(&self, slot: u32) -> u32 {
        slot / self.slots_per_sm
    }
}
