//! The scheduler: which block sits on which SM, and how warps take turns. A pure function of the
//! launch's shape, a few numbers of the device and the warps' own instruction streams, so that a
//! kept trace put into another model's order equals a run made for that model.
//!
//! Rules:
//! - Blocks are placed in linear order. At the start they go round the SMs one by one until every
//!   SM holds its resident number; later, a block that ends is replaced at once by the next. Those of
//!   a cluster ([`Shape::cluster`]) are placed together, as soon as so many places are free.
//! - All SMs advance in step. In a step each SM, in rising order, gives one turn to the next of its
//!   warps that can run, round robin over its slots.
//! - Where blocks drift ([`Shape::drift`]) each passes over a share of its chances, which the next warp that can run takes.
//! - A turn ends with the item that makes it [`Shape::turn`] requests or more (an item may stand for several), and
//!   early at a barrier or the warp's end. A warp at a block-wide barrier waits until every unfinished warp of its block
//!   has come, one at a numbered barrier until as many warps have arrived there as it is for.
//!
//! Virtual time is thus counted in requests; arithmetic between them takes none.

use std::collections::VecDeque;

use crate::budget::mix;
use crate::rendezvous::{Arrivals, BARRIERS, Rendezvous};

/// What the order depends on besides the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Warps per block.
    pub warps: u32,
    /// SMs of the device.
    pub sms: u32,
    /// Blocks resident per SM, at least 1.
    pub resident: u32,
    /// Requests per turn, at least 1.
    pub turn: u32,
    /// Blocks that start together, at least 1: those of a cluster.
    pub cluster: u32,
    /// Per cent of its chances that the slowest block passes over; each block has a share of its own between none and this.
    /// 0: all blocks keep step.
    pub drift: u32,
}

impl Shape {
    /// Warp slots per SM: slot `sm · slots_per_sm + r · warps + w` holds warp `w` of the SM's
    /// `r`-th resident block.
    pub fn slots_per_sm(&self) -> u32 {
        self.resident * self.warps
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The requests were used up; the warp goes on later.
    Budget,
    /// The warp reached a block-wide barrier.
    Barrier,
    /// The warp arrived at a barrier that has a number or a count of threads.
    Named(Rendezvous),
    /// The warp is over.
    Finished,
}

/// Where the warps' items come from and go to.
pub trait WarpStreams {
    /// Why a stream cannot go on.
    type Error;

    /// A block becomes resident; its warps take `slots` from `first_slot` on.
    fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Self::Error>;

    /// Hands on the next items of the warp in `slot`, until they are `requests` requests or more.
    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Self::Error>;

    /// The block's last warp is over; its slots are free.
    fn end_block(&mut self, block: u64, first_slot: u32) -> Result<(), Self::Error>;

    /// Deadlock: every unfinished warp waits at a barrier that no warp can open. `slot` is the first of them, and `meeting` its
    /// barrier, with the number of warps that have arrived there. The launch ends here.
    fn stuck(&mut self, _slot: u32, _meeting: Rendezvous, _arrived: u32) -> Result<(), Self::Error> {
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WarpState {
    Empty,
    Ready,
    /// At the block-wide barrier.
    Waiting,
    /// At a numbered barrier.
    Named(u8),
    Done,
}

struct Resident {
    block: u64,
    /// Warps that are not over.
    unfinished: u32,
    /// Warps at the block-wide barrier.
    waiting: u32,
    /// Arrivals at numbered barriers.
    named: Arrivals,
}

struct Sm {
    states: Vec<WarpState>,
    residents: Vec<Option<Resident>>,
    /// Slot that is asked first in the next step.
    next: usize,
    ready: u32,
}

impl Sm {
    /// The first slot from `slot` on that can run; there is one.
    fn ready_from(&self, mut slot: usize) -> usize {
        while self.states[slot] != WarpState::Ready {
            slot = if slot + 1 == self.states.len() { 0 } else { slot + 1 };
        }
        slot
    }

    /// Takes a turn's end other than by its budget into account; returns whether the block of the slot is over.
    fn settle(&mut self, slot: usize, warps: usize, end: TurnEnd) -> bool {
        let index = slot / warps;
        let Some(resident) = self.residents[index].as_mut() else { return false };
        self.ready -= 1;
        self.states[slot] = match end {
            TurnEnd::Budget | TurnEnd::Finished => WarpState::Done,
            TurnEnd::Barrier => WarpState::Waiting,
            TurnEnd::Named(meeting) => WarpState::Named(meeting.number as u8),
        };
        let mut opened = [false; BARRIERS];
        match end {
            TurnEnd::Budget => {}
            TurnEnd::Barrier => resident.waiting += 1,
            TurnEnd::Named(meeting) if meeting.cluster => {
                self.states[slot] = WarpState::Ready;
                self.ready += 1;
            }
            TurnEnd::Named(meeting) => {
                opened[meeting.number as usize % BARRIERS] = resident.named.arrive(meeting, resident.unfinished);
                if !meeting.waits {
                    self.states[slot] = WarpState::Ready;
                    self.ready += 1;
                }
            }
            TurnEnd::Finished => {
                resident.unfinished -= 1;
                for (number, opened) in opened.iter_mut().enumerate() {
                    *opened = resident.named.opens(number as u32, resident.unfinished);
                }
            }
        }
        let unfinished = resident.unfinished;
        let whole = unfinished > 0 && resident.waiting == unfinished;
        if whole {
            resident.waiting = 0;
        }
        if whole || opened.contains(&true) {
            for state in &mut self.states[index * warps..(index + 1) * warps] {
                let goes_on = match *state {
                    WarpState::Waiting => whole,
                    WarpState::Named(number) => opened[usize::from(number) % BARRIERS],
                    _ => false,
                };
                if goes_on {
                    *state = WarpState::Ready;
                    self.ready += 1;
                }
            }
        }
        unfinished == 0
    }
}

/// Reports the first warp that waits for ever.
fn report_stuck<S: WarpStreams>(sms: &[Sm], warps: usize, slots: usize, streams: &mut S) -> Result<(), S::Error> {
    for (number, sm) in sms.iter().enumerate() {
        for (slot, state) in sm.states.iter().enumerate() {
            let Some(resident) = &sm.residents[slot / warps] else { continue };
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

/// Whether a block's warp passes over a chance. Numbers that look random, the same in every run.
fn passes(drift: u32, block: u64, slot: usize, step: u64) -> bool {
    random(block ^ step << 20 ^ (slot as u64) << 48) % 100 < passed(drift, block)
}

fn random(value: u64) -> u64 {
    mix(value.wrapping_add(0x9e37_79b9_7f4a_7c15))
}

/// Per cent of its chances that a block's warps pass over, of at most `drift`.
pub fn passed(drift: u32, block: u64) -> u64 {
    random(block) % (u64::from(drift) + 1)
}

/// Runs all blocks of a launch to their end.
pub fn run<S: WarpStreams>(shape: &Shape, streams: &mut S) -> Result<(), S::Error> {
    let slots = shape.slots_per_sm() as usize;
    let warps = shape.warps as usize;
    let used_sms = (shape.sms.max(1) as u64).min(shape.blocks) as usize;
    let mut sms: Vec<Sm> = (0..used_sms)
        .map(|_| Sm {
            states: vec![WarpState::Empty; slots],
            residents: (0..shape.resident).map(|_| None).collect(),
            next: 0,
            ready: 0,
        })
        .collect();
    let mut next_block = 0;
    let mut live = 0u64;

    let cluster = u64::from(shape.cluster.max(1));
    let places = u64::from(shape.resident) * used_sms as u64;
    let at_first = places.min(shape.blocks) / cluster * cluster;
    // Places without a block, in the order in which they became free.
    let mut free: VecDeque<(usize, usize)> = VecDeque::new();
    for resident in 0..shape.resident as usize {
        for (number, sm) in sms.iter_mut().enumerate() {
            if next_block < at_first {
                place(shape, streams, sm, number, resident, next_block)?;
                next_block += 1;
                live += 1;
            } else {
                free.push_back((number, resident));
            }
        }
    }

    let mut step = 0u64;
    while live > 0 {
        step += 1;
        let mut moved = false;
        for number in 0..sms.len() {
            let sm = &mut sms[number];
            if sm.ready == 0 {
                continue;
            }
            moved = true;
            let mut slot = sm.ready_from(sm.next);
            if shape.drift > 0 {
                // When all pass, the last one asked has the turn.
                for _ in 1..sm.ready {
                    let Some(resident) = &sm.residents[slot / warps] else { break };
                    if !passes(shape.drift, resident.block, slot, step) {
                        break;
                    }
                    slot = sm.ready_from(if slot + 1 == slots { 0 } else { slot + 1 });
                }
            }
            sm.next = if slot + 1 == slots { 0 } else { slot + 1 };
            let end = streams.turn((number * slots + slot) as u32, shape.turn.max(1))?;
            if end == TurnEnd::Budget {
                continue;
            }
            let index = slot / warps;
            if sm.settle(slot, warps, end) {
                let Some(resident) = sm.residents[index].take() else { continue };
                streams.end_block(resident.block, (number * slots + index * warps) as u32)?;
                sm.states[index * warps..(index + 1) * warps].fill(WarpState::Empty);
                live -= 1;
                free.push_back((number, index));
                while next_block < shape.blocks && free.len() as u64 >= cluster {
                    for (number, index) in free.drain(..cluster as usize) {
                        place(shape, streams, &mut sms[number], number, index, next_block)?;
                        next_block += 1;
                        live += 1;
                    }
                }
            }
        }
        if !moved {
            return report_stuck(&sms, warps, slots, streams);
        }
    }
    Ok(())
}

fn place<S: WarpStreams>(
    shape: &Shape,
    streams: &mut S,
    sm: &mut Sm,
    number: usize,
    resident: usize,
    block: u64,
) -> Result<(), S::Error> {
    let warps = shape.warps as usize;
    let first = resident * warps;
    streams.start_block(block, (number * shape.slots_per_sm() as usize + first) as u32)?;
    sm.states[first..first + warps].fill(WarpState::Ready);
    sm.ready += shape.warps;
    sm.residents[resident] = Some(Resident { block, unfinished: shape.warps, waiting: 0, named: Arrivals::default() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each warp issues a fixed number of requests, with a barrier after every `barrier` of them.
    struct Counted {
        requests: u32,
        barrier: u32,
        warps: u32,
        slots: std::collections::BTreeMap<u32, (u64, u32, u32)>,
        log: Vec<(u64, u32)>,
        starts: Vec<(u64, u32)>,
    }

    impl WarpStreams for Counted {
        type Error = std::convert::Infallible;

        fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Self::Error> {
            self.starts.push((block, first_slot));
            for warp in 0..self.warps {
                self.slots.insert(first_slot + warp, (block, warp, 0));
            }
            Ok(())
        }

        fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, Self::Error> {
            let (block, warp, done) = self.slots.get_mut(&slot).expect("resident");
            for _ in 0..requests {
                if *done == self.requests {
                    return Ok(TurnEnd::Finished);
                }
                self.log.push((*block, *warp));
                *done += 1;
                if self.barrier != 0 && *done % self.barrier == 0 {
                    return Ok(TurnEnd::Barrier);
                }
            }
            Ok(TurnEnd::Budget)
        }

        fn end_block(&mut self, _block: u64, first_slot: u32) -> Result<(), Self::Error> {
            for warp in 0..self.warps {
                self.slots.remove(&(first_slot + warp)).expect("was resident");
            }
            Ok(())
        }
    }

    fn counted(requests: u32, barrier: u32, warps: u32) -> Counted {
        Counted { requests, barrier, warps, slots: Default::default(), log: Vec::new(), starts: Vec::new() }
    }

    #[test]
    fn blocks_go_round_the_sms() {
        let mut streams = counted(1, 0, 1);
        run(&Shape { blocks: 5, warps: 1, sms: 2, resident: 2, turn: 1, cluster: 1, drift: 0 }, &mut streams).unwrap();
        assert_eq!(&streams.starts[..4], &[(0, 0), (1, 2), (2, 1), (3, 3)]);
        assert_eq!(streams.log.len(), 5);
        assert!(streams.slots.is_empty());
    }

    #[test]
    fn warps_alternate_by_turns() {
        let mut streams = counted(4, 0, 2);
        run(&Shape { blocks: 1, warps: 2, sms: 4, resident: 1, turn: 2, cluster: 1, drift: 0 }, &mut streams).unwrap();
        assert_eq!(streams.log, [0, 0, 1, 1, 0, 0, 1, 1].map(|warp| (0, warp)));
    }

    #[test]
    fn a_barrier_keeps_phases_apart() {
        let mut streams = counted(6, 3, 4);
        run(&Shape { blocks: 3, warps: 4, sms: 1, resident: 2, turn: 2, cluster: 1, drift: 0 }, &mut streams).unwrap();
        for block in 0..3 {
            let warps: Vec<u32> = streams.log.iter().filter(|entry| entry.0 == block).map(|entry| entry.1).collect();
            assert_eq!(warps.len(), 24);
            for warp in 0..4 {
                assert_eq!(warps[..12].iter().filter(|other| **other == warp).count(), 3);
            }
        }
    }

    /// Each warp has a list of what ends its turns.
    struct Scripted {
        ends: Vec<Vec<TurnEnd>>,
        at: Vec<usize>,
        log: Vec<usize>,
        stuck: Option<(u32, Rendezvous, u32)>,
    }

    impl WarpStreams for Scripted {
        type Error = std::convert::Infallible;

        fn start_block(&mut self, _block: u64, _first_slot: u32) -> Result<(), Self::Error> {
            Ok(())
        }

        fn turn(&mut self, slot: u32, _requests: u32) -> Result<TurnEnd, Self::Error> {
            let slot = slot as usize;
            self.log.push(slot);
            self.at[slot] += 1;
            Ok(self.ends[slot].get(self.at[slot] - 1).copied().unwrap_or(TurnEnd::Finished))
        }

        fn end_block(&mut self, _block: u64, _first_slot: u32) -> Result<(), Self::Error> {
            Ok(())
        }

        fn stuck(&mut self, slot: u32, meeting: Rendezvous, arrived: u32) -> Result<(), Self::Error> {
            self.stuck = Some((slot, meeting, arrived));
            Ok(())
        }
    }

    fn scripted(ends: Vec<Vec<TurnEnd>>) -> Scripted {
        let warps = ends.len();
        let mut streams = Scripted { at: vec![0; warps], ends, log: Vec::new(), stuck: None };
        let shape = Shape { blocks: 1, warps: warps as u32, sms: 1, resident: 1, turn: 1, cluster: 1, drift: 0 };
        run(&shape, &mut streams).unwrap();
        streams
    }

    #[test]
    fn numbered_barriers_wait_for_as_many_as_they_are_for() {
        let two = Rendezvous { number: 1, warps: 2, ..Rendezvous::BLOCK };
        let arrives = Rendezvous { waits: false, ..two };
        let wait = vec![TurnEnd::Named(two)];
        // Warps 0 and 2 meet; 1 has nothing to do with it.
        let streams = scripted(vec![wait.clone(), vec![TurnEnd::Budget], wait.clone()]);
        assert_eq!(streams.log, [0, 1, 2, 0, 1, 2]);
        // Who arrives goes on; who waits does when the other one has arrived.
        let streams = scripted(vec![wait.clone(), vec![TurnEnd::Budget, TurnEnd::Named(arrives)]]);
        assert_eq!(streams.log, [0, 1, 1, 0, 1]);
        assert_eq!(streams.stuck, None);
        // One for all warps opens when the others are over.
        let all = Rendezvous { number: 1, ..Rendezvous::BLOCK };
        assert_eq!(scripted(vec![vec![TurnEnd::Named(all)], vec![]]).log, [0, 1, 0]);
        let streams = scripted(vec![wait, vec![]]);
        assert_eq!(streams.stuck, Some((0, two, 1)));
    }

    #[test]
    fn clusters_start_when_there_is_room_for_all_of_their_blocks() {
        let mut streams = counted(1, 0, 1);
        run(&Shape { blocks: 6, warps: 1, sms: 3, resident: 1, turn: 1, cluster: 2, drift: 0 }, &mut streams).unwrap();
        let started: Vec<u64> = streams.starts.iter().map(|(block, _)| *block).collect();
        assert_eq!(started, [0, 1, 2, 3, 4, 5]);
        assert_eq!(&streams.starts[..2], &[(0, 0), (1, 1)]);
        assert!(streams.slots.is_empty());
    }

    #[test]
    fn blocks_that_drift_all_end_and_come_apart() {
        let log = |drift: u32| {
            let mut streams = counted(400, 50, 4);
            run(&Shape { blocks: 20, warps: 4, sms: 2, resident: 4, turn: 4, cluster: 1, drift }, &mut streams)
                .unwrap();
            assert!(streams.slots.is_empty());
            streams.log
        };
        // How far the quickest of an SM's first blocks is ahead of the slowest once each has made a quarter of its requests.
        let spread = |log: &[(u64, u32)]| {
            let mut made = [0u32; 4];
            for (block, _) in log.iter().filter(|entry| entry.0 % 2 == 0 && entry.0 < 8) {
                made[*block as usize / 2] += 1;
                if made.iter().all(|made| *made >= 400) {
                    break;
                }
            }
            made.iter().max().unwrap() - made.iter().min().unwrap()
        };
        let (together, apart) = (log(0), log(60));
        assert_eq!(together.len(), apart.len());
        assert!(spread(&together) <= 16, "{}", spread(&together));
        assert!(spread(&apart) > 100, "{}", spread(&apart));
        assert_eq!(apart, log(60), "the same in every run");
    }
}
