//! Compilations of the same source by several threads of the process: one thread compiles, and the others wait for the
//! stored result.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The identities of the running compilations.
static RUNNING: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static ENDED: Condvar = Condvar::new();

/// The right of one thread to compile the source with an identity; ends when it is dropped.
pub(super) struct Turn(String);

impl Turn {
    /// Waits until no other thread of the process compiles this source.
    pub(super) fn of(identity: &str) -> Turn {
        let running = ENDED.wait_while(running(), |running| running.contains(identity));
        running.unwrap_or_else(PoisonError::into_inner).insert(identity.to_owned());
        Turn(identity.to_owned())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        running().remove(&self.0);
        ENDED.notify_all();
    }
}

fn running() -> MutexGuard<'static, BTreeSet<String>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_thread_at_a_time_has_the_turn_of_a_source() {
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _turn = Turn::of("same");
                        let _other = Turn::of(&format!("{:?}", std::thread::current().id()));
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!((most.into_inner(), running().is_empty()), (1, true));
    }
}
