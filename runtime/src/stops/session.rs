//! When a program stops, and how it goes on.

use std::collections::HashMap;
use std::net::Shutdown;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;

use warpline_format::abi::{NOWHERE, SiteRange};
use warpline_format::event::{FaultKind, PathId};
use warpline_format::stop::{Reply, StopAt, receive, send};

use super::calls::Calls;
use super::chosen::Chosen;
use super::picture;
use crate::execution::warp::Warp;
use crate::faults::check::Access;
use crate::memory::registry::{Live, Registry};
use crate::message;
use crate::module::Module;

/// The stops of a program.
#[derive(Debug)]
pub struct Stops {
    wanted: StopAt,
    /// `None` when nobody wants to hear of further stops.
    socket: Option<UnixStream>,
    /// Requests to be passed over before the next stop.
    skip: u64,
    /// By module.
    chosen: HashMap<u32, Chosen>,
    calls: Calls,
    /// Module of the running launch.
    module: u32,
    /// Host call path of the running launch.
    path: PathId,
}

impl Stops {
    /// What `warpline run` asks for.
    pub fn new(wanted: StopAt) -> Stops {
        // SAFETY: the descriptor is inherited for this very purpose, and nothing else in the program knows of it.
        let socket = (wanted.descriptor >= 0).then(|| unsafe { UnixStream::from_raw_fd(wanted.descriptor) });
        Stops { wanted, socket, skip: 0, chosen: HashMap::new(), calls: Calls::default(), module: 0, path: 0 }
    }

    /// Whether there can be further stops.
    fn is_on(&self) -> bool {
        self.socket.is_some()
    }

    /// A launch begins: lets the accesses of chosen sites come to the access check.
    pub fn begin(&mut self, module: &mut Module, path: PathId) {
        (self.module, self.path, self.calls) = (module.id, path, Calls::default());
        if !self.is_on() {
            return;
        }
        let chosen = self.chosen.entry(module.id).or_insert_with(|| {
            let chosen = Chosen::new(&module.table, &self.wanted.lines);
            for (file, line) in &chosen.only_local {
                message::note(&format!(
                    "--stop-at {file}:{line}: its accesses are to local memory, of which each thread has its own; programs do not stop there"
                ));
            }
            chosen
        });
        if !self.wanted.allocations.is_empty() {
            // Any of them may lead there, under whatever name the memory has by now.
            module.clear_ranges();
        }
        for &site in &chosen.open {
            module.set_range(site, SiteRange { low: NOWHERE, high: NOWHERE });
        }
    }

    /// Whether a site's range stays as it is: the accesses that `range` would let pass are to be seen.
    pub fn keeps_open(&self, site: u32, range: &SiteRange, registry: &Registry) -> bool {
        self.is_on()
            && (self.chosen.get(&self.module).is_some_and(|chosen| chosen.is_open(site))
                || self.names(registry.find(range.low)))
    }

    /// Whether accesses to shared memory are to be seen.
    pub fn watches_shared(&self) -> bool {
        self.is_on() && self.chosen.get(&self.module).is_some_and(|chosen| chosen.shared)
    }

    /// Whether an allocation is one of those that were named.
    fn names(&self, live: Option<&Live>) -> bool {
        let name = live.and_then(|live| live.name.as_deref());
        name.is_some_and(|name| self.wanted.allocations.iter().any(|wanted| wanted == name))
    }

    /// A warp is about to access memory.
    ///
    /// # Safety
    /// `warp` is the running one.
    pub unsafe fn at_access(&mut self, warp: *mut Warp, access: &Access) {
        if !self.is_on() || access.mask == 0 {
            return;
        }
        // SAFETY: by the contract; the registry is only read.
        let registry = unsafe { &(*(*(*warp).running).memory).registry };
        let chosen = self.chosen.get(&self.module).is_some_and(|chosen| chosen.stops_at(access.site));
        let lanes = || crate::execution::hooks::lanes(access.mask);
        let named = || {
            !self.wanted.allocations.is_empty() && lanes().any(|lane| self.names(registry.find(access.addresses[lane])))
        };
        if chosen || named() {
            // SAFETY: handed through.
            unsafe { self.stop(warp, access, None) };
        }
    }

    /// An access of a warp must not be.
    ///
    /// # Safety
    /// `warp` is the running one.
    pub unsafe fn at_fault(&mut self, warp: *mut Warp, access: &Access, kind: FaultKind) {
        if self.wanted.faults && self.is_on() {
            // SAFETY: handed through.
            unsafe { self.stop(warp, access, Some(kind)) };
        }
    }

    /// Tells of the access and waits for what the user says.
    ///
    /// # Safety
    /// `warp` is the running one.
    unsafe fn stop(&mut self, warp: *mut Warp, access: &Access, fault: Option<FaultKind>) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        // SAFETY: by the contract; lowered code has written whole items up to the cursor.
        let stopped = unsafe {
            let running = &*(*warp).running;
            let table = &(*running.module).table;
            let calls = self.calls.now(warp as usize, (*warp).context.record_cursor);
            let sites = calls.iter().filter_map(|&call| table.calls.get(call as usize));
            let mut stopped = picture::of(warp, access, fault);
            stopped.calls = sites.map(|site| picture::places(table, &site.chain)).collect();
            stopped.path = (*running.trace).host_path(self.path);
            stopped
        };
        let Some(socket) = &self.socket else { return };
        let reply = send(socket, &stopped).and_then(|()| receive(socket));
        match reply {
            Ok(Reply::Next(skip)) => self.skip = skip,
            Ok(Reply::End) => end_program(),
            // Whoever wanted to know is gone.
            Ok(Reply::Continue) | Err(_) => {
                if let Some(socket) = self.socket.take() {
                    _ = socket.shutdown(Shutdown::Both);
                }
            }
        }
    }

    /// The scheduler lets a warp go on, whose next item will be at `begin`.
    pub fn resumed(&mut self, begin: *const u8) {
        self.calls.resumed(begin);
    }

    /// The warp comes back.
    ///
    /// # Safety
    /// Whole items lie between the `begin` of [`Self::resumed`] and `end`.
    pub unsafe fn paused(&mut self, warp: *mut Warp, end: *const u8, finished: bool) {
        // SAFETY: by the contract.
        unsafe { self.calls.paused(warp as usize, end, finished) };
    }
}

/// Ends the program as a user at its terminal would. What its kernel has recorded so far is in the profile.
fn end_program() -> ! {
    // SAFETY: a signal to this process; a program that catches it goes on to the next line.
    unsafe {
        libc::raise(libc::SIGTERM);
        libc::_exit(128 + libc::SIGTERM)
    }
}
