//! L2, shared by all workers.
//!
//! Its sets are divided into shares, by slice where there are enough, and any worker that has time serves any share.
//! A share gets what is on its way to it batch by batch, in the order of the trace, and sets do not depend on each
//! other; so the figures are the same for any number of workers and shares.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::Settings;
use warpline_simulator::geometry::LINE_BYTES;
use warpline_simulator::hierarchy::{Egress, EgressQueue, SecondLevel, Shares, SumOf, Traffic, TrafficCells, Written};

/// Most shares: more would wait for each other's batches.
const MOST_SHARES: u32 = 8;
/// Batches that may wait to be served before workers wait for the shares.
const CROWDED: usize = 16;
/// Of the copies before a batch, the last that write this many times the size of L2 leave their data there; what was
/// before them has been pushed out.
const LAST_COPIES: u64 = 16;

/// A batch, or the parts of it that have come so far.
#[derive(Default)]
struct Batch {
    launch: LaunchId,
    /// What each worker handed on, and which they are.
    parts: Vec<Egress>,
    workers: Vec<u32>,
    /// Copies before it.
    copies: Vec<Written>,
}

/// Which batches have come, and how far each share is.
struct Order {
    /// Number of the batch that has to be completed next.
    next: u64,
    waiting: BTreeMap<u64, Batch>,
    /// Copies by the number of the batch they come before.
    copies: BTreeMap<u64, Vec<Written>>,
    /// Lines that copies before one batch are followed for.
    copied_lines: u64,
    /// Complete ones that a share has still to serve; the first one's number is `first`.
    ready: VecDeque<Arc<Batch>>,
    first: u64,
    /// Indexed by share: number of the batch that it serves next.
    served: Vec<u64>,
    spare: Vec<Egress>,
}

/// Some sets of L2.
struct Share {
    level: SecondLevel,
    /// Number of the batch that is served next.
    next: u64,
    /// The launch that was served last.
    launch: Option<LaunchId>,
    /// Sums by launch and worker.
    sums: FxHashMap<LaunchId, Vec<TrafficCells>>,
}

struct Stage {
    settings: Settings,
    workers: u32,
    division: Shares,
    order: Mutex<Order>,
    shares: Vec<Mutex<Share>>,
}

/// The stage as workers hold it.
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

/// Returns a worker that panicked is reported by the pool; its figures are not used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedStage {
    /// An empty L2 for `workers` workers.
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

    /// Where a worker puts what leaves its SMs.
    pub(super) fn leaving(&self) -> Egress {
        Egress::new(&self.0.settings.hierarchy.l2, self.0.division)
    }

    /// A copy writes device memory before batch number `batch`.
    pub fn copied(&self, batch: u64, written: Written) {
        lock(&self.0.order).copies.entry(batch).or_default().push(written);
    }

    /// A worker's part of a batch; `left` comes back empty.
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

    /// A worker has handed on all it had: nothing that is complete stays unserved.
    pub(super) fn finish(&self, worker: u32) {
        self.0.serve(worker, true);
    }

    /// Returns the sums of a launch that has ended, by worker; nothing of it may still be on its way.
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
    /// Serves what is complete, beginning with another share for each worker. Shares that others are serving are waited
    /// for, or left to them.
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
    /// Makes batches ready whose parts have all come.
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

    /// Returns the batch with a number, if it is complete.
    fn ready_for(&self, number: u64) -> Option<Arc<Batch>> {
        self.ready.get((number - self.first) as usize).map(Arc::clone)
    }

    /// A share continues with batch number `next`; batches that no share needs any more give their memory back.
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
