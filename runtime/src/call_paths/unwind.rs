//! Unwinding with the system's unwinder. It needs no frame pointers, only the unwind tables that C and C++ objects
//! contain on x86-64.

use super::Frames;
use std::ffi::c_void;

/// The maximum length of a path; if recursion is deeper, the outermost frames are dropped.
const MAX_FRAMES: usize = 256;

/// `_URC_NO_REASON`: unwinding continues.
const GO_ON: i32 = 0;
/// `_URC_END_OF_STACK`: unwinding stops.
const STOP: i32 = 5;

#[allow(non_snake_case)]
unsafe extern "C" {
    fn _Unwind_Backtrace(callback: extern "C" fn(*mut c_void, *mut c_void) -> i32, data: *mut c_void) -> i32;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// A position in the stack frame of an API function. Frames at or below it belong to the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Entry(usize);

impl Entry {
    /// `local` is a variable of the API function that the program called.
    #[inline(always)]
    pub fn new(local: &u8) -> Entry {
        Entry(std::ptr::from_ref(local) as usize)
    }
}

struct Walk {
    above: usize,
    /// Frames up to that with this instruction are left out.
    from: Option<u64>,
    frames: Frames,
}

extern "C" fn step(context: *mut c_void, data: *mut c_void) -> i32 {
    // SAFETY: the unwinder passes both pointers on; `data` is the `Walk` of `capture`.
    let (walk, address, stack) =
        unsafe { (&mut *data.cast::<Walk>(), _Unwind_GetIP(context) as u64, _Unwind_GetCFA(context)) };
    if walk.from == Some(address) {
        walk.from = None;
        // Readers interpret each address as a return address, which is after the instruction.
        walk.frames.push(address + 1);
    } else if walk.from.is_none() && stack > walk.above && address != 0 {
        walk.frames.push(address);
    }
    if walk.frames.len() < MAX_FRAMES { GO_ON } else { STOP }
}

/// Returns the return addresses of the frames outside the runtime, innermost first.
#[inline(never)]
pub fn capture(entry: Entry) -> Frames {
    walk(Walk { above: entry.0, from: None, frames: Vec::with_capacity(16) })
}

/// Returns the interrupted instruction and the return addresses of the frames around it, innermost first; for a signal
/// handler.
#[inline(never)]
pub fn capture_from(instruction: u64) -> Frames {
    walk(Walk { above: 0, from: Some(instruction), frames: Vec::with_capacity(16) })
}

fn walk(mut walk: Walk) -> Frames {
    // SAFETY: `step` receives the walk and does not unwind itself.
    unsafe { _Unwind_Backtrace(step, std::ptr::from_mut(&mut walk).cast()) };
    walk.frames
}
