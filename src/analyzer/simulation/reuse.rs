//! Reuse distances of the launches of one worker, computed in the worker's thread or in another.
//!
//! A worker serves the requests of its SMs in order, so a launch with few busy SMs keeps few workers busy. Reuse
//! distances take about as long as everything else that a worker does, and nothing waits for them until the launch
//! ends. With several workers, each therefore sends the queued requests of its scopes to a second thread. The order
//! of a scope's requests stays the same, and so do the figures.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rustc_hash::FxHashMap;
use warpline_format::event::LaunchId;
use warpline_simulator::hierarchy::Piece;
use warpline_simulator::locality::{Distance, ReuseCells, Scope, ScopeQueue, ScopeRequest, Stores};

/// Maximum number of batches of commands that wait for the thread. The worker blocks if there are more.
const WAITING: usize = 64;

/// The bytes of requests from which on a batch of commands is sent. In launches of small blocks, waking the thread for
/// each block takes longer than its requests.
const BATCH: usize = 64 << 10;

/// A launch of one worker, on the side that queues its requests.
pub(super) struct LaunchScopes {
    launch: LaunchId,
    /// Indexed by scope; `None` if the scope has not begun.
    queues: Vec<Option<ScopeQueue>>,
    /// Maximum bytes of waiting requests per scope.
    room: usize,
}

impl LaunchScopes {
    /// Starts a launch, with caches of these sizes in bytes.
    pub(super) fn new(launch: LaunchId, room: usize, cache_bytes: [u64; 2], reuse: &mut ReuseServer) -> LaunchScopes {
        reuse.apply(Command::Start { launch, cache_bytes });
        LaunchScopes { launch, queues: Vec::new(), room }
    }

    /// Begins a scope. The previous scope with this number ends.
    pub(super) fn begin(&mut self, scope: u32, salt: u64, reuse: &mut ReuseServer) {
        let place = scope as usize;
        if self.queues.len() <= place {
            self.queues.resize_with(place + 1, || None);
        }
        let launch = self.launch;
        let queue = self.queues[place].get_or_insert_default();
        reuse.serve(launch, scope, queue);
        reuse.apply(Command::Begin { launch, scope, salt });
    }

    /// Adds a request to a scope, which begins if it has not.
    #[inline]
    pub(super) fn request(&mut self, scope: u32, request: &ScopeRequest<'_>, reuse: &mut ReuseServer) {
        if self.queues.get(scope as usize).is_none_or(Option::is_none) {
            self.begin(scope, scope.into(), reuse);
        }
        let Some(Some(queue)) = self.queues.get_mut(scope as usize) else { return };
        queue.push(request);
        if queue.is_full(self.room) {
            reuse.serve(self.launch, scope, queue);
        }
    }

    /// Ends all scopes and returns the figures.
    pub(super) fn finish(mut self, reuse: &mut ReuseServer) -> ReuseCells {
        for (scope, queue) in (0..).zip(&mut self.queues) {
            if let Some(queue) = queue {
                reuse.serve(self.launch, scope, queue);
            }
        }
        reuse.finish(self.launch)
    }
}

enum Command {
    Start { launch: LaunchId, cache_bytes: [u64; 2] },
    Begin { launch: LaunchId, scope: u32, salt: u64 },
    Serve { launch: LaunchId, scope: u32, queue: ScopeQueue },
    Finish { launch: LaunchId },
}

/// Computes the reuse distances of a worker's launches.
pub(super) enum ReuseServer {
    /// In the worker's thread.
    Here(Box<Scopes>),
    /// In another thread.
    Thread(ReuseThread),
}

/// The link to another thread, which ends with it.
pub(super) struct ReuseThread {
    /// `None` only while the thread is being stopped.
    commands: Option<SyncSender<Vec<Command>>>,
    /// The commands of the next batch.
    waiting: Vec<Command>,
    /// The bytes of their requests.
    bytes: usize,
    results: Receiver<ReuseCells>,
    thread: Option<JoinHandle<()>>,
}

impl ReuseServer {
    /// Creates the server of one worker.
    pub(super) fn new(distance: Distance, stores: Stores, in_thread: bool) -> ReuseServer {
        let mut scopes = Scopes::new(distance, stores);
        if !in_thread {
            return ReuseServer::Here(Box::new(scopes));
        }
        let (commands, queue) = sync_channel(WAITING);
        let (out, results) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            for command in queue.into_iter().flatten() {
                if let Some(cells) = scopes.apply(command)
                    && out.send(cells).is_err()
                {
                    return;
                }
            }
        });
        ReuseServer::Thread(ReuseThread {
            commands: Some(commands),
            waiting: Vec::new(),
            bytes: 0,
            results,
            thread: Some(thread),
        })
    }

    fn apply(&mut self, command: Command) {
        match self {
            ReuseServer::Here(scopes) => _ = scopes.apply(command),
            ReuseServer::Thread(thread) => thread.push(command),
        }
    }

    /// Serves queued requests; `queue` is empty afterwards.
    fn serve(&mut self, launch: LaunchId, scope: u32, queue: &mut ScopeQueue) {
        if queue.is_empty() {
            return;
        }
        if let ReuseServer::Here(scopes) = self {
            scopes.serve(launch, scope, queue);
            queue.clear();
        } else {
            self.apply(Command::Serve { launch, scope, queue: std::mem::take(queue) });
        }
    }

    /// Ends a launch and returns its figures.
    ///
    /// # Panics
    /// Panics if the thread panicked, so that the worker is lost, too.
    fn finish(&mut self, launch: LaunchId) -> ReuseCells {
        match self {
            ReuseServer::Here(scopes) => scopes.finish(launch),
            ReuseServer::Thread(thread) => {
                thread.push(Command::Finish { launch });
                thread.send();
                thread.results.recv().expect("the thread for reuse distances does not end before its worker")
            }
        }
    }
}

impl ReuseThread {
    fn push(&mut self, command: Command) {
        if let Command::Serve { queue, .. } = &command {
            self.bytes += queue.bytes();
        }
        self.waiting.push(command);
        if self.bytes >= BATCH {
            self.send();
        }
    }

    /// Sends the commands that were pushed. A thread that panicked is reported by [`ReuseServer::finish`].
    fn send(&mut self) {
        self.bytes = 0;
        _ = self.commands.as_ref().map(|commands| commands.send(std::mem::take(&mut self.waiting)));
    }
}

impl Drop for ReuseThread {
    fn drop(&mut self) {
        self.commands = None;
        // A thread that panicked has already printed its message.
        _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The scopes of all launches of a worker.
pub(super) struct Scopes {
    distance: Distance,
    stores: Stores,
    launches: FxHashMap<LaunchId, Running>,
    /// Scopes of ended launches, for reuse.
    spare: Vec<Scope>,
    pieces: Vec<Piece>,
}

#[derive(Default)]
struct Running {
    scopes: Vec<Option<Scope>>,
    cache_bytes: [u64; 2],
    cells: ReuseCells,
}

impl Scopes {
    fn new(distance: Distance, stores: Stores) -> Scopes {
        Scopes { distance, stores, launches: FxHashMap::default(), spare: Vec::new(), pieces: Vec::new() }
    }

    /// Executes a command; returns the figures of an ended launch.
    fn apply(&mut self, command: Command) -> Option<ReuseCells> {
        match command {
            Command::Start { launch, cache_bytes } => {
                self.launches.insert(launch, Running { cache_bytes, ..Running::default() });
            }
            Command::Begin { launch, scope, salt } => self.begin(launch, scope as usize, salt),
            Command::Serve { launch, scope, queue } => self.serve(launch, scope, &queue),
            Command::Finish { launch } => return Some(self.finish(launch)),
        }
        None
    }

    fn begin(&mut self, launch: LaunchId, place: usize, salt: u64) {
        let Some(running) = self.launches.get_mut(&launch) else { return };
        if running.scopes.len() <= place {
            running.scopes.resize_with(place + 1, || None);
        }
        match &mut running.scopes[place] {
            Some(scope) => scope.end(salt, &mut running.cells),
            free => {
                let mut scope = self.spare.pop().unwrap_or_else(|| Scope::new(self.distance, self.stores));
                scope.begin(salt, running.cache_bytes);
                *free = Some(scope);
            }
        }
    }

    fn serve(&mut self, launch: LaunchId, scope: u32, queue: &ScopeQueue) {
        let Some(running) = self.launches.get_mut(&launch) else { return };
        if let Some(Some(scope)) = running.scopes.get_mut(scope as usize) {
            scope.serve(queue, &mut self.pieces, &mut running.cells);
        }
    }

    fn finish(&mut self, launch: LaunchId) -> ReuseCells {
        let Some(mut running) = self.launches.remove(&launch) else { return ReuseCells::new() };
        for scope in running.scopes.iter_mut().flatten() {
            scope.end(0, &mut running.cells);
        }
        self.spare.extend(running.scopes.into_iter().flatten());
        running.cells
    }
}
