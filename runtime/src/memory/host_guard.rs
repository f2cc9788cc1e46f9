//! Memory that is closed to host code between two calls of the runtime (`--check-host`): device memory always, memory that the
//! host may access while work that it has not waited for may use it.
//!
//! Closed pages have no access rights, so that the processor reports an access of host code. Each call opens all pages, as
//! kernels and copies run within calls, and closes them at its end.

use super::device_memory::DeviceMemory;
use super::registry::Live;
use super::windows::{PAGE, Region, region};
use std::collections::BTreeSet;
use std::ops::Range;
use warpline_format::event::{AllocationId, AllocationKind};

/// What is closed, and what host code opened.
#[derive(Debug, Default)]
pub struct HostGuard {
    /// Pages without access rights.
    closed: Vec<Range<u64>>,
    /// Allocations that host code has accessed since the last call.
    opened: BTreeSet<AllocationId>,
    /// Host code has accessed small device memory outside all allocations since the last call.
    has_opened_gaps: bool,
}

/// Returns whether host code may access memory of a kind, when no kernel uses it.
pub fn is_host_visible(kind: AllocationKind) -> bool {
    use AllocationKind::{Host, Managed, ManagedGlobal, Registered, Tensor};
    matches!(kind, Managed | Host | ManagedGlobal | Registered | Tensor)
}

/// The message about host code that accesses device memory.
pub fn host_access_message(live: &Live, address: u64, is_store: bool) -> String {
    let verb = if is_store { "writes to" } else { "reads" };
    format!(
        "host code {verb} device memory at {address:#x}, byte {} of {} ({} bytes): a program on a GPU crashes there; copy the data \
         with cudaMemcpy. The report names the line",
        address - live.start(),
        live.label(),
        live.bytes
    )
}

/// The pages that hold an allocation.
fn pages(live: &Live) -> Range<u64> {
    live.start() & !(PAGE - 1)..(live.start() + live.bytes.max(1)).next_multiple_of(PAGE)
}

impl DeviceMemory {
    /// A call of the runtime begins: opens everything.
    pub fn begin_call(&mut self) {
        let Some(guard) = &mut self.host_guard else { return };
        guard.opened.clear();
        guard.has_opened_gaps = false;
        self.open_closed();
    }

    fn open_closed(&mut self) {
        let Some(guard) = &mut self.host_guard else { return };
        for range in guard.closed.drain(..) {
            self.window.protect(range.start, range.end - range.start, true, true);
        }
    }

    /// A call of the runtime ends: closes device memory, and if work of a stream `may_run`, memory that the host shares with
    /// it, except for what host code has accessed since the last call.
    pub fn end_call(&mut self, may_run: bool) {
        let Some(guard) = &mut self.host_guard else { return };
        let small = self.small_start..self.open;
        let is_small = |live: &Live| small.contains(&live.start());
        let is_closed = |live: &&Live| {
            let is_ours = live.place.is_some_and(|place| place.large) && live.host.is_none();
            is_ours && !guard.opened.contains(&live.id) && (may_run || !is_host_visible(live.kind))
        };
        let mut closed: Vec<Range<u64>> = self.registry.iter().filter(is_closed).map(pages).collect();
        if !guard.has_opened_gaps {
            let mut from = small.start;
            let opened = self.registry.iter().filter(|live| is_small(live) && guard.opened.contains(&live.id));
            for range in opened.map(pages) {
                closed.push(from..range.start.max(from));
                from = range.end.max(from);
            }
            closed.push(from..small.end);
        }
        closed.retain(|range| !range.is_empty());
        for range in &closed {
            self.window.protect(range.start, range.end - range.start, false, false);
        }
        guard.closed = closed;
        crate::device::faults::host_access::ensure_handler();
    }

    /// Host code accesses `address`: opens the allocation there to it until the next call. `None` if the address is not one
    /// of closed memory, `Some(None)` if no allocation is there.
    pub fn open_to_host(&mut self, address: u64) -> Option<Option<Live>> {
        let guard = self.host_guard.as_mut()?;
        if region(address) != Region::Device {
            return None;
        }
        let was_closed = guard.closed.iter().any(|range| range.contains(&address));
        let live = self.registry.find(address).cloned();
        match &live {
            Some(live) => _ = guard.opened.insert(live.id),
            None => guard.has_opened_gaps = true,
        }
        self.open_closed();
        was_closed.then_some(live)
    }
}
