//! Handles faults of the processor while device code runs. The kernel ends with a CUDA error, and the program
//! continues. Faults in any other code belong to the program and go to its own handler.

use crate::device::execution::fibre::{GUARD, landing};
use crate::device::execution::warp::{Running, Stop};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64, Ordering};

const SIGNALS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];
/// The size of the signal stack: the processor's state with the widest vectors, and the handler.
const ALTERNATE_BYTES: usize = 64 << 10;

static RUNNING: AtomicPtr<Running> = AtomicPtr::new(null_mut());
static THREAD: AtomicI32 = AtomicI32::new(0);
static ADDRESS: AtomicU64 = AtomicU64::new(0);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

thread_local! {
    static HAS_STACK: Cell<bool> = const { Cell::new(false) };
}

/// A fault that the processor reported.
#[derive(Clone, Copy, Debug)]
pub struct Caught {
    /// The signal number.
    pub signal: i32,
    /// The address of the access, for memory faults.
    pub address: u64,
}

/// The program's own handlers, for faults that do not belong to device code.
static OLD: [AtomicPtr<libc::sigaction>; SIGNALS.len()] = [const { AtomicPtr::new(null_mut()) }; SIGNALS.len()];

/// The handlers are installed while this value lives.
pub struct Guard {
    /// The array is in a box, because handlers of other threads read it.
    old: Box<[libc::sigaction; SIGNALS.len()]>,
}

fn thread() -> i32 {
    // SAFETY: the function has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

impl Guard {
    /// Catches faults of device code of `running` on this thread.
    ///
    /// # Safety
    /// `running` outlives the guard.
    pub unsafe fn install(running: *mut Running) -> Guard {
        ensure_stack();
        RUNNING.store(running, Ordering::Relaxed);
        THREAD.store(thread(), Ordering::Relaxed);
        SIGNAL.store(0, Ordering::Release);
        // SAFETY: a zeroed action is valid; the handler performs only operations that are safe in a handler.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let old = SIGNALS.map(|signal| {
                let mut old = MaybeUninit::zeroed();
                libc::sigaction(signal, &raw const action, old.as_mut_ptr());
                old.assume_init()
            });
            let old = Box::new(old);
            for (place, action) in OLD.iter().zip(old.iter()) {
                place.store(std::ptr::from_ref(action).cast_mut(), Ordering::Release);
            }
            Guard { old }
        }
    }

    /// Returns the fault that ended the kernel, if one did.
    pub fn caught(&self) -> Option<Caught> {
        let signal = SIGNAL.load(Ordering::Acquire);
        (signal != 0).then(|| Caught { signal, address: ADDRESS.load(Ordering::Relaxed) })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RUNNING.store(null_mut(), Ordering::Release);
        for place in &OLD {
            place.store(null_mut(), Ordering::Release);
        }
        for (signal, old) in SIGNALS.iter().zip(self.old.iter()) {
            // SAFETY: this action was installed before.
            unsafe { libc::sigaction(*signal, old, null_mut()) };
        }
    }
}

/// Gives the thread a stack for signal handlers, unless it already has one that is large enough. This is needed because
/// device code may have filled the thread's own stack.
fn ensure_stack() {
    if HAS_STACK.get() {
        return;
    }
    HAS_STACK.set(true);
    // SAFETY: the code reads and then sets the thread's alternate stack. The memory is never freed.
    unsafe {
        let mut old: libc::stack_t = MaybeUninit::zeroed().assume_init();
        libc::sigaltstack(std::ptr::null(), &raw mut old);
        if old.ss_flags & libc::SS_DISABLE == 0 && old.ss_size >= ALTERNATE_BYTES {
            return;
        }
        let memory = Box::leak(vec![0u8; ALTERNATE_BYTES].into_boxed_slice());
        let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: ALTERNATE_BYTES };
        libc::sigaltstack(&raw const stack, null_mut());
    }
}

extern "C" fn handle(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let running = RUNNING.load(Ordering::Acquire);
    let ours = !running.is_null() && THREAD.load(Ordering::Relaxed) == thread();
    // SAFETY: the launch lives while it is published, and the current thread is the launch's own.
    let warp = if ours { unsafe { (*running).current } } else { null_mut() };
    if warp.is_null() {
        // The fault is not in device code. The program's own handler, or the default handler, is called when the
        // instruction is executed again.
        let index = SIGNALS.iter().position(|known| *known == signal).unwrap_or(0);
        let old = OLD[index].load(Ordering::Acquire);
        // SAFETY: the action was installed before and is stored in the guard, or it is the default action.
        unsafe {
            if old.is_null() {
                libc::signal(signal, libc::SIG_DFL);
            } else {
                libc::sigaction(signal, old, null_mut());
            }
        }
        return;
    }
    // SAFETY: the operating system passes a valid description and context; the scheduler is suspended in its switch,
    // and the interrupted fibre never continues.
    unsafe {
        let address = (*info).si_addr() as u64;
        let guard = (*warp).guard;
        let stop = match signal {
            libc::SIGSEGV | libc::SIGBUS if address.wrapping_sub(guard) < GUARD as u64 => Stop::StackOverflow,
            libc::SIGSEGV | libc::SIGBUS => Stop::IllegalAddress,
            _ => Stop::IllegalInstruction,
        };
        ADDRESS.store(address, Ordering::Relaxed);
        SIGNAL.store(signal, Ordering::Release);
        (*running).stop.get_or_insert(stop);
        (*running).fault_warp = warp;
        (*running).current = null_mut();
        let (instruction, stack) = landing((*running).scheduler);
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = instruction as i64;
        registers[libc::REG_RSP as usize] = stack as i64;
    }
}
