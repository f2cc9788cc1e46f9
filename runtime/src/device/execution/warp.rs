//! The state of a launch, its blocks and its warps, in the form that the functions which lowered code calls use.

use super::cluster::Cluster;
use super::fibre::{Suspended, switch};
use crate::device::children::queue::Children;
use crate::device::floats::Floats;
use crate::device::initialisation::Initialisation;
use crate::device::rounding::Roundings;
use crate::device::stops::Stops;
use crate::device::values::Values;
use crate::memory::DeviceMemory;
use crate::modules::module::Module;
use crate::output::printed::Printed;
use crate::trace::Trace;
use std::collections::{BTreeSet, HashSet};
use std::ffi::c_char;
use std::ops::Range;
use std::ptr::{null, null_mut};
use warpline_format::abi::{Lanes, NOWHERE, SiteRange, WarpContext, WarpFunction, barrier, reserved_shared};
use warpline_format::access::LANES;
use warpline_format::event::{DifferentBarriers, DivergentBarrier, Fault};
use warpline_format::options::Check;
use warpline_format::rendezvous::Rendezvous;

/// The number of iterations of a waiting loop before another warp gets a turn.
pub const PATIENCE: i64 = 4096;

pub use warpline_format::event::StopCause as Stop;

/// The reason why a fibre returned to the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The warp's record buffer is full.
    Full,
    /// The warp reached a barrier.
    Barrier,
    /// The warp arrived at a numbered barrier.
    Named(Rendezvous),
    /// The warp waits for another warp.
    Yield,
    /// The warp is about to access memory, and another warp has the next turn.
    Turn,
    /// The warp has ended.
    Finished,
}

/// How execution passes from one warp of a launch to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Directly from warp to warp of one block.
    Direct,
    /// Through the scheduler.
    Scheduled,
}

/// A launch while it runs. Warps point to it; only one thread uses it.
pub struct Running {
    /// The flow that started the fibres.
    pub scheduler: Suspended,
    /// The warp whose fibre runs; null while the scheduler runs.
    pub current: *mut Warp,
    /// The way in which its warps follow each other.
    pub mode: Mode,
    /// The reason why the last fibre returned.
    pub pause: Pause,
    /// Set if the kernel has to end.
    pub stop: Option<Stop>,
    /// The warp that ended the kernel, by a trap or because the processor interrupted its fibre permanently.
    pub fault_warp: *mut Warp,
    /// The trace.
    pub trace: *mut Trace,
    /// Device memory.
    pub memory: *mut DeviceMemory,
    /// The kernel's module.
    pub module: *mut Module,
    /// Index of the kernel in its module.
    pub kernel: usize,
    /// Number of the launch.
    pub launch: u64,
    /// The mode of the access check.
    pub check: Check,
    /// Whether reads that a GPU tolerates are reported and then performed. This is the case if the program runs without
    /// `warpline run`, which sets a check.
    pub tolerant: bool,
    /// Whether the kernel uses reserved shared memory.
    pub reserved_shared: bool,
    /// Whether warps take turns at their accesses; all accesses then reach the access check.
    pub interleave: bool,
    /// The address ranges of loads since the last store that were not yet checked. Used only if warps take turns.
    pub open_ranges: Vec<*mut SiteRange>,
    /// The check for reads of memory that nothing has written; all accesses then reach the access check.
    pub initialisation: Option<Initialisation>,
    /// The floating-point check; null if the run does not use it.
    pub floats: *mut Floats,
    /// Tracks the values of accesses; null if the run or the launch does not track values.
    pub values: *mut Values,
    /// Rounds elements of chosen allocations; null if the run does not request it.
    pub roundings: *mut Roundings,
    /// The accesses at which the program stops; null if there are none.
    pub stops: *mut Stops,
    /// Addresses of the kernel's parameters. Pointers can also refer to them: LLVM turns `later ? *pointer : value` of
    /// a structure into one load from either address.
    pub parameters: Range<u64>,
    /// The sites whose fault has been reported and stops the kernel; the module tracks the other sites.
    pub reported: HashSet<u32>,
    /// Branches of loops in which lanes waited without effect while other lanes of their warp continued before them.
    pub parted: BTreeSet<u32>,
    /// The faults for the trace.
    pub faults: Vec<Fault>,
    /// Barriers that a part of a warp reached, each once.
    pub divergent: Vec<DivergentBarrier>,
    /// Barriers at which some warps of a block waited while others waited at a different barrier.
    pub different: Vec<DifferentBarriers>,
    /// The address after the last byte of all threads' stacks.
    pub stacks_end: u64,
    /// The output of `printf`.
    pub printed: *mut Printed,
    /// The size of the device's `printf` buffer in bytes.
    pub printed_limit: u64,
    /// The number of bytes of the device heap in use, and its limit.
    pub heap: *mut Heap,
    /// The launches that the grid makes.
    pub children: *mut Children,
    /// The virtual time before the launch.
    pub clock_base: u64,
    /// The latest virtual time of a warp that has ended.
    pub clock_end: u64,
}

impl Running {
    /// Returns the state for a thread that runs some of the launch's independent blocks without records.
    pub fn for_thread(&self) -> Running {
        Running {
            scheduler: null_mut(),
            current: null_mut(),
            mode: self.mode,
            pause: Pause::Finished,
            stop: None,
            fault_warp: null_mut(),
            trace: self.trace,
            memory: self.memory,
            module: self.module,
            kernel: self.kernel,
            launch: self.launch,
            check: self.check,
            tolerant: self.tolerant,
            reserved_shared: self.reserved_shared,
            interleave: false,
            open_ranges: Vec::new(),
            initialisation: None,
            floats: null_mut(),
            values: null_mut(),
            roundings: null_mut(),
            stops: null_mut(),
            parameters: self.parameters.clone(),
            reported: HashSet::new(),
            parted: BTreeSet::new(),
            faults: Vec::new(),
            divergent: Vec::new(),
            different: Vec::new(),
            stacks_end: self.stacks_end,
            printed: self.printed,
            printed_limit: self.printed_limit,
            heap: self.heap,
            children: self.children,
            clock_base: self.clock_base,
            clock_end: 0,
        }
    }
}

/// The heap of device-side `malloc`.
#[derive(Debug)]
pub struct Heap {
    /// `cudaLimitMallocHeapSize`.
    pub limit: u64,
    /// The number of bytes in use.
    pub used: u64,
    /// Allocations that are not in the trace yet.
    pub started: Vec<warpline_format::event::Event>,
    /// Allocations that this launch freed.
    pub freed: Vec<crate::memory::registry::Live>,
}

/// A resident block.
#[derive(Debug)]
pub struct Block {
    /// The number of barriers that have opened.
    opened: u64,
    /// The votes of the barrier at which warps arrive and of the previous barrier.
    votes: [Votes; 2],
    /// For each of the two barriers: the position of the first warp that reached it ([`WarpContext::barrier`]), and the
    /// number of this warp.
    places: [(*const c_char, u32); 2],
    /// Whether two warps reached different barriers. After that, all positions differ by one barrier, so they are not
    /// reported.
    parted: bool,
    /// Numbered barriers at which a warp has arrived.
    named: Vec<Named>,
}

/// A numbered barrier that has not opened.
#[derive(Debug)]
struct Named {
    number: u32,
    arrived: u32,
    votes: Votes,
    waiting: Vec<*mut Warp>,
}

impl Named {
    /// Passes the votes to the waiting warps.
    ///
    /// # Safety
    /// The waiting warps belong to a block that runs.
    unsafe fn open(&mut self) {
        for warp in self.waiting.drain(..) {
            // SAFETY: by the contract.
            unsafe { (*warp).votes = self.votes };
        }
        (self.arrived, self.votes) = (0, Votes::NONE);
    }
}

/// Votes of the warps that have arrived at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Votes {
    count: u32,
    all: bool,
    any: bool,
}

impl Votes {
    /// The state before any warp has voted.
    pub const NONE: Votes = Votes { count: 0, all: true, any: false };

    fn add(&mut self, mask: u32, predicates: u32) {
        self.count += (mask & predicates).count_ones();
        self.all &= mask & !predicates == 0;
        self.any |= mask & predicates != 0;
    }

    /// Returns the result of a barrier of a kind from `abi::barrier`.
    pub fn result(self, kind: u32) -> u32 {
        match kind {
            barrier::COUNT => self.count,
            barrier::AND => u32::from(self.all),
            barrier::OR => u32::from(self.any),
            _ => 0,
        }
    }
}

impl Default for Block {
    fn default() -> Block {
        Block::new()
    }
}

impl Block {
    /// Creates a block before its first barrier.
    pub const fn new() -> Block {
        Block { opened: 0, votes: [Votes::NONE; 2], places: [(null(), 0); 2], parted: false, named: Vec::new() }
    }

    /// Records that a warp arrives at its barrier number `number`.
    pub fn arrive(&mut self, number: u64, mask: u32, predicates: u32) {
        self.votes[(number & 1) as usize].add(mask, predicates);
    }

    /// Records that `warp` arrives at a numbered barrier.
    ///
    /// # Safety
    /// It is a warp of this block, as are all that have arrived before.
    pub unsafe fn arrive_named(&mut self, warp: *mut Warp, meeting: Rendezvous, mask: u32, predicates: u32) {
        let known = self.named.iter().position(|one| one.number == meeting.number);
        let index = known.unwrap_or_else(|| {
            let fresh = Named { number: meeting.number, arrived: 0, votes: Votes::NONE, waiting: Vec::new() };
            self.named.push(fresh);
            self.named.len() - 1
        });
        let named = &mut self.named[index];
        named.votes.add(mask, predicates);
        named.arrived += 1;
        if meeting.waits {
            named.waiting.push(warp);
        }
        if meeting.warps != 0 && named.arrived >= meeting.warps {
            // SAFETY: by the contract.
            unsafe { named.open() };
        }
    }

    /// Records that `warp` continues after a numbered barrier. A barrier for all warps of the block is considered open
    /// when the first warp continues.
    ///
    /// # Safety
    /// The requirements of [`Block::arrive_named`] apply.
    pub unsafe fn leave_named(&mut self, warp: *mut Warp, number: u32) {
        for named in self.named.iter_mut().filter(|one| one.number == number && one.waiting.contains(&warp)) {
            // SAFETY: by the contract.
            unsafe { named.open() };
        }
    }

    /// Records that `warp` arrives at barrier number `number`, which is at `place`. If the first warp waits at another
    /// position, returns this position and the number of the first warp.
    pub fn place(&mut self, number: u64, place: *const c_char, warp: u32) -> Option<(*const c_char, u32)> {
        let first = &mut self.places[(number & 1) as usize];
        if first.0.is_null() {
            *first = (place, warp);
        }
        (first.0 != place && !place.is_null() && !self.parted).then_some(*first)
    }

    /// Stops the comparison of this block's barrier positions.
    pub fn parted(&mut self) {
        self.parted = true;
    }

    /// Records that a warp leaves the barrier at which it arrived as `number`. By then, every warp has arrived, and no
    /// warp can arrive at the barrier after the next one, so the other set of votes is free.
    pub fn leave(&mut self, number: u64, kind: u32) -> u32 {
        if self.opened == number {
            self.opened += 1;
            self.votes[(self.opened & 1) as usize] = Votes::NONE;
            self.places[(self.opened & 1) as usize] = (null(), 0);
        }
        self.votes[(number & 1) as usize].result(kind)
    }
}

/// A resident warp.
#[repr(C)]
pub struct Warp {
    /// The context that lowered code uses. Its `runtime` field points back to this warp.
    pub context: WarpContext,
    /// The launch to which the warp belongs.
    pub running: *mut Running,
    /// The warp's block.
    pub block: *mut Block,
    /// The warp function.
    pub entry: WarpFunction,
    /// The suspended flow of the warp's fibre.
    pub fibre: Suspended,
    /// The guard page below the fibre's stack, used to distinguish an overflow from other faults.
    pub guard: u64,
    /// The number of barriers at which the warp has arrived.
    pub barriers: u64,
    /// The block's cluster; null if blocks do not form clusters.
    pub cluster: *mut Cluster,
    /// The number of cluster barriers that had opened when the warp arrived at one.
    pub cluster_barrier: u64,
    /// The votes of the numbered barrier that opened last.
    pub votes: Votes,
    /// The next unfinished warp of the block ([`Mode::Direct`]).
    pub next: *mut Warp,
    /// The previous unfinished warp of the block.
    pub previous: *mut Warp,
    /// Whether the warp writes records.
    pub hooked: bool,
    /// If warps take turns: whether the last access was not a plain load, so that the warp stops before the next
    /// access.
    pub has_stored: bool,
    /// The launch, counted from 1, whose scheduler filled this memory last; 0 if there was none. Fields that are the
    /// same for all warps of a launch are kept when the memory is reused for the next warp.
    pub filled_for: u64,
}

/// The shape of a launch, the same for all its warps.
#[derive(Clone, Copy, Debug)]
pub struct Geometry {
    /// The number of blocks.
    pub grid: [u32; 3],
    /// The number of threads per block.
    pub block: [u32; 3],
    /// The size of static and dynamic shared memory in bytes.
    pub shared_bytes: u64,
    /// The dynamic part of the shared memory in bytes.
    pub dynamic_shared: u32,
    /// Whether the kernel uses reserved shared memory.
    pub reserved_shared: bool,
    /// The size of each lane's stack in bytes.
    pub local_limit: u64,
    /// The number of bytes between the stacks of neighbouring lanes.
    pub local_stride: u64,
    /// The workspace of a cooperative launch; 0 for other launches.
    pub workspace: u64,
    /// The blocks of a cluster in each dimension.
    pub cluster: [u32; 3],
}

impl Geometry {
    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns the number of warps per block.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(LANES as u32)
    }

    /// Returns the number of blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&size| u64::from(size)).product()
    }

    /// Returns the position of a linear block number in the grid.
    pub fn block_index(&self, block: u64) -> [u32; 3] {
        let (x, y) = (u64::from(self.grid[0]), u64::from(self.grid[1]));
        if block < x {
            return [block as u32, 0, 0];
        }
        [(block % x) as u32, (block / x % y) as u32, (block / x / y) as u32]
    }

    /// Returns the first and last byte that a block with its shared memory at `shared` may touch without a check. If
    /// `none` is set, the block must check each access.
    pub fn shared_range(&self, shared: *mut u8, none: bool) -> [u64; 2] {
        let first = shared as u64;
        if none || self.shared_bytes == 0 { [NOWHERE; 2] } else { [first, first + self.shared_bytes - 1] }
    }

    /// Returns the number of bytes from the start of a block's shared memory to the reserved part.
    pub fn reserved_offset(&self) -> u64 {
        reserved_shared::offset(self.shared_bytes)
    }

    /// Returns the number of bytes that a block needs in the shared window.
    pub fn shared_room(&self) -> u64 {
        if self.reserved_shared { self.reserved_offset() + reserved_shared::BYTES } else { self.shared_bytes }
    }

    /// Clears the reserved shared memory of a block that starts, with its shared memory at `shared`.
    ///
    /// # Safety
    /// The block's part of the shared window is open.
    pub unsafe fn clear_reserved(&self, shared: *mut u8) {
        if self.reserved_shared {
            let start = shared.wrapping_add(self.reserved_offset() as usize);
            // SAFETY: by the contract; `shared_room` counts these bytes.
            unsafe { start.write_bytes(0, reserved_shared::BYTES as usize) };
        }
    }

    /// Returns the lanes that exist in a warp.
    pub fn live(&self, warp: u32) -> u32 {
        let lanes = (self.threads() - warp * LANES as u32).min(LANES as u32);
        if lanes == LANES as u32 { u32::MAX } else { (1 << lanes) - 1 }
    }

    /// Returns the thread positions of each warp's lanes.
    pub fn thread_table(&self) -> Vec<[Lanes; 3]> {
        let [x, y, _] = self.block;
        let mut table = vec![[Lanes([0; LANES]); 3]; self.warps() as usize];
        for thread in 0..self.threads() {
            let position = [thread % x, thread / x % y, thread / x / y];
            let lanes = &mut table[thread as usize / LANES];
            for (axis, value) in lanes.iter_mut().zip(position) {
                axis.0[thread as usize % LANES] = value;
            }
        }
        table
    }
}

/// The body of every fibre: runs the warp function to its end, then leaves the fibre permanently.
pub extern "C" fn warp_main(argument: *mut u8) -> ! {
    let warp: *mut Warp = argument.cast();
    // SAFETY: the scheduler prepared the fibre with a live warp, whose launch lives as long.
    unsafe {
        ((*warp).entry)(&raw mut (*warp).context);
        let running = (*warp).running;
        (*running).clock_end = (*running).clock_end.max((*warp).context.clock);
        (*running).pause = Pause::Finished;
        let next = if (*running).mode == Mode::Direct { unlink(warp) } else { null_mut() };
        (*running).current = next;
        let to = if next.is_null() { (*running).scheduler } else { (*next).fibre };
        switch(&raw mut (*warp).fibre, to);
    }
    // A finished fibre is never resumed.
    std::process::abort()
}

/// Removes a finished warp from its block's ring; returns null if it was the last.
///
/// # Safety
/// The ring's pointers are those of live warps.
unsafe fn unlink(warp: *mut Warp) -> *mut Warp {
    // SAFETY: by the contract.
    unsafe {
        let (next, previous) = ((*warp).next, (*warp).previous);
        if next == warp {
            return null_mut();
        }
        (*previous).next = next;
        (*next).previous = previous;
        next
    }
}

/// Switches from the current fibre to the scheduler; returns when the fibre is resumed.
///
/// # Safety
/// Called on the fibre of `warp`, which is the running one.
#[inline(always)]
pub unsafe fn pause(warp: *mut Warp, why: Pause) {
    // SAFETY: by the contract; the scheduler is suspended in its own switch.
    unsafe {
        let running = (*warp).running;
        (*running).pause = why;
        (*running).current = null_mut();
        switch(&raw mut (*warp).fibre, (*running).scheduler);
    }
}

/// Ends the kernel from inside a fibre.
///
/// # Safety
/// The requirements of [`pause`] apply. No value on the fibre's stack may need to be dropped.
pub unsafe fn stop(warp: *mut Warp, why: Stop) -> ! {
    // SAFETY: by the contract.
    unsafe {
        let running = (*warp).running;
        if (*running).stop.is_none() {
            (*running).stop = Some(why);
            (*running).fault_warp = warp;
        }
        pause(warp, Pause::Finished);
    }
    std::process::abort()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometry(grid: [u32; 3], block: [u32; 3]) -> Geometry {
        Geometry {
            grid,
            block,
            shared_bytes: 0,
            dynamic_shared: 0,
            reserved_shared: false,
            local_limit: 0,
            local_stride: 0,
            workspace: 0,
            cluster: [1; 3],
        }
    }

    #[test]
    fn threads_are_numbered_x_first() {
        let shape = geometry([3, 2, 2], [5, 4, 3]);
        assert_eq!((shape.threads(), shape.warps(), shape.blocks()), (60, 2, 12));
        assert_eq!(shape.block_index(11), [2, 1, 1]);
        assert_eq!((shape.live(0), shape.live(1)), (u32::MAX, (1 << 28) - 1));
        let table = shape.thread_table();
        let lane = |thread: usize| table[thread / 32].each_ref().map(|axis| axis.0[thread % 32]);
        assert_eq!(lane(0), [0, 0, 0]);
        assert_eq!(lane(7), [2, 1, 0]);
        assert_eq!(lane(59), [4, 3, 2]);
    }

    #[test]
    fn votes_of_neighbouring_barriers_do_not_mix() {
        let mut block = Block::new();
        block.arrive(0, 0xff, 0x0f);
        block.arrive(0, 0xff, 0xff);
        assert_eq!(block.leave(0, barrier::COUNT), 12);
        // The first warp arrives at the next barrier before the second has left this one.
        block.arrive(1, 0xff, 0xff);
        assert_eq!(block.leave(0, barrier::AND), 0);
        block.arrive(1, 0xff, 0xff);
        assert_eq!(block.leave(1, barrier::AND), 1);
        assert_eq!(block.leave(1, barrier::OR), 1);
        block.arrive(2, 0xff, 0);
        assert_eq!(block.leave(2, barrier::OR), 0);
    }
}
