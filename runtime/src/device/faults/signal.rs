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

/// The maximum number of threads that run device code at the same time.
pub const MOST_THREADS: usize = 64;

/// A thread that runs device code.
struct Watched {
    running: AtomicPtr<Running>,
    thread: AtomicI32,
    address: AtomicU64,
    signal: AtomicI32,
}

static WATCHED: [Watched; MOST_THREADS] = [const {
    Watched {
        running: AtomicPtr::new(null_mut()),
        thread: AtomicI32::new(0),
        address: AtomicU64::new(0),
        signal: AtomicI32::new(0),
    }
}; MOST_THREADS];

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
    watch: Watch,
    /// The array is in a box, because handlers of other threads read it.
    old: Box<[libc::sigaction; SIGNALS.len()]>,
}

/// Faults of device code on this thread are caught while this value and the [`Guard`] live.
pub struct Watch {
    number: usize,
}

impl Watch {
    /// Catches faults of device code of `running` on this thread, which is thread `number` of the launch. The thread
    /// has a stack for signal handlers.
    ///
    /// # Safety
    /// `running` outlives the watch, and no other watch has the number.
    pub unsafe fn new(number: usize, running: *mut Running) -> Watch {
        let place = &WATCHED[number];
        place.thread.store(thread(), Ordering::Relaxed);
        place.signal.store(0, Ordering::Relaxed);
        place.running.store(running, Ordering::Release);
        Watch { number }
    }

    /// Returns the fault that ended the thread's work, if one did.
    pub fn caught(&self) -> Option<Caught> {
        let place = &WATCHED[self.number];
        let signal = place.signal.load(Ordering::Acquire);
        (signal != 0).then(|| Caught { signal, address: place.address.load(Ordering::Relaxed) })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED[self.number].running.store(null_mut(), Ordering::Release);
    }
}

/// A stack for signal handlers of a thread that ends with the launch.
pub struct HandlerStack(Box<[u8]>);

impl HandlerStack {
    /// Gives this thread the stack.
    pub fn install() -> HandlerStack {
        let mut memory = vec![0u8; ALTERNATE_BYTES].into_boxed_slice();
        let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: ALTERNATE_BYTES };
        // SAFETY: the memory lives until the stack is removed.
        unsafe { libc::sigaltstack(&raw const stack, null_mut()) };
        HandlerStack(memory)
    }
}

impl Drop for HandlerStack {
    fn drop(&mut self) {
        let none = libc::stack_t { ss_sp: self.0.as_mut_ptr().cast(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        // SAFETY: the call removes this thread's stack, which no handler uses now.
        unsafe { libc::sigaltstack(&raw const none, null_mut()) };
    }
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
        // SAFETY: by the contract; only the guard of a launch has number 0, and launches do not overlap.
        let watch = unsafe { Watch::new(0, running) };
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
            Guard { watch, old }
        }
    }

    /// Returns the fault that ended the kernel, if one did.
    pub fn caught(&self) -> Option<Caught> {
        self.watch.caught()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        WATCHED[0].running.store(null_mut(), Ordering::Release);
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
    let thread = thread();
    let is_ours =
        |one: &&Watched| !one.running.load(Ordering::Acquire).is_null() && one.thread.load(Ordering::Relaxed) == thread;
    let ours = WATCHED.iter().find(is_ours);
    let running = ours.map_or(null_mut(), |ours| ours.running.load(Ordering::Acquire));
    // SAFETY: the launch lives while it is published, and the current thread runs a part of it.
    let warp = if running.is_null() { null_mut() } else { unsafe { (*running).current } };
    let (Some(ours), false) = (ours, warp.is_null()) else {
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
    };
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
        ours.address.store(address, Ordering::Relaxed);
        ours.signal.store(signal, Ordering::Release);
        (*running).stop.get_or_insert(stop);
        (*running).fault_warp = warp;
        (*running).current = null_mut();
        let (instruction, stack) = landing((*running).scheduler);
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = instruction as i64;
        registers[libc::REG_RSP as usize] = stack as i64;
    }
}
