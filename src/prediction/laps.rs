//! How often each thread goes through a loop whose end the indices give in a way that is not affine, found by going through it.
//!
//! So are windows that are clamped at both ends once the compiler has unrolled them: what is left over of eight at a time is no form.

use warpline_format::expression::{ExpressionId, ExpressionKind, LoopId, parts};

use super::evaluate::Evaluated;
use super::form::{Bounds, FIXED, THREADS, block, counter};
use super::interpret::Interpreter;
use super::launch::Launch;
use crate::profile::model::Addresses;

/// Iterations that are gone through, at most.
pub const MOST: i64 = 64;
/// Threads of a block of which the longest loop is looked for.
const THREADS_LOOKED_AT: u32 = 128;

/// Goes through some loops of a kernel, for one thread after the other.
pub struct Laps<'a> {
    /// In the order of the code; whether the loop is around what is asked for.
    loops: Vec<(LoopId, bool, Interpreter<'a>)>,
    addresses: &'a Addresses,
}

/// Loops that decide about something, in the order of the code, and whether they are around it.
pub type Deciding = Vec<(LoopId, bool)>;

impl<'a> Laps<'a> {
    /// For loops of a kernel.
    pub fn new(addresses: &'a Addresses, launch: &'a Launch, deciding: &[(LoopId, bool)]) -> Laps<'a> {
        let of = |&(lap, is_around): &(LoopId, bool)| {
            let ends = addresses.loops[lap as usize].ends.iter().copied();
            (lap, is_around, Interpreter::new(addresses, launch, ends))
        };
        Laps { loops: deciding.iter().map(of).collect(), addresses }
    }

    /// The loops that decide about expressions in the loops `around`: those around whose end differs from thread to thread in a way that is no form, and
    /// those that are over whose last iteration some of it depends on.
    pub fn deciding(
        addresses: &Addresses,
        evaluated: &Evaluated,
        wanted: impl IntoIterator<Item = ExpressionId>,
        around: &[LoopId],
    ) -> Deciding {
        let mut open: Vec<LoopId> = around.iter().copied().filter(|&lap| evaluated.by_thread[lap as usize]).collect();
        open.extend(counters(addresses, wanted));
        let mut found: Vec<LoopId> = Vec::new();
        while let Some(lap) = open.pop() {
            let is_around = around.contains(&lap);
            let decides = match is_around {
                true => evaluated.by_thread[lap as usize],
                false => evaluated.differs(lap),
            };
            if decides && !found.contains(&lap) {
                found.push(lap);
                open.extend(counters(addresses, addresses.loops[lap as usize].ends.iter().copied()));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|lap| (lap, around.contains(&lap))).collect()
    }

    /// Sets the counters of loops that are over to their thread's last iteration; whether the thread comes to the iterations that those of the loops
    /// around have.
    pub fn settle(&mut self, at: &mut [i64]) -> bool {
        for (lap, is_around, interpreter) in &mut self.loops {
            let index = counter(*lap);
            let now = at[index];
            let last = last(self.addresses, interpreter, *lap, at);
            at[index] = if *is_around { now } else { last.unwrap_or(now) };
            if last.is_none_or(|last| *is_around && now > last) {
                return false;
            }
        }
        true
    }
}

/// Loops whose counters expressions depend on.
fn counters(addresses: &Addresses, wanted: impl IntoIterator<Item = ExpressionId>) -> impl Iterator<Item = LoopId> {
    parts(&addresses.expressions, wanted).filter_map(|(_, kind)| match kind {
        ExpressionKind::Counter(lap) => Some(lap),
        _ => None,
    })
}

/// The iteration in which a thread leaves a loop; `None` where it goes on for long, or that is not known.
fn last(addresses: &Addresses, interpreter: &mut Interpreter<'_>, lap: LoopId, at: &mut [i64]) -> Option<i64> {
    for number in 0..MOST {
        at[counter(lap)] = number;
        interpreter.set(at);
        let mut over = false;
        for &end in &addresses.loops[lap as usize].ends {
            over |= interpreter.value(end)? & 1 == 1;
        }
        if over {
            return Some(number);
        }
    }
    None
}

/// Iterations that any thread makes of a loop at most, as far as some threads of some blocks tell, in some iterations of the loops around; `None` where it
/// depends on something else, or goes on for long. Those that come to a loop without iterations may go on in it: they do not count.
pub fn most(addresses: &Addresses, launch: &Launch, evaluated: &Evaluated, lap: LoopId) -> Option<i64> {
    let entry = &addresses.loops[lap as usize];
    let is_known = |(_, kind): (ExpressionId, ExpressionKind)| match kind {
        ExpressionKind::Unknown(..) => false,
        ExpressionKind::Counter(other) => {
            other == lap || evaluated.loops.get(other as usize).is_some_and(Result::is_ok)
        }
        _ => true,
    };
    if entry.ends.is_empty() || !parts(&addresses.expressions, entry.ends.iter().copied()).all(is_known) {
        return None;
    }
    let mut deciding = Laps::deciding(addresses, evaluated, entry.ends.iter().copied(), &entry.around);
    deciding.retain(|(own, _)| *own != lap);
    let mut laps = Laps::new(addresses, launch, &deciding);
    let mut interpreter = Interpreter::new(addresses, launch, entry.ends.iter().copied());
    let some = |bounds: &Bounds, index: usize| {
        let (low, high) = bounds.of(index);
        let mut all = vec![low, low + (high - low) / 2, high];
        all.dedup();
        all
    };
    let mut points = vec![interpreter.origin([0; 3])];
    for index in (0..3).map(block).chain(entry.around.iter().map(|&lap| counter(lap))) {
        let values = some(&evaluated.bounds, index);
        let each = points.iter().flat_map(|point| values.iter().map(move |&value| (point, value)));
        points = each
            .map(|(point, value)| {
                let mut point = point.clone();
                point[index] = value;
                point
            })
            .collect();
    }
    let threads = launch.threads();
    let step = threads.div_ceil(THREADS_LOOKED_AT).max(1) as usize;
    let mut found = None;
    for point in points {
        for number in (0..threads).step_by(step).chain([threads - 1]) {
            let mut at = point.clone();
            at[..THREADS].copy_from_slice(&launch.thread(number));
            for (at, range) in at.iter_mut().zip(&evaluated.bounds.0).skip(FIXED) {
                *at = (*at).min(range.1);
            }
            if !laps.settle(&mut at) {
                continue;
            }
            if let Some(last) = last(addresses, &mut interpreter, lap, &mut at) {
                found = found.max(Some(last + 1));
            }
        }
    }
    found
}
