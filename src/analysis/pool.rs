//! The workers of an analysis: one in the calling thread, or several in their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use warpline_format::event::LaunchId;

use super::followers::{self, Followed, Followers};
use super::worker::LaunchWork;
use super::{LaunchShape, Worker};
use crate::attribution::MapChange;
use crate::geometry::BankRules;
use crate::hierarchy::Written;
use crate::simulation::{Settings, SharedStage};

/// Batches that may wait for a worker; more make the reader wait.
const WAITING: usize = 32;

/// Changes of memory that may wait for a batch.
const MOST_CHANGES: usize = 4096;

pub(super) enum Job {
    Start(Arc<LaunchShape>),
    Apply(Arc<[MapChange]>),
    Batch { launch: LaunchId, items: Arc<[u8]> },
    End(LaunchId),
}

/// A worker thread is gone; only a bug makes this happen.
#[derive(Debug, thiserror::Error)]
#[error("an analysis thread stopped unexpectedly; this is a bug in warpline")]
pub struct WorkerLost;

type Following = Worker<Followers>;
type Work = LaunchWork<Followed>;

/// The workers, and level 2 where caches are simulated.
pub(super) struct Pool {
    workers: Workers,
    stage: Option<SharedStage>,
    batches: u64,
    /// Changes of memory that the workers have not heard of.
    changes: Vec<MapChange>,
    /// Workers count what is left of waves at a launch's end, as a batch of its own.
    wide: bool,
}

/// See the module's page.
enum Workers {
    Here(Box<Following>),
    Threads { jobs: Vec<SyncSender<Job>>, results: Receiver<Work>, threads: Vec<JoinHandle<()>> },
}

impl Pool {
    pub(super) fn new(threads: usize, simulation: Option<&Settings>) -> Pool {
        let threads = if simulation.is_some_and(Settings::needs_one_worker) { 1 } else { threads };
        let stage = simulation.map(|settings| SharedStage::new(settings, threads.max(1) as u32));
        let follower = |index| followers::new(simulation.zip(stage.as_ref()), index);
        let banks = simulation.map(|settings| settings.hierarchy.bank_rules()).unwrap_or_default();
        let workers = Workers::new(threads, banks, follower);
        let wide = simulation.is_some_and(|settings| settings.hierarchy.wave_lanes == 64);
        Pool { workers, stage, batches: 0, changes: Vec::new(), wide }
    }

    /// A copy writes device memory.
    pub(super) fn copied(&self, written: Written) {
        if let Some(stage) = &self.stage {
            stage.copied(self.batches, written);
        }
    }

    pub(super) fn start(&mut self, shape: &Arc<LaunchShape>) -> Result<(), WorkerLost> {
        self.workers.start(shape)
    }

    /// Memory changes. Workers hear of it before the next batch.
    pub(super) fn changed(&mut self, change: MapChange) -> Result<(), WorkerLost> {
        self.changes.push(change);
        if self.changes.len() >= MOST_CHANGES { self.apply() } else { Ok(()) }
    }

    fn apply(&mut self) -> Result<(), WorkerLost> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let told = self.workers.apply(&self.changes);
        self.changes.clear();
        told
    }

    pub(super) fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), WorkerLost> {
        self.apply()?;
        self.batches += 1;
        self.workers.batch(launch, items)
    }

    pub(super) fn end(&mut self, launch: LaunchId) -> Result<Vec<Work>, WorkerLost> {
        self.batches += u64::from(self.wide);
        let mut works = self.workers.end(launch)?;
        // All workers have handed on their part of every batch, so level 2 has served them.
        let sums = self.stage.as_ref().map(|stage| stage.take(launch)).unwrap_or_default();
        for work in &mut works {
            let Some(sums) = sums.get(work.worker as usize) else { continue };
            for (cell, traffic) in (0..work.cells.len() as u32).zip(sums.as_slice()) {
                work.cells.counters(cell).add_traffic(traffic);
            }
        }
        Ok(works)
    }
}

impl Workers {
    fn new(threads: usize, banks: BankRules, follower: impl Fn(u32) -> Followers) -> Workers {
        if threads <= 1 {
            return Workers::Here(Box::new(Worker::new(0, 1, banks, follower(0))));
        }
        let (out, results) = channel();
        let (mut jobs, mut handles) = (Vec::new(), Vec::new());
        for index in 0..threads {
            let (job, queue) = sync_channel(WAITING);
            let out = out.clone();
            jobs.push(job);
            let worker = Worker::new(index as u32, threads as u32, banks, follower(index as u32));
            handles.push(std::thread::spawn(move || serve(worker, &queue, &out)));
        }
        Workers::Threads { jobs, results, threads: handles }
    }

    fn start(&mut self, shape: &Arc<LaunchShape>) -> Result<(), WorkerLost> {
        match self {
            Workers::Here(worker) => worker.start(shape),
            Workers::Threads { jobs, .. } => {
                for job in jobs {
                    job.send(Job::Start(Arc::clone(shape))).map_err(|_| WorkerLost)?;
                }
            }
        }
        Ok(())
    }

    fn apply(&mut self, changes: &[MapChange]) -> Result<(), WorkerLost> {
        match self {
            Workers::Here(worker) => worker.apply(changes),
            Workers::Threads { jobs, .. } => {
                let changes: Arc<[MapChange]> = changes.into();
                for job in jobs {
                    job.send(Job::Apply(Arc::clone(&changes))).map_err(|_| WorkerLost)?;
                }
            }
        }
        Ok(())
    }

    fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), WorkerLost> {
        match self {
            Workers::Here(worker) => worker.batch(launch, items),
            Workers::Threads { jobs, .. } => {
                let items: Arc<[u8]> = items.into();
                for job in jobs {
                    job.send(Job::Batch { launch, items: Arc::clone(&items) }).map_err(|_| WorkerLost)?;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, launch: LaunchId) -> Result<Vec<Work>, WorkerLost> {
        match self {
            Workers::Here(worker) => Ok(vec![worker.end(launch)]),
            Workers::Threads { jobs, results, .. } => {
                for job in jobs.iter() {
                    job.send(Job::End(launch)).map_err(|_| WorkerLost)?;
                }
                jobs.iter().map(|_| results.recv().map_err(|_| WorkerLost)).collect()
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Workers::Threads { jobs, threads, .. } = self {
            jobs.clear();
            for thread in threads.drain(..) {
                // A thread that panicked has already said so.
                _ = thread.join();
            }
        }
    }
}

fn serve(mut worker: Following, queue: &Receiver<Job>, out: &Sender<Work>) {
    for job in queue {
        match job {
            Job::Start(shape) => worker.start(&shape),
            Job::Apply(changes) => worker.apply(&changes),
            Job::Batch { launch, items } => worker.batch(launch, &items),
            Job::End(launch) => {
                if out.send(worker.end(launch)).is_err() {
                    return;
                }
            }
        }
    }
}
