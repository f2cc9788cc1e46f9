use super::*;

/// Each warp issues a fixed number of requests, with a barrier after every `barrier` requests.
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
    run(&Shape { blocks: 5, warps: 1, sms: 2, resident: 2, turn: 1, cluster: 1, order: Order::IN_STEP }, &mut streams)
        .unwrap();
    assert_eq!(&streams.starts[..4], &[(0, 0), (1, 2), (2, 1), (3, 3)]);
    assert_eq!(streams.log.len(), 5);
    assert!(streams.slots.is_empty());
}

#[test]
fn warps_alternate_by_turns() {
    let mut streams = counted(4, 0, 2);
    run(&Shape { blocks: 1, warps: 2, sms: 4, resident: 1, turn: 2, cluster: 1, order: Order::IN_STEP }, &mut streams)
        .unwrap();
    assert_eq!(streams.log, [0, 0, 1, 1, 0, 0, 1, 1].map(|warp| (0, warp)));
}

#[test]
fn a_barrier_keeps_phases_apart() {
    let mut streams = counted(6, 3, 4);
    run(&Shape { blocks: 3, warps: 4, sms: 1, resident: 2, turn: 2, cluster: 1, order: Order::IN_STEP }, &mut streams)
        .unwrap();
    for block in 0..3 {
        let warps: Vec<u32> = streams.log.iter().filter(|entry| entry.0 == block).map(|entry| entry.1).collect();
        assert_eq!(warps.len(), 24);
        for warp in 0..4 {
            assert_eq!(warps[..12].iter().filter(|other| **other == warp).count(), 3);
        }
    }
}

/// Each warp has a list of the ends of its issue slots.
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
    scripted_in(Order::IN_STEP, ends)
}

fn scripted_in(order: Order, ends: Vec<Vec<TurnEnd>>) -> Scripted {
    let warps = ends.len();
    let mut streams = Scripted { at: vec![0; warps], ends, log: Vec::new(), stuck: None };
    let shape = Shape { blocks: 1, warps: warps as u32, sms: 1, resident: 1, turn: 1, cluster: 1, order };
    run(&shape, &mut streams).unwrap();
    streams
}

#[test]
fn numbered_barriers_wait_for_as_many_as_they_are_for() {
    let two = Rendezvous { number: 1, warps: 2, ..Rendezvous::BLOCK };
    let arrives = Rendezvous { waits: false, ..two };
    let wait = vec![TurnEnd::Named(two)];
    // Warps 0 and 2 use the barrier; warp 1 does not.
    let streams = scripted(vec![wait.clone(), vec![TurnEnd::Budget], wait.clone()]);
    assert_eq!(streams.log, [0, 1, 2, 0, 1, 2]);
    // A warp that arrives continues; a warp that waits continues when the other has arrived.
    let streams = scripted(vec![wait.clone(), vec![TurnEnd::Budget, TurnEnd::Named(arrives)]]);
    assert_eq!(streams.log, [0, 1, 1, 0, 1]);
    assert_eq!(streams.stuck, None);
    // A barrier for all warps opens when the others have ended.
    let all = Rendezvous { number: 1, ..Rendezvous::BLOCK };
    assert_eq!(scripted(vec![vec![TurnEnd::Named(all)], vec![]]).log, [0, 1, 0]);
    let streams = scripted(vec![wait, vec![]]);
    assert_eq!(streams.stuck, Some((0, two, 1)));
}

#[test]
fn clusters_start_when_there_is_room_for_all_of_their_blocks() {
    let mut streams = counted(1, 0, 1);
    run(&Shape { blocks: 6, warps: 1, sms: 3, resident: 1, turn: 1, cluster: 2, order: Order::IN_STEP }, &mut streams)
        .unwrap();
    let started: Vec<u64> = streams.starts.iter().map(|(block, _)| *block).collect();
    assert_eq!(started, [0, 1, 2, 3, 4, 5]);
    assert_eq!(&streams.starts[..2], &[(0, 0), (1, 1)]);
    assert!(streams.slots.is_empty());
}

#[test]
fn blocks_that_drift_all_end_and_come_apart() {
    let log = |drift: u32| {
        let mut streams = counted(400, 50, 4);
        run(
            &Shape {
                blocks: 20,
                warps: 4,
                sms: 2,
                resident: 4,
                turn: 4,
                cluster: 1,
                order: Order::LooseRoundRobin { drift },
            },
            &mut streams,
        )
        .unwrap();
        assert!(streams.slots.is_empty());
        streams.log
    };
    // Computes the lead of the fastest of an SM's first blocks over the slowest, when each has made a quarter of its
    // requests.
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

/// Returns the blocks and warps in the order in which they issue on one SM, with one request per issue slot.
fn issued(order: Order, blocks: u64, warps: u32, resident: u32, (requests, barrier): (u32, u32)) -> Vec<(u64, u32)> {
    let mut streams = counted(requests, barrier, warps);
    run(&Shape { blocks, warps, sms: 1, resident, turn: 1, cluster: 1, order }, &mut streams).unwrap();
    assert!(streams.slots.is_empty());
    streams.log
}

#[test]
fn the_oldest_warp_issues_until_it_waits_or_ends() {
    let greedy = Order::OldestFirst { wait: 0 };
    // Block 2 takes the slot of block 0 and is younger than block 1.
    let log = issued(greedy, 3, 2, 2, (2, 0));
    let of_block = |block| [0, 0, 1, 1].map(|warp| (block, warp));
    assert_eq!(log, [of_block(0), of_block(1), of_block(2)].concat());
    // At a barrier, the next warp of the block issues; when the barrier has opened, the first one issues again.
    let log = issued(greedy, 2, 2, 2, (4, 2));
    let of_block = |block| [0, 0, 1, 1, 0, 0, 1, 1].map(|warp| (block, warp));
    assert_eq!(log, [of_block(0), of_block(1)].concat());
}

#[test]
fn a_warp_that_issued_is_not_ready_for_the_wait() {
    let blocks = |wait, blocks: u64, requests| {
        let log = issued(Order::OldestFirst { wait }, blocks, 1, blocks as u32, (requests, 0));
        log.into_iter().map(|(block, _)| block).collect::<Vec<u64>>()
    };
    // Two warps fill a wait of one step, so the third warp comes last.
    assert_eq!(blocks(1, 3, 3), [0, 1, 0, 1, 0, 1, 2, 2, 2]);
    assert_eq!(blocks(2, 3, 2), [0, 1, 2, 0, 1, 2]);
    // If all warps wait, steps pass without an issue, and there is no deadlock.
    assert_eq!(blocks(crate::warp_order::LONGEST_WAIT, 2, 3), [0, 1, 0, 1, 0, 1]);
}

#[test]
fn oldest_first_opens_barriers_and_reports_those_that_never_open() {
    let greedy = Order::OldestFirst { wait: 0 };
    let two = Rendezvous { number: 1, warps: 2, ..Rendezvous::BLOCK };
    let wait = vec![TurnEnd::Named(two)];
    let arrives = vec![TurnEnd::Budget, TurnEnd::Named(Rendezvous { waits: false, ..two })];
    // Warp 1 arrives and continues. Warp 0, which this makes ready, is older.
    assert_eq!(scripted_in(greedy, vec![wait.clone(), arrives]).log, [0, 1, 1, 0, 1]);
    for wait_steps in [0, 5] {
        let streams = scripted_in(Order::OldestFirst { wait: wait_steps }, vec![wait.clone(), vec![]]);
        assert_eq!(streams.stuck, Some((0, two, 1)));
    }
}

#[test]
fn a_warp_that_gives_way_issues_after_all_others() {
    let polls = vec![TurnEnd::GaveWay; 3];
    let works = vec![TurnEnd::Budget; 2];
    let streams = scripted_in(Order::OldestFirst { wait: 0 }, vec![polls.clone(), polls.clone(), works.clone()]);
    assert_eq!(streams.log, [0, 1, 2, 2, 2, 0, 1, 0, 1, 0, 1]);
    assert_eq!(scripted(vec![polls, works]).log, [0, 1, 0, 1, 0, 1, 0]);
}

#[test]
fn clusters_start_together_in_oldest_first() {
    let mut streams = counted(1, 0, 1);
    let order = Order::OldestFirst { wait: 3 };
    run(&Shape { blocks: 6, warps: 1, sms: 3, resident: 1, turn: 1, cluster: 2, order }, &mut streams).unwrap();
    let started: Vec<u64> = streams.starts.iter().map(|(block, _)| *block).collect();
    assert_eq!(started, [0, 1, 2, 3, 4, 5]);
    assert!(streams.slots.is_empty());
}

/// A warp of the slow reference scheduler below.
#[derive(Clone)]
struct Resting {
    block: u64,
    warp: u32,
    made: u32,
    ready: u64,
    at_barrier: bool,
    over: bool,
}

/// Reference for oldest-first on one SM: a list of all warps is searched in each step.
fn oldest_first_slowly(
    (blocks, warps, resident): (u64, u32, u32),
    (turn, wait): (u32, u32),
    (requests, barrier): (u32, u32),
) -> Vec<(u64, u32)> {
    let (mut log, mut list, mut next) = (Vec::new(), Vec::<Resting>::new(), 0);
    for step in 1.. {
        while next < blocks && list.len() < (resident * warps) as usize {
            let fresh = |warp| Resting { block: next, warp, made: 0, ready: 0, at_barrier: false, over: false };
            list.extend((0..warps).map(fresh));
            next += 1;
        }
        if list.is_empty() {
            break;
        }
        let can_run = |one: &&mut Resting| !one.at_barrier && !one.over && one.ready <= step;
        let Some(one) = list.iter_mut().filter(can_run).min_by_key(|one| (one.block, one.warp)) else { continue };
        one.ready = step + 1 + u64::from(wait);
        for _ in 0..turn {
            if one.made == requests {
                one.over = true;
                break;
            }
            log.push((one.block, one.warp));
            one.made += 1;
            if barrier != 0 && one.made % barrier == 0 {
                one.at_barrier = true;
                break;
            }
        }
        let block = one.block;
        let of_block = |one: &&mut Resting| one.block == block;
        if list.iter_mut().filter(of_block).all(|one| one.at_barrier || one.over) {
            list.iter_mut().filter(of_block).for_each(|one| one.at_barrier = false);
        }
        if list.iter_mut().filter(of_block).all(|one| one.over) {
            list.retain(|one| one.block != block);
        }
    }
    log
}

#[test]
fn oldest_first_is_that_of_the_slow_scheduler() {
    for case in 0..400u64 {
        let pick = |what: u64, upto: u64| crate::budget::mix(case * 16 + what) % upto;
        let (blocks, warps, resident) = (1 + pick(0, 9), 1 + pick(1, 5) as u32, 1 + pick(2, 4) as u32);
        let (turn, wait) = (1 + pick(3, 4) as u32, pick(4, 12) as u32);
        let (requests, barrier) = (pick(5, 14) as u32, pick(6, 5) as u32);
        let mut streams = counted(requests, barrier, warps);
        let order = Order::OldestFirst { wait };
        run(&Shape { blocks, warps, sms: 1, resident, turn, cluster: 1, order }, &mut streams).unwrap();
        let want = oldest_first_slowly((blocks, warps, resident), (turn, wait), (requests, barrier));
        assert_eq!(
            streams.log, want,
            "{blocks} blocks, {warps} warps, {resident} resident, turn {turn}, wait {wait}, {requests} requests, barrier {barrier}"
        );
    }
}
