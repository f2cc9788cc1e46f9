//! Addresses of a warp's lanes where the indices give them in a way that is not affine.

use warpline_format::expression::ExpressionId;

use super::form::THREADS;
use super::interpret::Interpreter;
use super::laps::{Deciding, Laps};
use super::launch::Launch;
use super::warp_interpreter::{LANES, WarpInterpreter};
use crate::profile::model::Addresses;

/// The lanes that make a request, and their addresses in order.
pub type Request = (u32, Vec<u64>);

/// Works out addresses of some accesses, which a warp makes together.
pub struct Lanes<'a> {
    way: Way<'a>,
    /// By thread of a block, whole warps of them: its indices.
    threads: Vec<[i64; THREADS]>,
}

enum Way<'a> {
    /// All lanes of a warp at once.
    Together(WarpInterpreter<'a>),
    /// Lane by lane, where each leaves loops in an iteration of its own.
    OneByOne(Interpreter<'a>, Laps<'a>),
}

/// What has to hold beside an active lane.
#[derive(Clone, Copy, Default)]
pub struct Guard<'g> {
    /// A condition of the code.
    pub condition: Option<ExpressionId>,
    /// Something else, asked with all indices of a thread.
    pub also: Option<&'g dyn Fn(&[i64]) -> bool>,
}

impl<'a> Lanes<'a> {
    /// For `wanted` addresses and conditions, about which loops decide that threads leave each by itself.
    pub fn new(
        (addresses, launch): (&'a Addresses, &'a Launch),
        wanted: impl IntoIterator<Item = ExpressionId>,
        deciding: &Deciding,
    ) -> Lanes<'a> {
        let way = match deciding.is_empty() {
            true => Way::Together(WarpInterpreter::new(addresses, launch, wanted)),
            false => {
                let laps = Laps::new(addresses, launch, deciding);
                Way::OneByOne(Interpreter::new(addresses, launch, wanted), laps)
            }
        };
        Lanes { way, threads: (0..launch.warps() * LANES as u32).map(|number| launch.thread(number)).collect() }
    }

    /// The requests of a warp for some addresses, as far as lanes of `mask` make them. `at` has all indices but the thread's, for which there is room.
    pub fn requests(
        &mut self,
        (warp, mask): (usize, u32),
        at: &mut [i64],
        guard: Guard<'_>,
        wanted: impl Iterator<Item = ExpressionId> + Clone,
        found: &mut [Request],
    ) {
        for (mask, addresses) in found.iter_mut() {
            *mask = 0;
            addresses.clear();
        }
        let threads = &self.threads[warp * LANES..(warp + 1) * LANES];
        match &mut self.way {
            Way::Together(interpreter) => {
                interpreter.set(at, threads);
                let mut made = mask & guard.condition.map_or(u32::MAX, |condition| interpreter.holds(condition));
                if let Some(also) = guard.also {
                    for (lane, thread) in threads.iter().enumerate() {
                        at[..THREADS].copy_from_slice(thread);
                        made &= !(u32::from(made >> lane & 1 == 1 && !also(at)) << lane);
                    }
                }
                for (id, (mask, addresses)) in wanted.zip(found) {
                    let (values, known) = interpreter.values(id);
                    *mask = made & known;
                    let own = values.iter().enumerate().filter(|(lane, _)| *mask >> lane & 1 == 1);
                    addresses.extend(own.map(|(_, &address)| address as u64));
                }
            }
            Way::OneByOne(interpreter, laps) => {
                for (lane, thread) in threads.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                    at[..THREADS].copy_from_slice(thread);
                    if !laps.settle(at) {
                        continue;
                    }
                    interpreter.set(at);
                    let holds = |condition| interpreter.value(condition).is_some_and(|value| value & 1 == 1);
                    if !guard.condition.is_none_or(holds) || guard.also.is_some_and(|also| !also(at)) {
                        continue;
                    }
                    for (id, (mask, addresses)) in wanted.clone().zip(found.iter_mut()) {
                        if let Some(address) = interpreter.value(id) {
                            *mask |= 1 << lane;
                            addresses.push(address as u64);
                        }
                    }
                }
            }
        }
    }
}
