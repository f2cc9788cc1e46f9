//! The reasons for which kernels end early.

use crate::cuda::error::{self, Error};
use warpline_format::event::StopCause;

/// Returns CUDA's error code for a stopped kernel.
pub(crate) fn code_of(stop: &StopCause) -> Error {
    match stop {
        StopCause::IllegalAddress | StopCause::StackOverflow => error::ILLEGAL_ADDRESS,
        StopCause::Misaligned => error::MISALIGNED_ADDRESS,
        StopCause::Assert => error::ASSERT,
        StopCause::Trap => error::LAUNCH_FAILURE,
        StopCause::IllegalInstruction => error::ILLEGAL_INSTRUCTION,
        StopCause::OutOfMemory => error::MEMORY_ALLOCATION,
        StopCause::Deadlock => error::LAUNCH_TIMEOUT,
    }
}

/// Describes why a kernel ended.
pub fn describe(cause: StopCause) -> String {
    let what = match cause {
        StopCause::IllegalAddress => "an invalid memory access",
        StopCause::Misaligned => "a misaligned memory access",
        StopCause::Assert => "a failed assert",
        StopCause::Trap => "a trap",
        StopCause::StackOverflow => "a stack overflow",
        StopCause::IllegalInstruction => "an illegal instruction",
        StopCause::OutOfMemory => "no memory for its stacks",
        StopCause::Deadlock => "a barrier that never opens",
    };
    format!("{what} (CUDA error {})", code_of(&cause))
}
