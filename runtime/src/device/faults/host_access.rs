//! Faults of host code at memory that is closed to it (`--check-host`): the access is recorded, its allocation opened, and the
//! program continues.

use crate::call_paths::capture_from;
use crate::memory::windows::{Region, region};
use crate::state::runtime::host_accessed;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::Mutex;

/// Bit of the processor's error code that a write sets (Intel SDM, volume 3, "Interrupt 14, Page-Fault Exception").
const WRITE: i64 = 2;

/// The program's own handler.
static OLD: Mutex<Option<libc::sigaction>> = Mutex::new(None);

thread_local! {
    /// This thread records an access.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
}

/// Puts the handler in place, also where the program has put its own since.
pub fn ensure_handler() {
    let ours = handle as *const () as usize;
    // SAFETY: zeroed actions are valid ones, and the handler is a function of the right form.
    unsafe {
        let mut known: libc::sigaction = MaybeUninit::zeroed().assume_init();
        if libc::sigaction(libc::SIGSEGV, std::ptr::null(), &raw mut known) != 0 || known.sa_sigaction == ours {
            return;
        }
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = ours;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSEGV, &raw const action, null_mut());
        if let Ok(mut old) = OLD.lock() {
            *old = Some(known);
        }
    }
}

/// Hands a fault that is not about closed memory to the program's own handler, or to the default: the instruction runs again.
fn hand_on() {
    // SAFETY: the action that was in place before, or the default.
    unsafe {
        match OLD.try_lock().ok().and_then(|old| *old) {
            Some(old) => _ = libc::sigaction(libc::SIGSEGV, &raw const old, null_mut()),
            None => _ = libc::signal(libc::SIGSEGV, libc::SIG_DFL),
        }
    }
}

/// Runs where host code was interrupted at an access. It allocates and takes locks, as the interrupted code is the program's
/// own: the C library does not access the program's data while it has a lock of its allocator.
extern "C" fn handle(_signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid description and context.
    let (address, instruction, error) = unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let instruction = registers[libc::REG_RIP as usize] as u64;
        ((*info).si_addr() as u64, instruction, registers[libc::REG_ERR as usize])
    };
    if region(address) != Region::Device || RECORDING.replace(true) {
        hand_on();
        return;
    }
    let is_known = host_accessed(address, error & WRITE != 0, || capture_from(instruction));
    RECORDING.set(false);
    if !is_known {
        hand_on();
    }
}
