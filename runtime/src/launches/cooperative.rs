//! The workspace that the blocks of a cooperative launch share.

use crate::cuda::error::Error;
use crate::memory::Description;
use crate::state::runtime::Runtime;
use warpline_format::event::AllocationKind;

/// The size of the workspace that cooperative groups expects: its size and the barrier, each a 32-bit word
/// (`grid_workspace` in the toolkit's `cooperative_groups/details/driver_abi.h`).
const WORKSPACE_BYTES: u64 = 8;

impl Runtime {
    /// Returns the workspace, which is zero when a launch begins. Launches run one after another, so all use the same
    /// workspace. It is an ordinary allocation, because `grid.sync()` reads and writes it with ordinary instructions.
    pub fn grid_workspace(&mut self) -> Result<u64, Error> {
        let address = match self.workspace {
            Some(address) => address,
            None => {
                let name = Some("grid_workspace".to_owned());
                let what = Description { kind: AllocationKind::Compiler, name, path: 0 };
                let (_, address) = self.allocate_as(WORKSPACE_BYTES, what, None)?;
                self.workspace = Some(address);
                address
            }
        };
        // SAFETY: the allocation has this size and is never freed; no kernel runs at this time.
        unsafe { std::ptr::write_bytes(address as *mut u8, 0, WORKSPACE_BYTES as usize) };
        Ok(address)
    }
}
