//! How often each thread goes through a loop whose end the indices give in a way that is not affine, found by going through it.
//!
//! So are windows that are clamped at both ends once the compiler has unrolled them: what is left over of eight at a time is no form.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warpline_format::expression::{ExpressionId, ExpressionKind, LoopId, parts};

use super::evaluate::Evaluated;
use super::form::{Bounds, FIXED, Index, THREADS, block, counter, thread};
use super::interpret::Interpreter;
use super::launch::Launch;
use warpline_profile::model::Addresses;

/// Iterations that are gone through, at most.
pub const MOST: i64 = 64;
/// Last iterations that are kept of a loop, at most.
const MOST_KNOWN: usize = 1 << 16;
/// Threads of a block of which the longest loop is looked for.
const THREADS_LOOKED_AT: u32 = 128;

/// Goes through some loops of a kernel, for one thread after the other.
pub struct Laps<'a> {
    /// In the order of the code.
    loops: Vec<Decides<'a>>,
    addresses: &'a Addresses,
}

/// A loop that is gone through.
struct Decides<'a> {
    lap: LoopId,
    /// It is around what is asked for.
    is_around: bool,
    interpreter: Interpreter<'a>,
    /// Indices on which it depends when it ends, its own counter apart.
    indices: Vec<Index>,
    /// By what these are: the last iteration. Threads of a row, and all iterations of a thread, have one.
    known: FxHashMap<SmallVec<[i64; 4]>, Option<i64>>,
}

/// Loops that decide about something, in the order of the code, and whether they are around it.
pub type Deciding = Vec<(LoopId, bool)>;

impl<'a> Laps<'a> {
    /// For loops of a kernel.
    pub fn new(addresses: &'a Addresses, launch: &'a Launch, deciding: &[(LoopId, bool)]) -> Laps<'a> {
        let of = |&(lap, is_around): &(LoopId, bool)| {
            let ends = addresses.loops[lap as usize].ends.iter().copied();
            let indices = parts(&addresses.expressions, ends.clone()).filter_map(|(_, kind)| match kind {
                ExpressionKind::Thread(axis) => Some(thread(axis.into())),
                ExpressionKind::Block(axis) => Some(block(axis.into())),
                ExpressionKind::Counter(other) if other != lap => Some(counter(other)),
                _ => None,
            });
            let indices: BTreeSet<Index> = indices.collect();
            let interpreter = Interpreter::new(addresses, launch, ends);
            let known = FxHashMap::default();
            Decides { lap, is_around, interpreter, indices: indices.into_iter().collect(), known }
        };
        Laps { loops: deciding.iter().map(of).collect(), addresses }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
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
        for Decides { lap, is_around, interpreter, indices, known } in &mut self.loops {
            let index = counter(*lap);
            let now = at[index];
            let own: SmallVec<[i64; 4]> = indices.iter().map(|&index| at[index]).collect();
            let last = match known.get(&own) {
                Some(&known) => known,
                None => {
                    if known.len() >= MOST_KNOWN {
                        known.clear();
                    }
                    let found = last(self.addresses, interpreter, *lap, at);
                    known.insert(own, found);
                    found
                }
            };
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
