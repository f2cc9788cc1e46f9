//! The emulated GPU: this library linked a second time, in the place of CUDA's own runtime, with the lowered form of
//! the code that goes to a GPU. The driver gives the names of the second copy the prefix that those of CUDA's runtime
//! get, so each copy must find out which of the two it is.

use super::functions::address;

/// Under its other name it shows the program's copy that the runtime it calls is not NVIDIA's.
#[unsafe(no_mangle)]
pub static __warpline_emulator: u8 = 0;

/// Returns whether the runtime behind this one is the emulated GPU.
pub fn is_linked() -> bool {
    address!("__warpline_emulator") != 0
}

/// Returns whether this copy is the emulated GPU.
pub fn is_the_gpu() -> bool {
    let mark: usize;
    // SAFETY: reads an entry of the global offset table: the linker leaves it 0 but in the second copy, for which the
    // driver defines the symbol.
    unsafe {
        std::arch::asm!(
            ".weak __warpline_is_the_gpu",
            "mov {0}, qword ptr [rip + __warpline_is_the_gpu@GOTPCREL]",
            out(reg) mark,
            options(nostack, pure, readonly, preserves_flags)
        );
    }
    mark != 0
}

/// Distance between the shared memories of blocks on the emulated GPU: more than any block has. What a kernel takes for
/// an offset in its block's shared memory, as it is on a GPU, has the block's place above these bits.
pub const SHARED_STRIDE: u64 = 1 << 20;

/// Returns the bits of a shared address that hold the offset in the block's memory.
pub fn shared_bits() -> u64 {
    if is_linked() { SHARED_STRIDE - 1 } else { u64::MAX }
}
