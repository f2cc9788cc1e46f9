//! The workers of an analysis: one in the calling thread, or several in separate threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use warpline_format::event::LaunchId;

use super::{AnalysisTool, LaunchShape, LaunchWork, Narrowed, Worker};
use crate::attribution::MapChange;
use warpline_simulator::geometry::BankRules;

/// Maximum number of batches that wait for a worker. The reader blocks if there are more.
const WAITING: usize = 32;

/// Maximum number of memory changes that are collected before a batch.
const MOST_CHANGES: usize = 4096;

enum Job {
    Start(Arc<LaunchShape>),
    Apply(Arc<[MapChange]>),
    Batch { launch: LaunchId, items: Arc<[u8]> },
    End(LaunchId),
}

/// A worker thread panicked, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error("an analysis thread stopped unexpectedly; this is a bug in warpline")]
pub struct WorkerLost;

/// The workers, and the changes that they have not received yet.
pub struct Pool<T: AnalysisTool> {
    workers: Workers<T>,
    changes: Vec<MapChange>,
}

/// The workers; see the module documentation.
enum Workers<T: AnalysisTool> {
    Here(Box<Worker<T>>),
    Threads { jobs: Vec<SyncSender<Job>>, results: Receiver<LaunchWork<T::Result>>, threads: Vec<JoinHandle<()>> },
}

impl<T: AnalysisTool + 'static> Pool<T> {
    /// Creates workers, each with the tool that `tool` returns for its number.
    pub fn new(threads: usize, banks: BankRules, tool: impl Fn(u32) -> T) -> Self {
        Pool { workers: Workers::new(threads, None, banks, tool), changes: Vec::new() }
    }

    /// The variant of [`Self::new`] for allocations with smaller elements.
    pub fn narrowed(threads: usize, narrowed: Arc<Narrowed>, banks: BankRules, tool: impl Fn(u32) -> T) -> Self {
        Pool { workers: Workers::new(threads, Some(narrowed), banks, tool), changes: Vec::new() }
    }

    /// Starts a launch.
    ///
    /// # Errors
    /// Returns [`WorkerLost`] if a worker panicked, which is a bug.
    pub fn start(&mut self, shape: &Arc<LaunchShape>) -> Result<(), WorkerLost> {
        self.workers.start(shape)
    }

    /// Records a change of memory. Workers receive it before the next batch.
    ///
    /// # Errors
    /// Returns [`WorkerLost`] if a worker panicked, which is a bug.
    pub fn changed(&mut self, change: MapChange) -> Result<(), WorkerLost> {
        self.changes.push(change);
        if self.changes.len() >= MOST_CHANGES { self.apply() } else { Ok(()) }
    }

    fn apply(&mut self) -> Result<(), WorkerLost> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let applied = self.workers.apply(&self.changes);
        self.changes.clear();
        applied
    }

    /// Counts a batch that [`super::check_batch`] has accepted.
    ///
    /// # Errors
    /// Returns [`WorkerLost`] if a worker panicked, which is a bug.
    pub fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<(), WorkerLost> {
        self.apply()?;
        self.workers.batch(launch, items)
    }

    /// Ends a launch and returns the figures of each worker.
    ///
    /// # Errors
    /// Returns [`WorkerLost`] if a worker panicked, which is a bug.
    pub fn end(&mut self, launch: LaunchId) -> Result<Vec<LaunchWork<T::Result>>, WorkerLost> {
        self.workers.end(launch)
    }
}

impl<T: AnalysisTool + 'static> Workers<T> {
    fn new(threads: usize, narrowed: Option<Arc<Narrowed>>, banks: BankRules, tool: impl Fn(u32) -> T) -> Self {
        let new = |index: usize, of: usize| {
            let mut worker = Worker::new(index as u32, of as u32, banks, tool(index as u32));
            narrowed.iter().for_each(|narrowed| worker.narrow(Arc::clone(narrowed)));
            worker
        };
        if threads <= 1 {
            return Workers::Here(Box::new(new(0, 1)));
        }
        let (out, results) = channel();
        let (mut jobs, mut handles) = (Vec::new(), Vec::new());
        for index in 0..threads {
            let (job, queue) = sync_channel(WAITING);
            let out = out.clone();
            jobs.push(job);
            let worker = new(index, threads);
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

    fn end(&mut self, launch: LaunchId) -> Result<Vec<LaunchWork<T::Result>>, WorkerLost> {
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

impl<T: AnalysisTool> Drop for Workers<T> {
    fn drop(&mut self) {
        if let Workers::Threads { jobs, threads, .. } = self {
            jobs.clear();
            for thread in threads.drain(..) {
                // A thread that panicked has already printed its message.
                _ = thread.join();
            }
        }
    }
}

fn serve<T: AnalysisTool>(mut worker: Worker<T>, queue: &Receiver<Job>, out: &Sender<LaunchWork<T::Result>>) {
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
