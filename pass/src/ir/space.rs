//! The address spaces of device code, with the numbers of the NVPTX target.

use super::kernel::is_kernel;
use crate::llvm::Value;
use crate::llvm::value::Opcode;
use warpline_format::access::Space;

/// The space is not known at compile time.
pub const GENERIC: u32 = 0;
/// Global memory.
pub const GLOBAL: u32 = 1;
/// The block's shared memory.
pub const SHARED: u32 = 3;
/// Constant memory.
pub const CONSTANT: u32 = 4;
/// The thread's own stack.
pub const LOCAL: u32 = 5;
/// Kernel parameters.
pub const PARAMETER: u32 = 101;

/// Returns the address space number of the pointers of a space.
pub(crate) fn number_of(space: Space) -> u32 {
    match space {
        Space::Generic => GENERIC,
        Space::Global => GLOBAL,
        Space::Shared => SHARED,
        Space::Constant => CONSTANT,
        Space::Local => LOCAL,
    }
}

/// Returns the space for a pointer type's address space, or `None` for kernel parameters, which are not memory traffic.
pub(crate) fn space_of(number: u32) -> Option<Space> {
    Some(match number {
        GLOBAL => Space::Global,
        SHARED => Space::Shared,
        CONSTANT => Space::Constant,
        LOCAL => Space::Local,
        PARAMETER => return None,
        // Shared memory of the cluster may belong to another block; the records resolve it.
        _ => Space::Generic,
    })
}

/// Returns the space of a pointer, even if it is generic only because an intrinsic accepts no other pointer. Pointers
/// in kernel parameters are global.
pub(crate) fn space_of_pointer(mut pointer: Value<'_>) -> Space {
    while let Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) =
        pointer.opcode().or_else(|| pointer.constant_opcode())
    {
        if pointer.address_space() != GENERIC {
            break;
        }
        pointer = pointer.operand(0);
    }
    if pointer.argument_of().is_some_and(is_kernel) {
        return Space::Global;
    }
    space_of(pointer.address_space()).unwrap_or(Space::Generic)
}
