//! The stop points of a program.

use std::collections::HashMap;
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;

use warpline_format::abi::{NOWHERE, SiteRange};
use warpline_format::event::PathId;
use warpline_format::stop::StopAt;

use super::calls::Calls;
use super::chosen::Chosen;
use crate::memory::registry::{Live, Registry};
use crate::modules::module::Module;
use crate::output::message;

/// The stop points of a program, and the state of the stopped program.
#[derive(Debug)]
pub struct Stops {
    pub(super) wanted: StopAt,
    /// `None` if no further stops are to be reported.
    pub(super) socket: Option<UnixStream>,
    /// The number of requests that are skipped before the next stop.
    pub(super) skip: u64,
    /// The chosen sites, keyed by module.
    pub(super) chosen: HashMap<u32, Chosen>,
    pub(super) calls: Calls,
    /// The module of the running launch.
    pub(super) module: u32,
    /// The host call path of the running launch.
    pub(super) path: PathId,
}

impl Stops {
    /// Creates the state that `warpline run` requests.
    pub fn new(wanted: StopAt) -> Stops {
        // SAFETY: the descriptor was inherited for this purpose, and nothing else in the program uses it.
        let socket = (wanted.descriptor >= 0).then(|| unsafe { UnixStream::from_raw_fd(wanted.descriptor) });
        Stops { wanted, socket, skip: 0, chosen: HashMap::new(), calls: Calls::default(), module: 0, path: 0 }
    }

    /// Returns whether further stops are possible.
    pub(super) fn is_on(&self) -> bool {
        self.socket.is_some()
    }

    /// Called when a launch begins: makes the accesses of chosen sites reach the access check.
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
            // Any of these sites may access that memory, whatever name the memory has at that time.
            module.clear_ranges();
        }
        for &site in &chosen.open {
            module.set_range(site, SiteRange { low: NOWHERE, high: NOWHERE });
        }
    }

    /// Returns whether a site's range stays unchanged, because accesses that `range` would permit must reach the check.
    pub fn keeps_open(&self, site: u32, range: &SiteRange, registry: &Registry) -> bool {
        self.is_on()
            && (self.chosen.get(&self.module).is_some_and(|chosen| chosen.is_open(site))
                || self.names(registry.find(range.low)))
    }

    /// Returns whether accesses to shared memory must reach the check.
    pub fn watches_shared(&self) -> bool {
        self.is_on() && self.chosen.get(&self.module).is_some_and(|chosen| chosen.shared)
    }

    /// Returns whether an allocation is one of the allocations that the user named.
    pub(super) fn names(&self, live: Option<&Live>) -> bool {
        let name = live.and_then(|live| live.name.as_deref());
        name.is_some_and(|name| self.wanted.allocations.iter().any(|wanted| wanted == name))
    }

    /// Called when the scheduler lets a warp continue, whose next item will be at `begin`.
    pub fn resumed(&mut self, begin: *const u8) {
        self.calls.resumed(begin);
    }

    /// Called when a warp, identified by its address, pauses.
    ///
    /// # Safety
    /// Complete items lie between the `begin` of [`Self::resumed`] and `end`.
    pub unsafe fn paused(&mut self, warp: usize, end: *const u8, finished: bool) {
        // SAFETY: by the contract.
        unsafe { self.calls.paused(warp, end, finished) };
    }
}
