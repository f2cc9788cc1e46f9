//! The emulated GPU: this library is linked a second time, instead of CUDA's own runtime, with the lowered form of the
//! code that would go to a GPU. The driver adds the prefix of CUDA's runtime to the names of the second copy, so each
//! copy must determine which of the two it is.

use super::functions::address;

/// The presence of this variable under its other name shows the program's copy that the runtime it calls is not
/// NVIDIA's.
#[unsafe(no_mangle)]
pub static __warpline_emulator: u8 = 0;

/// Returns whether the runtime behind this one is the emulated GPU.
pub fn is_linked() -> bool {
    address!("__warpline_emulator") != 0
}

/// Returns whether this copy is the emulated GPU.
pub fn is_the_gpu() -> bool {
    let mark: usize;
    // SAFETY: reads an entry of the global offset table. The linker leaves it 0 except in the second copy, for which
    // the driver defines the symbol.
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

/// The distance between the shared memories of blocks on the emulated GPU, which is larger than the shared memory of
/// any block. The low bits of a shared address are the offset in the block's shared memory, as on a GPU; the bits above
/// them select the block.
pub const SHARED_STRIDE: u64 = 1 << 20;

/// Returns the bits of a shared address that contain the offset in the block's memory.
pub fn shared_bits() -> u64 {
    if is_linked() { SHARED_STRIDE - 1 } else { u64::MAX }
}
