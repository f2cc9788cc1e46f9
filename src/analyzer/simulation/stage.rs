//! L2, shared by all workers.
//!
//! Its sets are divided into shares, by slice if there are enough slices, and any idle worker serves any share. Each
//! share receives its requests batch by batch in the order of the trace. Sets are independent of each other, so the
//! figures do not depend on the numbers of workers and shares.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::Settings;
use warpline_simulator::geometry::LINE_BYTES;
use warpline_simulator::hierarchy::{Egress, EgressQueue, SecondLevel, Shares, SumOf, Traffic, TrafficCells, Written};

/// Maximum number of shares. More shares would wait for each other's batches.
const MOST_SHARES: u32 = 8;
/// Number of pending batches from which workers wait for the shares.
const CROWDED: usize = 16;
/// Only the last copies before a batch are simulated: those that write this many times the size of L2. Data of earlier
/// copies is already evicted.
const LAST_COPIES: u64 = 16;

/// A batch, or its parts received so far.
#[derive(Default)]
struct Batch {
    launch: LaunchId,
    /// Requests submitted by each worker, and a mask of the workers.
    parts: Vec<Egress>,
    workers: Vec<u32>,
    /// Copies before the batch.
    copies: Vec<Written>,
}

/// Received batches, and the progress of each share.
struct Order {
    /// Number of the next batch to complete.
    next: u64,
    waiting: BTreeMap<u64, Batch>,
    /// Copies, by number of the batch that follows them.
    copies: BTreeMap<u64, Vec<Written>>,
    /// Maximum number of lines of copies before one batch that are simulated.
    copied_lines: u64,
    /// Complete batches that some share has not served yet. The number of the first one is `first`.
    ready: VecDeque<Arc<Batch>>,
    first: u64,
    /// Indexed by share: number of the next batch to serve.
    served: Vec<u64>,
    spare: Vec<Egress>,
}

/// Some sets of L2.
struct Share {
    level: SecondLevel,
    /// Number of the next batch to serve.
    next: u64,
    /// The launch of the last served batch.
    launch: Option<LaunchId>,
    /// Sums by launch, then by worker.
    sums: FxHashMap<LaunchId, Vec<TrafficCells>>,
}

struct Stage {
    settings: Settings,
    workers: u32,
    division: Shares,
    order: Mutex<Order>,
    shares: Vec<Mutex<Share>>,
}

/// The shared stage, as workers access it.
#[derive(Clone)]
pub struct SharedStage(Arc<Stage>);

struct Sums<'a> {
    workers: &'a [u32],
    cells: &'a mut Vec<TrafficCells>,
}

impl SumOf for Sums<'_> {
    #[inline]
    fn sum(&mut self, part: usize, cell: u32) -> &mut Traffic {
        self.cells[self.workers[part] as usize].cell(cell)
    }
}

/// Locks a mutex and ignores poisoning: the pool reports a worker that panicked, and its figures are not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedStage {
    /// Creates an empty L2 for `workers` workers.
    pub fn new(settings: &Settings, workers: u32) -> SharedStage {
        let l2 = &settings.hierarchy.l2;
        let division = Shares::new(l2.slices, l2.sets, workers.clamp(1, MOST_SHARES));
        let share = || Share {
            level: SecondLevel::new(&settings.hierarchy),
            next: 0,
            launch: None,
            sums: FxHashMap::default(),
        };
        SharedStage(Arc::new(Stage {
            settings: settings.clone(),
            workers: workers.max(1),
            division,
            order: Mutex::new(Order {
                next: 0,
                waiting: BTreeMap::new(),
                copies: BTreeMap::new(),
                copied_lines: if settings.warm_copies { LAST_COPIES * l2.bytes() / LINE_BYTES } else { u64::MAX },
                ready: VecDeque::new(),
                first: 0,
                served: vec![0; division.count() as usize],
                spare: Vec::new(),
            }),
            shares: (0..division.count()).map(|_| Mutex::new(share())).collect(),
        }))
    }

    /// Returns an empty queue for requests that leave a worker's SMs.
    pub(super) fn leaving(&self) -> Egress {
        Egress::new(&self.0.settings.hierarchy.l2, self.0.division)
    }

    /// Returns the number of workers.
    pub(super) fn workers(&self) -> u32 {
        self.0.workers
    }

    /// Records that a copy writes device memory before batch number `batch`.
    pub fn copied(&self, batch: u64, written: Written) {
        lock(&self.0.order).copies.entry(batch).or_default().push(written);
    }

    /// Submits a worker's part of a batch; `left` is returned empty.
    pub(super) fn submit(&self, batch: u64, launch: LaunchId, worker: u32, left: &mut Egress) {
        let mut order = lock(&self.0.order);
        let spare = order.spare.pop().unwrap_or_else(|| self.leaving());
        let waiting = order.waiting.entry(batch).or_default();
        waiting.launch = launch;
        waiting.workers.push(worker);
        waiting.parts.push(std::mem::replace(left, spare));
        order.complete(self.0.workers);
        let crowded = order.ready.len() > CROWDED;
        drop(order);
        self.0.serve(worker, crowded);
    }

    /// Called when a worker has submitted all its parts. Serves all complete batches.
    pub(super) fn finish(&self, worker: u32) {
        self.0.serve(worker, true);
    }

    /// Returns the sums of an ended launch, by worker. All its requests must have been served.
    pub fn take(&self, launch: LaunchId) -> Vec<TrafficCells> {
        let mut sums: Vec<TrafficCells> = Vec::new();
        for share in &self.0.shares {
            let cells = lock(share).sums.remove(&launch).unwrap_or_default();
            sums.resize_with(sums.len().max(cells.len()), TrafficCells::default);
            for (sum, cells) in sums.iter_mut().zip(&cells) {
                for (cell, traffic) in (0..).zip(cells.as_slice()) {
                    sum.cell(cell).add(traffic);
                }
            }
        }
        sums
    }
}

impl Stage {
    /// Serves complete batches. Each worker starts with another share. Shares that others are serving are waited for or
    /// skipped.
    fn serve(&self, worker: u32, wait: bool) {
        let count = self.shares.len();
        for index in (0..count).map(|step| (worker as usize + step) % count) {
            let mut share = match self.shares[index].try_lock() {
                Ok(share) => share,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if wait => lock(&self.shares[index]),
                Err(TryLockError::WouldBlock) => continue,
            };
            loop {
                let ready = lock(&self.order).ready_for(share.next);
                let Some(batch) = ready else { break };
                self.serve_share(&mut share, index, &batch);
                share.next += 1;
                drop(batch);
                lock(&self.order).done(index, share.next);
            }
        }
    }

    fn serve_share(&self, share: &mut Share, index: usize, batch: &Batch) {
        for written in &batch.copies {
            share.level.copied(written, self.settings.warm_copies, self.division, index as u32);
        }
        if self.settings.flush_at_launch && share.launch.replace(batch.launch) != Some(batch.launch) {
            share.level = SecondLevel::new(&self.settings.hierarchy);
        }
        let cells = share.sums.entry(batch.launch).or_default();
        cells.resize_with(self.workers as usize, TrafficCells::default);
        let parts: Vec<&EgressQueue> = batch.parts.iter().map(|part| part.share(index)).collect();
        share.level.serve(&parts, &mut Sums { workers: &batch.workers, cells });
    }
}

impl Order {
    /// Marks batches as ready when all their parts have arrived.
    fn complete(&mut self, workers: u32) {
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() == self.next
            && entry.get().parts.len() == workers as usize
        {
            let (number, mut batch) = entry.remove_entry();
            self.next += 1;
            while let Some(entry) = self.copies.first_entry().filter(|entry| *entry.key() <= number) {
                batch.copies.append(&mut entry.remove());
            }
            let mut lines = 0u64;
            let last = batch.copies.iter().rposition(|written| {
                lines = lines.saturating_add(written.line_count());
                lines >= self.copied_lines
            });
            batch.copies.drain(..last.unwrap_or(0));
            self.ready.push_back(Arc::new(batch));
        }
    }

    /// Returns the batch with a number if it is complete.
    fn ready_for(&self, number: u64) -> Option<Arc<Batch>> {
        self.ready.get((number - self.first) as usize).map(Arc::clone)
    }

    /// Records that a share continues with batch number `next`. Batches that no share needs are freed.
    fn done(&mut self, share: usize, next: u64) {
        self.served[share] = next;
        let all = self.served.iter().min().copied().unwrap_or(next);
        while self.first < all {
            self.first += 1;
            let Some(Ok(mut batch)) = self.ready.pop_front().map(Arc::try_unwrap) else { continue };
            batch.parts.iter_mut().for_each(Egress::clear);
            self.spare.append(&mut batch.parts);
        }
    }
}
