//! Level 2, shared by all workers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::Settings;
use crate::hierarchy::{L2Request, SecondLevel, SumOf, Traffic, TrafficCells};

/// A request that left an SM, and its place in its batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Byte of the batch that the warp's request starts at.
    pub(super) place: u64,
    /// The request.
    pub(super) request: L2Request,
    /// Worker that made it.
    pub(super) worker: u16,
}

/// A change of device memory that is no request.
#[derive(Clone, Copy, Debug)]
struct Copied {
    address: u64,
    bytes: u64,
}

/// Parts of a batch that have come so far.
#[derive(Default)]
struct Waiting {
    launch: LaunchId,
    parts: u32,
    requests: Vec<Placed>,
}

/// Level 2 and what waits for it.
pub struct Stage {
    level: SecondLevel,
    warm_copies: bool,
    workers: u32,
    /// Number of the batch that has to be served next.
    next: u64,
    waiting: BTreeMap<u64, Waiting>,
    /// Copies by the number of the batch they come before.
    copies: BTreeMap<u64, Vec<Copied>>,
    /// Sums by launch and worker.
    sums: FxHashMap<LaunchId, Vec<TrafficCells>>,
    spare: Vec<Vec<Placed>>,
    ordered: Vec<L2Request>,
}

/// The stage as workers hold it.
#[derive(Clone)]
pub struct SharedStage(Arc<Mutex<Stage>>);

struct Sums<'a> {
    workers: &'a [u16],
    cells: &'a mut Vec<TrafficCells>,
    at: usize,
}

impl SumOf for Sums<'_> {
    #[inline]
    fn sum(&mut self, request: &L2Request) -> &mut Traffic {
        let worker = self.workers[self.at];
        self.at += 1;
        self.cells[worker as usize].cell(request.cell)
    }
}

impl SharedStage {
    /// An empty level 2 for `workers` workers.
    pub fn new(settings: &Settings, workers: u32) -> SharedStage {
        SharedStage(Arc::new(Mutex::new(Stage {
            level: SecondLevel::new(&settings.hierarchy),
            warm_copies: settings.warm_copies,
            workers: workers.max(1),
            next: 0,
            waiting: BTreeMap::new(),
            copies: BTreeMap::new(),
            sums: FxHashMap::default(),
            spare: Vec::new(),
            ordered: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        // A worker that panicked is reported by the pool; its figures are not used.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A copy writes device memory before batch number `batch`.
    pub fn copied(&self, batch: u64, address: u64, bytes: u64) {
        self.lock().copies.entry(batch).or_default().push(Copied { address, bytes });
    }

    /// A worker's part of a batch; `requests` comes back empty.
    pub(super) fn submit(&self, batch: u64, launch: LaunchId, requests: &mut Vec<Placed>) {
        let mut stage = self.lock();
        let spare = stage.spare.pop().unwrap_or_default();
        let waiting = stage.waiting.entry(batch).or_default();
        waiting.launch = launch;
        waiting.parts += 1;
        if waiting.requests.is_empty() {
            waiting.requests = std::mem::replace(requests, spare);
        } else {
            waiting.requests.append(requests);
            stage.spare.push(spare);
        }
        stage.serve_complete();
    }

    /// The sums of a launch that has ended, by worker; nothing of it may still be on its way.
    pub fn take(&self, launch: LaunchId) -> Vec<TrafficCells> {
        self.lock().sums.remove(&launch).unwrap_or_default()
    }
}

impl Stage {
    fn serve_complete(&mut self) {
        while self
            .waiting
            .first_key_value()
            .is_some_and(|(batch, waiting)| *batch == self.next && waiting.parts == self.workers)
        {
            let Some((batch, mut waiting)) = self.waiting.pop_first() else { return };
            self.next += 1;
            while let Some(entry) = self.copies.first_entry().filter(|entry| *entry.key() <= batch) {
                for copied in entry.remove() {
                    self.level.copied(copied.address, copied.bytes, self.warm_copies);
                }
            }
            if self.workers > 1 {
                // Requests of one place come from one worker, in the order it made them.
                waiting.requests.sort_by_key(|placed| placed.place);
            }
            self.ordered.clear();
            self.ordered.extend(waiting.requests.iter().map(|placed| placed.request));
            let workers: Vec<u16> = waiting.requests.iter().map(|placed| placed.worker).collect();
            let cells = self.sums.entry(waiting.launch).or_default();
            cells.resize_with(self.workers as usize, TrafficCells::default);
            self.level.serve_all(&self.ordered, &mut Sums { workers: &workers, cells, at: 0 });
            waiting.requests.clear();
            self.spare.push(waiting.requests);
        }
    }
}
