//! The workers of an analysis: one in the calling thread, or several in their own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use warpline_format::event::LaunchId;

use super::worker::LaunchWork;
use super::{LaunchShape, Worker};
use crate::attribution::AllocationMap;

/// Batches that may wait for a worker; more make the reader wait.
const WAITING: usize = 32;

pub(super) enum Job {
    Start(Arc<LaunchShape>),
    Batch { launch: LaunchId, items: Arc<[u8]>, map: Arc<AllocationMap>, version: u64 },
    End(LaunchId),
}

/// A worker thread is gone; only a bug makes this happen.
#[derive(Debug, thiserror::Error)]
#[error("an analysis thread stopped unexpectedly; this is a bug in warpline")]
pub struct WorkerLost;

/// See the module's page.
pub(super) enum Pool {
    Here(Box<Worker<()>>),
    Threads { jobs: Vec<SyncSender<Job>>, results: Receiver<LaunchWork>, threads: Vec<JoinHandle<()>> },
}

impl Pool {
    pub(super) fn new(threads: usize) -> Pool {
        if threads <= 1 {
            return Pool::Here(Box::new(Worker::new(0, 1, ())));
        }
        let (out, results) = channel();
        let (mut jobs, mut handles) = (Vec::new(), Vec::new());
        for index in 0..threads {
            let (job, queue) = sync_channel(WAITING);
            let out = out.clone();
            jobs.push(job);
            handles
                .push(std::thread::spawn(move || serve(Worker::new(index as u32, threads as u32, ()), &queue, &out)));
        }
        Pool::Threads { jobs, results, threads: handles }
    }

    pub(super) fn start(&mut self, shape: &Arc<LaunchShape>) -> Result<(), WorkerLost> {
        match self {
            Pool::Here(worker) => worker.start(shape),
            Pool::Threads { jobs, .. } => {
                for job in jobs {
                    job.send(Job::Start(Arc::clone(shape))).map_err(|_| WorkerLost)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn batch(
        &mut self,
        launch: LaunchId,
        items: &[u8],
        map: &Arc<AllocationMap>,
        version: u64,
    ) -> Result<(), WorkerLost> {
        match self {
            Pool::Here(worker) => worker.batch(launch, items, map, version),
            Pool::Threads { jobs, .. } => {
                let items: Arc<[u8]> = items.into();
                for job in jobs {
                    let (items, map) = (Arc::clone(&items), Arc::clone(map));
                    job.send(Job::Batch { launch, items, map, version }).map_err(|_| WorkerLost)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn end(&mut self, launch: LaunchId) -> Result<Vec<LaunchWork>, WorkerLost> {
        match self {
            Pool::Here(worker) => Ok(vec![worker.end(launch)]),
            Pool::Threads { jobs, results, .. } => {
                for job in jobs.iter() {
                    job.send(Job::End(launch)).map_err(|_| WorkerLost)?;
                }
                jobs.iter().map(|_| results.recv().map_err(|_| WorkerLost)).collect()
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Pool::Threads { jobs, threads, .. } = self {
            jobs.clear();
            for thread in threads.drain(..) {
                // A thread that panicked has already said so.
                _ = thread.join();
            }
        }
    }
}

fn serve(mut worker: Worker<()>, queue: &Receiver<Job>, out: &Sender<LaunchWork>) {
    for job in queue {
        match job {
            Job::Start(shape) => worker.start(&shape),
            Job::Batch { launch, items, map, version } => worker.batch(launch, &items, &map, version),
            Job::End(launch) => {
                if out.send(worker.end(launch)).is_err() {
                    return;
                }
            }
        }
    }
}
