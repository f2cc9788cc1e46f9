//! Launch slots that belong to nodes of CUDA graphs. A node's kernel has the slot as an argument, so the slot belongs
//! to the node until the graph is destroyed, whether it runs or not.

use super::session::Session;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// The number of slots that graphs may hold; the others are for ordinary launches.
pub const HELD_SLOTS: u32 = 40;

/// The maximum time to wait for a slot while nothing arrives from the device. A kernel may wait for something that the
/// program does only after this call, so the wait must end.
const PATIENCE: Duration = Duration::from_secs(60);

impl Session {
    /// Assigns a slot to a node. Returns `None` if graphs already hold the maximum number of slots, or if no slot
    /// becomes free.
    pub fn hold(&self) -> Option<u32> {
        let mut slots = self.lock();
        while !slots.stop && self.fault.load(Ordering::Relaxed) == 0 && slots.held.count_ones() < HELD_SLOTS {
            let taken = self.busy.load(Ordering::Relaxed) | slots.held;
            if taken != u64::MAX {
                let slot = taken.trailing_ones();
                slots.held |= 1 << slot;
                return Some(slot);
            }
            slots = self.wait_for_change(slots)?;
        }
        None
    }

    /// Releases slots that nodes held. A slot whose last launch still runs becomes free when the launch has ended.
    pub fn let_go(&self, held: impl IntoIterator<Item = u32>) {
        let mut slots = self.lock();
        held.into_iter().for_each(|slot| slots.held &= !(1 << slot));
        self.changed.notify_all();
    }

    /// Marks a held slot as busy, after its last launch has ended and its records have been read. Returns `false` after
    /// a fault, or if this takes too long.
    pub fn occupy(&self, slot: u32) -> bool {
        let mut slots = self.lock();
        while !slots.stop && self.fault.load(Ordering::Relaxed) == 0 {
            if self.busy.load(Ordering::Relaxed) & (1 << slot) == 0 {
                self.busy.fetch_or(1 << slot, Ordering::Relaxed);
                return true;
            }
            match self.wait_for_change(slots) {
                Some(again) => slots = again,
                None => return false,
            }
        }
        false
    }

    /// Returns `None` if nothing has changed and nothing has arrived from the device.
    fn wait_for_change<'s, T>(&'s self, guard: MutexGuard<'s, T>) -> Option<MutexGuard<'s, T>> {
        let before = self.progress.load(Ordering::Relaxed);
        let (guard, timeout) = self.changed.wait_timeout(guard, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        (!timeout.timed_out() || self.progress.load(Ordering::Relaxed) != before).then_some(guard)
    }
}
