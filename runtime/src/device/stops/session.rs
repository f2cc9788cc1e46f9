//! The dialogue with the user of a stopped program: the program reports its state and executes the user's commands.

use std::net::Shutdown;

use warpline_format::event::FaultKind;
use warpline_format::stop::{Reply, receive, send};

use super::picture;
use super::state::Stops;
use crate::device::execution::lanes::lanes;
use crate::device::execution::warp::Warp;
use crate::device::faults::access::Access;

impl Stops {
    /// Called when a warp is about to access memory.
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
        let named = || {
            !self.wanted.allocations.is_empty()
                && lanes(access.mask).any(|lane| self.names(registry.find(access.addresses[lane])))
        };
        if chosen || named() {
            // SAFETY: the caller fulfils the contract.
            unsafe { self.stop(warp, access, None) };
        }
    }

    /// Called when an access of a warp is invalid.
    ///
    /// # Safety
    /// `warp` is the running one.
    pub unsafe fn at_fault(&mut self, warp: *mut Warp, access: &Access, kind: FaultKind) {
        if self.wanted.faults && self.is_on() {
            // SAFETY: the caller fulfils the contract.
            unsafe { self.stop(warp, access, Some(kind)) };
        }
    }

    /// Reports the access and waits for the user's command.
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
            let mut stopped = picture::take(warp, access, fault);
            stopped.calls = sites.map(|site| picture::places(table, &site.chain)).collect();
            stopped.path = (*running.trace).host_path(self.path);
            stopped
        };
        let Some(socket) = &self.socket else { return };
        let reply = send(socket, &stopped).and_then(|()| receive(socket));
        match reply {
            Ok(Reply::Next(skip)) => self.skip = skip,
            Ok(Reply::End) => end_program(),
            // The process that requested the stop has ended.
            Ok(Reply::Continue) | Err(_) => {
                if let Some(socket) = self.socket.take() {
                    _ = socket.shutdown(Shutdown::Both);
                }
            }
        }
    }
}

/// Ends the program as Ctrl-C at its terminal would. The profile contains what its kernel has recorded so far.
fn end_program() -> ! {
    // SAFETY: the code sends a signal to this process; if the program catches the signal, it continues with the next
    // line.
    unsafe {
        libc::raise(libc::SIGTERM);
        libc::_exit(128 + libc::SIGTERM)
    }
}
