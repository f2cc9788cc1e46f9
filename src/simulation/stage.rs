//! Level 2, shared by all workers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;

use super::Settings;
use crate::hierarchy::{Leaving, SecondLevel, SumOf, Traffic, TrafficCells};

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
    /// What each worker handed on, and which they are.
    parts: Vec<Leaving>,
    workers: Vec<u32>,
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
    spare: Vec<Leaving>,
}

/// The stage as workers hold it.
#[derive(Clone)]
pub struct SharedStage(Arc<Mutex<Stage>>);

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

    /// A worker's part of a batch; `left` comes back empty.
    pub(super) fn submit(&self, batch: u64, launch: LaunchId, worker: u32, left: &mut Leaving) {
        let mut stage = self.lock();
        let spare = stage.spare.pop().unwrap_or_default();
        let waiting = stage.waiting.entry(batch).or_default();
        waiting.launch = launch;
        waiting.workers.push(worker);
        waiting.parts.push(std::mem::replace(left, spare));
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
            .is_some_and(|(batch, waiting)| *batch == self.next && waiting.parts.len() == self.workers as usize)
        {
            let Some((batch, mut waiting)) = self.waiting.pop_first() else { return };
            self.next += 1;
            while let Some(entry) = self.copies.first_entry().filter(|entry| *entry.key() <= batch) {
                for copied in entry.remove() {
                    self.level.copied(copied.address, copied.bytes, self.warm_copies);
                }
            }
            let cells = self.sums.entry(waiting.launch).or_default();
            cells.resize_with(self.workers as usize, TrafficCells::default);
            self.level.serve(&waiting.parts, &mut Sums { workers: &waiting.workers, cells });
            waiting.parts.iter_mut().for_each(Leaving::clear);
            self.spare.append(&mut waiting.parts);
        }
    }
}
