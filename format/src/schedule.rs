//! The scheduler: it assigns blocks to SMs and orders the issue slots of warps. It is a pure function of the launch's
//! shape, some parameters of the device and the warps' instruction streams. A recorded trace that is reordered for
//! another model is therefore equal to a run on that model.
//!
//! Rules:
//! - Blocks are placed in linear order. At the start, they are distributed over the SMs one by one until every SM has
//!   its number of resident blocks. Later, a block that ends is immediately replaced by the next block. The blocks of a
//!   cluster ([`Shape::cluster`]) are placed together when enough slots are free.
//! - All SMs advance in step. In each step, each SM (in ascending order) gives one issue slot to a warp that can run,
//!   selected by the model's order ([`Shape::order`]). An SM without a ready warp skips the step.
//! - An issue slot ends with the item that brings it to [`Shape::turn`] requests or more (an item may represent several
//!   requests), and earlier at a barrier or the warp's end. A warp at a block-wide barrier waits until every unfinished
//!   warp of its block has arrived. A warp at a numbered barrier waits until the barrier's number of warps has arrived.
//!
//! Virtual time is thus counted in requests; arithmetic in between takes no time.

use std::collections::VecDeque;

use crate::issue::{Issue, LooseRoundRobin, OldestFirst};
use crate::rendezvous::{Arrivals, BARRIERS, Rendezvous};
use crate::warp_order::Order;

pub use crate::issue::passed;

/// The inputs of the scheduler besides the instruction streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Number of blocks in the grid.
    pub blocks: u64,
    /// Number of warps per block.
    pub warps: u32,
    /// Number of SMs of the device.
    pub sms: u32,
    /// Number of resident blocks per SM, at least 1.
    pub resident: u32,
    /// Number of requests per issue slot, at least 1.
    pub turn: u32,
    /// Number of blocks of a cluster, which start together; at least 1.
    pub cluster: u32,
    /// Selects the warp that issues among those that can run.
    pub order: Order,
}

impl Shape {
    /// Returns the number of warp slots per SM. Slot `sm · slots_per_sm + r · warps + w` contains warp `w` of the SM's
    /// `r`-th resident block.
    pub fn slots_per_sm(&self) -> u32 {
        self.resident * self.warps
    }
}

/// Reason for the end of an issue slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The requests of the slot are used up; the warp continues later.
    Budget,
    /// The warp polls a result of other warps and yields; it continues later.
    GaveWay,
    /// The warp reached a block-wide barrier.
    Barrier,
    /// The warp arrived at a barrier with a number or a thread count.
    Named(Rendezvous),
    /// The warp has ended.
    Finished,
}

/// Source and destination of the warps' items.
pub trait WarpStreams {
    /// Error of a stream that cannot continue.
    type Error;

    /// Called when a block becomes resident; its warps occupy consecutive slots from `first_slot` on.
    fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Self::Error>;

    /// Emits the next items of the warp in `slot`, until they contain at least `requests` requests.
    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Self::Error>;

    /// Called when the block's last warp has ended and its slots are free.
    fn end_block(&mut self, block: u64, first_slot: u32) -> Result<(), Self::Error>;

    /// Called at a deadlock: every unfinished warp waits at a barrier that no warp can open. `slot` is the first of
    /// them, `meeting` its barrier, and `_arrived` the number of warps that have arrived there. The launch ends here.
    fn stuck(&mut self, _slot: u32, _meeting: Rendezvous, _arrived: u32) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarpState {
    Empty,
    Ready,
    /// Waiting at the block-wide barrier.
    Waiting,
    /// Waiting at a numbered barrier.
    Named(u8),
    Done,
}

struct Resident {
    block: u64,
    /// Number of unfinished warps.
    unfinished: u32,
    /// Number of warps at the block-wide barrier.
    waiting: u32,
    /// Arrivals at numbered barriers.
    named: Arrivals,
}

/// Blocks and warps of an SM.
pub(crate) struct SmState {
    pub(crate) states: Vec<WarpState>,
    residents: Vec<Option<Resident>>,
    /// Number of warps per block.
    warps: usize,
    /// Number of warps that can run.
    pub(crate) ready: u32,
}

struct Sm<I> {
    state: SmState,
    issue: I,
}

impl SmState {
    /// Returns the number of the block that occupies a slot.
    pub(crate) fn block(&self, slot: usize) -> Option<u64> {
        self.residents[slot / self.warps].as_ref().map(|resident| resident.block)
    }
}

impl<I: Issue> Sm<I> {
    /// Makes a warp ready again.
    fn resume(&mut self, slot: usize) {
        self.state.states[slot] = WarpState::Ready;
        self.state.ready += 1;
        self.issue.resume(slot);
    }

    /// Processes the end of an issue slot at a barrier or with the warp's end; returns whether the slot's block has
    /// ended.
    fn settle(&mut self, slot: usize, end: TurnEnd) -> bool {
        let index = slot / self.state.warps;
        let Some(resident) = self.state.residents[index].as_mut() else { return false };
        self.state.ready -= 1;
        let mut opened = [false; BARRIERS];
        let (state, goes_on) = match end {
            TurnEnd::Budget | TurnEnd::GaveWay => (WarpState::Ready, true),
            TurnEnd::Barrier => {
                resident.waiting += 1;
                (WarpState::Waiting, false)
            }
            TurnEnd::Named(meeting) if meeting.cluster => (WarpState::Ready, true),
            TurnEnd::Named(meeting) => {
                opened[meeting.number as usize % BARRIERS] = resident.named.arrive(meeting, resident.unfinished);
                (WarpState::Named(meeting.number as u8), !meeting.waits)
            }
            TurnEnd::Finished => {
                resident.unfinished -= 1;
                for (number, opened) in opened.iter_mut().enumerate() {
                    *opened = resident.named.opens(number as u32, resident.unfinished);
                }
                (WarpState::Done, false)
            }
        };
        let unfinished = resident.unfinished;
        let whole = unfinished > 0 && resident.waiting == unfinished;
        if whole {
            resident.waiting = 0;
        }
        self.state.states[slot] = state;
        if goes_on {
            self.resume(slot);
        }
        if whole || opened.contains(&true) {
            self.open(index, whole, &opened);
        }
        unfinished == 0
    }

    /// Makes those warps of a block ready that wait at a barrier that has opened.
    fn open(&mut self, index: usize, whole: bool, opened: &[bool; BARRIERS]) {
        for slot in index * self.state.warps..(index + 1) * self.state.warps {
            let goes_on = match self.state.states[slot] {
                WarpState::Waiting => whole,
                WarpState::Named(number) => opened[usize::from(number) % BARRIERS],
                _ => false,
            };
            if goes_on {
                self.resume(slot);
            }
        }
    }
}

/// Reports the first warp that waits forever.
fn report_stuck<I, S: WarpStreams>(sms: &[Sm<I>], slots: usize, streams: &mut S) -> Result<(), S::Error> {
    for (number, sm) in sms.iter().map(|sm| &sm.state).enumerate() {
        for (slot, state) in sm.states.iter().enumerate() {
            let Some(resident) = &sm.residents[slot / sm.warps] else { continue };
            let (meeting, arrived) = match *state {
                WarpState::Waiting => (Rendezvous::BLOCK, resident.waiting),
                WarpState::Named(name) => {
                    let (arrived, wanted) = resident.named.waiting(u32::from(name));
                    (Rendezvous { number: u32::from(name), warps: wanted, ..Rendezvous::BLOCK }, arrived)
                }
                _ => continue,
            };
            return streams.stuck((number * slots + slot) as u32, meeting, arrived);
        }
    }
    Ok(())
}

/// Runs all blocks of a launch to their end.
pub fn run<S: WarpStreams>(shape: &Shape, streams: &mut S) -> Result<(), S::Error> {
    let slots = shape.slots_per_sm() as usize;
    match shape.order {
        Order::LooseRoundRobin { drift } => Launch::new(shape, streams, || LooseRoundRobin::new(drift)).run(),
        Order::OldestFirst { wait } => Launch::new(shape, streams, || OldestFirst::new(wait, slots)).run(),
    }
}

/// The state of a running launch.
struct Launch<'a, I, S> {
    shape: &'a Shape,
    streams: &'a mut S,
    sms: Vec<Sm<I>>,
    /// Number of the next block to place.
    next_block: u64,
    /// Number of resident blocks.
    live: u64,
    /// Free block slots (SM and number on the SM), in the order in which they became free.
    free: VecDeque<(usize, usize)>,
}

impl<'a, I: Issue, S: WarpStreams> Launch<'a, I, S> {
    fn new(shape: &'a Shape, streams: &'a mut S, issue: impl Fn() -> I) -> Self {
        let used_sms = (shape.sms.max(1) as u64).min(shape.blocks) as usize;
        let sm = |_| Sm {
            state: SmState {
                states: vec![WarpState::Empty; shape.slots_per_sm() as usize],
                residents: (0..shape.resident).map(|_| None).collect(),
                warps: shape.warps as usize,
                ready: 0,
            },
            issue: issue(),
        };
        let sms = (0..used_sms).map(sm).collect();
        Launch { shape, streams, sms, next_block: 0, live: 0, free: VecDeque::new() }
    }

    fn run(mut self) -> Result<(), S::Error> {
        self.place_first()?;
        let slots = self.shape.slots_per_sm() as usize;
        let requests = self.shape.turn.max(1);
        let mut step = 0u64;
        while self.live > 0 {
            step += 1;
            let mut moved = false;
            for number in 0..self.sms.len() {
                let sm = &mut self.sms[number];
                if sm.state.ready == 0 {
                    continue;
                }
                let Some(slot) = sm.issue.choose(&sm.state, step) else { continue };
                moved = true;
                match self.streams.turn((number * slots + slot) as u32, requests)? {
                    TurnEnd::Budget => sm.issue.resume(slot),
                    TurnEnd::GaveWay => sm.issue.give_way(slot, step),
                    end => {
                        if sm.settle(slot, end) {
                            self.replace(number, slot)?;
                        }
                    }
                }
            }
            if !moved {
                // Steps in which no warp is ready are skipped at once.
                match self.sms.iter().filter_map(|sm| sm.issue.next_ready()).min() {
                    Some(next) => step = next - 1,
                    None => return report_stuck(&self.sms, slots, self.streams),
                }
            }
        }
        Ok(())
    }

    /// Places as many blocks as fit at the start.
    fn place_first(&mut self) -> Result<(), S::Error> {
        let cluster = u64::from(self.shape.cluster.max(1));
        let places = u64::from(self.shape.resident) * self.sms.len() as u64;
        let at_first = places.min(self.shape.blocks) / cluster * cluster;
        for resident in 0..self.shape.resident as usize {
            for number in 0..self.sms.len() {
                if self.next_block < at_first {
                    self.place(number, resident)?;
                } else {
                    self.free.push_back((number, resident));
                }
            }
        }
        Ok(())
    }

    /// Ends the block of a slot, and places the next block or cluster if there is room.
    fn replace(&mut self, number: usize, slot: usize) -> Result<(), S::Error> {
        let warps = self.shape.warps as usize;
        let index = slot / warps;
        let sm = &mut self.sms[number].state;
        let Some(resident) = sm.residents[index].take() else { return Ok(()) };
        sm.states[index * warps..(index + 1) * warps].fill(WarpState::Empty);
        let first = number * self.shape.slots_per_sm() as usize + index * warps;
        self.streams.end_block(resident.block, first as u32)?;
        self.live -= 1;
        self.free.push_back((number, index));
        let cluster = self.shape.cluster.max(1) as usize;
        while self.next_block < self.shape.blocks && self.free.len() >= cluster {
            for _ in 0..cluster {
                let Some((number, index)) = self.free.pop_front() else { break };
                self.place(number, index)?;
            }
        }
        Ok(())
    }

    /// Starts the next block.
    fn place(&mut self, number: usize, resident: usize) -> Result<(), S::Error> {
        let (block, warps) = (self.next_block, self.shape.warps);
        let first = resident * warps as usize;
        self.streams.start_block(block, (number * self.shape.slots_per_sm() as usize + first) as u32)?;
        let Sm { state, issue } = &mut self.sms[number];
        state.states[first..first + warps as usize].fill(WarpState::Ready);
        state.ready += warps;
        state.residents[resident] = Some(Resident { block, unfinished: warps, waiting: 0, named: Arrivals::default() });
        for warp in 0..warps {
            issue.start(first + warp as usize, (block, warp));
        }
        self.next_block += 1;
        self.live += 1;
        Ok(())
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
