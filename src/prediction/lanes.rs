//! Computes the addresses of a warp's lanes if they are not affine.

use warpline_format::expression::{ExpressionId, LoopId};

use super::form::THREADS;
use super::launch::Launch;
use super::trip_counts::{LaneLoops, TripCounts};
use super::warp_interpreter::{LANES, WarpInterpreter};
use warpline_profile::model::Addresses;

/// The active lanes of a request, and their addresses in lane order.
pub type Request = (u32, Vec<u64>);

/// Computes the addresses of accesses that a warp makes together.
pub struct Lanes<'a> {
    interpreter: WarpInterpreter<'a>,
    /// Trip counts of loops in which lanes have different trip counts.
    trip_counts: TripCounts<'a>,
    /// The indices of each thread of a block. The number of threads is rounded up to whole warps.
    threads: Vec<[i64; THREADS]>,
}

/// A predicate that is called with all indices of a thread.
type LanePredicate<'g> = dyn Fn(&[i64]) -> bool + 'g;

/// Conditions that a lane must satisfy in addition to being active.
#[derive(Clone, Copy, Default)]
pub struct Guard<'g> {
    /// A condition in the code.
    pub condition: Option<ExpressionId>,
    /// A further condition.
    pub also: Option<&'g LanePredicate<'g>>,
}

impl<'a> Lanes<'a> {
    /// Prepares the `wanted` addresses and conditions. They depend on loops that threads leave at different iterations.
    pub fn new(
        (addresses, launch): (&'a Addresses, &'a Launch),
        wanted: impl IntoIterator<Item = ExpressionId>,
        deciding: &LaneLoops,
    ) -> Lanes<'a> {
        // The counters of ended loops are those of each lane's last iteration.
        let over: Vec<LoopId> =
            deciding.iter().filter(|(_, is_around)| !is_around).map(|(loop_id, _)| *loop_id).collect();
        Lanes {
            interpreter: WarpInterpreter::new(addresses, launch, wanted, &over),
            trip_counts: TripCounts::new(addresses, launch, deciding),
            threads: (0..launch.warps() * LANES as u32).map(|number| launch.thread(number)).collect(),
        }
    }

    /// Returns the requests of a warp for some addresses by the lanes of `mask`. `at` has all indices; the thread's
    /// indices are overwritten.
    pub fn requests(
        &mut self,
        (warp, mask): (usize, u32),
        at: &mut [i64],
        guard: Guard<'_>,
        wanted: impl Iterator<Item = ExpressionId> + Clone,
        found: &mut [Request],
    ) {
        let threads = &self.threads[warp * LANES..(warp + 1) * LANES];
        let mut made = mask;
        if guard.also.is_some() || !self.trip_counts.is_empty() {
            for (lane, thread) in threads.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                at[..THREADS].copy_from_slice(thread);
                let comes = self.trip_counts.settle(at) && guard.also.is_none_or(|also| also(at));
                made &= !(u32::from(!comes) << lane);
                self.interpreter.set_lane(lane, at);
            }
        }
        if made != 0 {
            self.interpreter.set(at, threads);
            made &= guard.condition.map_or(u32::MAX, |condition| self.interpreter.holds(condition));
        }
        for (id, (mask, addresses)) in wanted.zip(found) {
            let (values, known) = self.interpreter.values(id);
            *mask = made & known;
            addresses.clear();
            let own = values.iter().enumerate().filter(|(lane, _)| *mask >> lane & 1 == 1);
            addresses.extend(own.map(|(_, &address)| address as u64));
        }
    }
}
