//! What the blocks of a cooperative launch share.

use crate::cuda::error::Error;
use crate::memory::Description;
use crate::state::runtime::Runtime;
use warpline_format::event::AllocationKind;

/// Bytes of the workspace that cooperative groups expects: its size and the barrier, each a word of 32 bits
/// (`grid_workspace` in the toolkit's `cooperative_groups/details/driver_abi.h`).
const WORKSPACE_BYTES: u64 = 8;

impl Runtime {
    /// Returns the workspace, as a launch finds it: zeroes. Launches follow one another, so one serves all. It is an
    /// allocation like any other, since `grid.sync()` reads and writes it with ordinary instructions.
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
        // SAFETY: an allocation of that size, which is never freed; no kernel runs now.
        unsafe { std::ptr::write_bytes(address as *mut u8, 0, WORKSPACE_BYTES as usize) };
        Ok(address)
    }
}
