//! Launch slots that belong to nodes of CUDA graphs: their kernels have the slot among their arguments, so it is theirs
//! until the graph is gone, whether or not it runs.

use super::session::Session;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

/// Slots that graphs may hold; the others are for ordinary launches.
pub const HELD_SLOTS: u32 = 40;

/// How long a slot is waited for while nothing comes from the device. A kernel may be waiting for something that the
/// program does only after this call, so there must be an end to it.
const PATIENCE: Duration = Duration::from_secs(60);

impl Session {
    /// Takes a slot for a node. `None` where graphs hold as many as they may, or none becomes free.
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

    /// Gives slots back that nodes held. One whose last launch is still under way is free when that has ended.
    pub fn let_go(&self, held: impl IntoIterator<Item = u32>) {
        let mut slots = self.lock();
        held.into_iter().for_each(|slot| slots.held &= !(1 << slot));
        self.changed.notify_all();
    }

    /// Makes a held slot busy, when its last launch has ended and read. False after a fault, or if it takes too long.
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

    /// `None` where nothing has changed and nothing has come from the device.
    fn wait_for_change<'s, T>(&'s self, guard: MutexGuard<'s, T>) -> Option<MutexGuard<'s, T>> {
        let before = self.progress.load(Ordering::Relaxed);
        let (guard, timeout) = self.changed.wait_timeout(guard, PATIENCE).unwrap_or_else(PoisonError::into_inner);
        (!timeout.timed_out() || self.progress.load(Ordering::Relaxed) != before).then_some(guard)
    }
}
