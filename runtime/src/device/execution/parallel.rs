//! Runs the blocks of a launch without records, on several host threads if the blocks are independent and take long.

use super::arena::Arena;
use super::native::{Room, run_direct, run_plain};
use super::scheduled::Plan;
use super::warp::{Running, Stop};
use crate::device::faults::signal::{Caught, HandlerStack, MOST_THREADS, Watch};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use warpline_format::abi::WarpFunction;

/// The environment variable with the maximum number of host threads.
const THREADS_VARIABLE: &str = "WARPLINE_THREADS";

/// The rest of a launch is distributed if one thread would need more time for it. Starting a thread takes about 20 to
/// 50 microseconds.
const WORTH_THREADS: Duration = Duration::from_micros(500);

/// Each thread takes about this number of parts of a launch, so that no thread waits long for the others.
const PARTS: u64 = 16;

/// How blocks run.
#[derive(Clone, Copy)]
pub struct Form {
    /// The warp function.
    pub entry: WarpFunction,
    /// Whether warps reach barriers.
    pub barrier: bool,
    /// The number of threads that may run blocks at the same time; the arena is prepared for as many blocks.
    pub threads: u64,
}

/// Returns the number of threads that may run independent blocks: that of the processor's cores, or the
/// value of `WARPLINE_THREADS`.
pub fn threads() -> u64 {
    static THREADS: OnceLock<u64> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let wanted = std::env::var(THREADS_VARIABLE).ok().and_then(|text| text.parse().ok()).filter(|&count| count > 0);
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        wanted.unwrap_or_else(cores).min(MOST_THREADS as u64 - 1)
    })
}

/// The blocks that no thread has taken yet.
struct Queue {
    next: AtomicU64,
    /// The number of blocks that a thread takes at once.
    part: u64,
    /// The number of the first block that does not run: that of the grid's end, or of the first block that stopped.
    end: AtomicU64,
}

/// The blocks of one thread.
struct Share<'a> {
    queue: &'a Queue,
    taken: Range<u64>,
    current: u64,
}

impl Iterator for Share<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.taken.is_empty() {
            let first = self.queue.next.fetch_add(self.queue.part, Ordering::Relaxed);
            self.taken = first..first + self.queue.part;
        }
        let block = self.taken.next()?;
        self.current = block;
        // Blocks before one that stopped still run, so that the first one that stops is the same in every run.
        (block < self.queue.end.load(Ordering::Relaxed)).then_some(block)
    }
}

/// A thread's part of a launch.
struct Work<'a, 'p> {
    number: usize,
    plan: &'a Plan<'p>,
    form: Form,
    arena: &'a Arena,
    queue: &'a Queue,
    room: Room,
    running: Box<Running>,
    /// The block that stopped, and the fault that the processor found, if there is one.
    stopped: Option<(u64, Option<Caught>)>,
}

// SAFETY: the pointers refer to data of the launch, which outlives its threads. Independent blocks write only to memory
// of their own slot and to device memory, and the states of the launch that they change are in their own `running`.
unsafe impl Send for Work<'_, '_> {}

impl Work<'_, '_> {
    /// Runs blocks until none is left.
    fn run(&mut self) {
        let _stack = HandlerStack::install();
        let running: *mut Running = &raw mut *self.running;
        // SAFETY: the number and the slot of the arena are this thread's own.
        unsafe {
            let watch = Watch::new(self.number, running);
            let mut share = Share { queue: self.queue, taken: 0..0, current: 0 };
            run(self.plan, self.form, running, self.arena, &mut self.room, &mut share);
            if (*running).stop.is_some() {
                self.queue.end.fetch_min(share.current, Ordering::Relaxed);
                self.stopped = Some((share.current, watch.caught()));
            }
        }
    }
}

/// # Safety
/// The requirements of [`run_plain`] apply.
unsafe fn run(
    plan: &Plan,
    form: Form,
    running: *mut Running,
    arena: &Arena,
    room: &mut Room,
    blocks: &mut dyn Iterator<Item = u64>,
) {
    // SAFETY: by the contract.
    unsafe {
        match form.barrier {
            true => run_direct(plan, form.entry, running, arena, room, blocks),
            false => run_plain(plan, form.entry, running, arena, room, blocks),
        }
    }
}

/// Runs all blocks of a launch. Returns the fault that ended it if another thread than the caller's caught it.
///
/// # Safety
/// `running` is valid and not used elsewhere; the arena was prepared for as many blocks as `form` has threads.
pub unsafe fn run_blocks(plan: &Plan, form: Form, running: *mut Running, arena: &mut Arena) -> Option<Caught> {
    let all = plan.geometry.blocks();
    let Ok(mut room) = Room::take(plan, 0, form.barrier, arena) else {
        // SAFETY: by the contract.
        unsafe { (*running).stop = Some(Stop::OutOfMemory) };
        return None;
    };
    let first = if form.threads > 1 { (all / 64).max(1) } else { all };
    let start = Instant::now();
    // SAFETY: by the contract.
    let stopped = unsafe {
        run(plan, form, running, arena, &mut room, &mut (0..first));
        (*running).stop.is_some()
    };
    let rest = first..all;
    let expected = start.elapsed().mul_f64((rest.end - rest.start) as f64 / first as f64);
    let mut caught = None;
    // SAFETY: by the contract.
    unsafe {
        if stopped || rest.is_empty() {
        } else if expected < WORTH_THREADS {
            run(plan, form, running, arena, &mut room, &mut { rest });
        } else {
            caught = distribute(plan, form, running, arena, &mut room, rest);
        }
    }
    room.give(arena);
    caught
}

/// Runs blocks on several threads, one of which is the caller's.
///
/// # Safety
/// The requirements of [`run_blocks`] apply; the room is that of slot 0.
unsafe fn distribute(
    plan: &Plan,
    form: Form,
    running: *mut Running,
    arena: &mut Arena,
    room: &mut Room,
    blocks: Range<u64>,
) -> Option<Caught> {
    let threads = form.threads.min(blocks.end - blocks.start);
    let part = ((blocks.end - blocks.start) / (threads * PARTS)).max(1);
    let queue = Queue { next: AtomicU64::new(blocks.start), part, end: AtomicU64::new(blocks.end) };
    let rooms: Vec<Room> = (1..threads).map_while(|slot| Room::take(plan, slot, form.barrier, arena).ok()).collect();
    let shared: &Arena = arena;
    let (own, done) = std::thread::scope(|scope| {
        let start = |(number, room)| {
            // SAFETY: by the contract.
            let running = Box::new(unsafe { (*running).for_thread() });
            let mut work = Work { number, plan, form, arena: shared, queue: &queue, room, running, stopped: None };
            let work = move || {
                work.run();
                work
            };
            // If the system starts no more threads, the others run all blocks.
            std::thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let threads: Vec<_> = (1..).zip(rooms).filter_map(start).collect();
        let mut share = Share { queue: &queue, taken: 0..0, current: 0 };
        // SAFETY: by the contract.
        let stopped = unsafe {
            run(plan, form, running, shared, room, &mut share);
            (*running).stop.is_some()
        };
        if stopped {
            queue.end.fetch_min(share.current, Ordering::Relaxed);
        }
        let done: Vec<Work<'_, '_>> = threads.into_iter().filter_map(|thread| thread.join().ok()).collect();
        (stopped.then_some(share.current), done)
    });
    let first = done.iter().filter_map(|work| Some((work.stopped?, work))).min_by_key(|((block, _), _)| *block);
    let first = first.filter(|((block, _), _)| own.is_none_or(|own| *block < own));
    let caught = first.and_then(|((_, caught), work)| {
        // SAFETY: by the contract.
        unsafe {
            ((*running).stop, (*running).fault_warp) = (work.running.stop, work.running.fault_warp);
        }
        caught
    });
    let rooms: Vec<Room> = done.into_iter().map(|work| work.room).collect();
    rooms.into_iter().for_each(|room| room.give(arena));
    caught
}
