//! Trip counts of loops whose end is not affine, found by following the loop for each thread.
//!
//! Such loops result, for example, from windows that are clamped at both ends after the compiler has unrolled them by
//! eight: the remainder of a division is not affine.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use warpline_format::expression::{Binary, ExpressionId, ExpressionKind, LoopId, parts};

use super::evaluated::{Evaluated, MOST_BY_THREAD};
use super::form::{Bounds, FIXED, Index, THREADS, block, counter, thread};
use super::interpret::origin;
use super::launch::Launch;
use super::warp_interpreter::{LANES, WarpInterpreter};
use warpline_profile::model::Addresses;

/// Maximum number of cached trip counts per loop.
const MOST_KNOWN: usize = 1 << 16;
/// Number of threads of a block that are followed to find the largest trip count.
const THREADS_LOOKED_AT: u32 = 128;

/// Follows loops of a kernel, one thread at a time.
pub struct TripCounts<'a> {
    /// Loops in program order.
    loops: Vec<Decides<'a>>,
    addresses: &'a Addresses,
}

/// A loop that is followed for each thread.
struct Decides<'a> {
    loop_id: LoopId,
    /// The loop encloses the access.
    is_around: bool,
    interpreter: WarpInterpreter<'a>,
    /// Indices, except its own counter, that its end depends on.
    indices: Vec<Index>,
    /// Last iteration, by the values of these indices. Threads of a row, or all iterations of a thread, may share a
    /// value.
    known: FxHashMap<SmallVec<[i64; 4]>, Option<i64>>,
}

/// Loops whose trip counts differ between lanes, in program order, and whether they enclose the access.
pub type LaneLoops = Vec<(LoopId, bool)>;

impl<'a> TripCounts<'a> {
    /// Prepares loops of a kernel.
    pub fn new(addresses: &'a Addresses, launch: &'a Launch, deciding: &[(LoopId, bool)]) -> TripCounts<'a> {
        let of = |&(loop_id, is_around): &(LoopId, bool)| {
            let ends = addresses.loops[loop_id as usize].ends.iter().copied();
            let indices = parts(&addresses.expressions, ends.clone()).filter_map(|(_, kind)| match kind {
                ExpressionKind::Thread(axis) => Some(thread(axis.into())),
                ExpressionKind::Block(axis) => Some(block(axis.into())),
                ExpressionKind::Counter(other) if other != loop_id => Some(counter(other)),
                _ => None,
            });
            let indices: BTreeSet<Index> = indices.collect();
            let interpreter = WarpInterpreter::new(addresses, launch, ends, &[loop_id]);
            let known = FxHashMap::default();
            Decides { loop_id, is_around, interpreter, indices: indices.into_iter().collect(), known }
        };
        TripCounts { loops: deciding.iter().map(of).collect(), addresses }
    }

    /// Returns whether there are no such loops.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Returns the loops whose per-thread trip counts affect expressions inside the loops `around`. They are loops of
    /// `around` whose end differs between threads and is not affine, and ended loops whose last iteration is used.
    pub fn lane_loops(
        addresses: &Addresses,
        evaluated: &Evaluated,
        wanted: impl IntoIterator<Item = ExpressionId>,
        around: &[LoopId],
    ) -> LaneLoops {
        let mut open: Vec<LoopId> =
            around.iter().copied().filter(|&loop_id| evaluated.by_thread[loop_id as usize]).collect();
        open.extend(counters(addresses, wanted));
        let mut found: Vec<LoopId> = Vec::new();
        while let Some(loop_id) = open.pop() {
            let is_around = around.contains(&loop_id);
            let decides = match is_around {
                true => evaluated.by_thread[loop_id as usize],
                false => evaluated.differs(loop_id),
            };
            if decides && !found.contains(&loop_id) {
                found.push(loop_id);
                open.extend(counters(addresses, addresses.loops[loop_id as usize].ends.iter().copied()));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|loop_id| (loop_id, around.contains(&loop_id))).collect()
    }

    /// Sets the counters of ended loops to the thread's last iteration. Returns whether the thread reaches the current
    /// iterations of the surrounding loops.
    pub fn settle(&mut self, at: &mut [i64]) -> bool {
        for Decides { loop_id, is_around, interpreter, indices, known } in &mut self.loops {
            let index = counter(*loop_id);
            let now = at[index];
            let own: SmallVec<[i64; 4]> = indices.iter().map(|&index| at[index]).collect();
            let last = match known.get(&own) {
                Some(&known) => known,
                None => {
                    if known.len() >= MOST_KNOWN {
                        known.clear();
                    }
                    let found = last(self.addresses, interpreter, *loop_id, at);
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

/// Returns the loops whose counters some expressions depend on.
fn counters(addresses: &Addresses, wanted: impl IntoIterator<Item = ExpressionId>) -> impl Iterator<Item = LoopId> {
    parts(&addresses.expressions, wanted).filter_map(|(_, kind)| match kind {
        ExpressionKind::Counter(loop_id) => Some(loop_id),
        _ => None,
    })
}

/// Returns the iteration in which a thread leaves a loop; `None` if it is unknown or too large. Each lane of the
/// interpreter evaluates one iteration.
fn last(addresses: &Addresses, interpreter: &mut WarpInterpreter<'_>, loop_id: LoopId, at: &mut [i64]) -> Option<i64> {
    let mut thread = [0; THREADS];
    thread.copy_from_slice(&at[..THREADS]);
    for first in (0..MOST_BY_THREAD).step_by(LANES) {
        for lane in 0..LANES {
            at[counter(loop_id)] = first + lane as i64;
            interpreter.set_lane(lane, at);
        }
        interpreter.set(at, &[thread; LANES]);
        let (mut known, mut over) = (u32::MAX, 0);
        for &end in &addresses.loops[loop_id as usize].ends {
            known &= interpreter.values(end).1;
            over |= interpreter.holds(end);
        }
        let (end, unknown) = (over.trailing_zeros(), (!known).trailing_zeros());
        if unknown < LANES as u32 && unknown <= end {
            return None;
        }
        if over != 0 {
            return Some(first + i64::from(end));
        }
    }
    None
}

/// Returns whether a loop ends for all threads at the same iteration, regardless of other loops' counters.
pub fn is_uniform(addresses: &Addresses, loop_id: LoopId) -> bool {
    let ends = addresses.loops[loop_id as usize].ends.iter().copied();
    parts(&addresses.expressions, ends).all(|(_, kind)| match kind {
        ExpressionKind::Thread(_) | ExpressionKind::Block(_) => false,
        ExpressionKind::Counter(own) => own == loop_id,
        _ => true,
    })
}

/// Returns the counters that occur as shift amounts in some expressions. A loop whose variable is halved or doubled is
/// affine in each separate iteration.
pub fn shifting(addresses: &Addresses, expressions: impl IntoIterator<Item = ExpressionId>) -> Vec<usize> {
    let mut found = Vec::new();
    for (_, kind) in parts(&addresses.expressions, expressions) {
        if let ExpressionKind::Binary(operation, _, by) = kind
            && matches!(operation, Binary::ShiftLeft | Binary::SignedShiftRight | Binary::UnsignedShiftRight)
        {
            found.extend(parts(&addresses.expressions, [by]).filter_map(|(_, kind)| match kind {
                ExpressionKind::Counter(loop_id) => Some(FIXED + loop_id as usize),
                _ => None,
            }));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the largest trip count of a loop, from some threads of some blocks in some iterations of the surrounding
/// loops. Returns `None` if it depends on other values or is too large. Threads that enter no iteration do not count.
pub fn longest(addresses: &Addresses, launch: &Launch, evaluated: &Evaluated, loop_id: LoopId) -> Option<i64> {
    let entry = &addresses.loops[loop_id as usize];
    let is_known = |(_, kind): (ExpressionId, ExpressionKind)| match kind {
        ExpressionKind::Unknown(..) => false,
        ExpressionKind::Counter(other) => {
            other == loop_id || evaluated.loops.get(other as usize).is_some_and(Result::is_ok)
        }
        _ => true,
    };
    if entry.ends.is_empty() || !parts(&addresses.expressions, entry.ends.iter().copied()).all(is_known) {
        return None;
    }
    let mut deciding = TripCounts::lane_loops(addresses, evaluated, entry.ends.iter().copied(), &entry.around);
    deciding.retain(|(own, _)| *own != loop_id);
    let mut iterations = TripCounts::new(addresses, launch, &deciding);
    let mut interpreter = WarpInterpreter::new(addresses, launch, entry.ends.iter().copied(), &[loop_id]);
    let some = |bounds: &Bounds, index: usize| {
        let (low, high) = bounds.range(index);
        let mut all = vec![low, low + (high - low) / 2, high];
        all.dedup();
        all
    };
    let mut points = vec![origin([0; 3], addresses.loops.len())];
    for index in (0..3).map(block).chain(entry.around.iter().map(|&loop_id| counter(loop_id))) {
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
            if !iterations.settle(&mut at) {
                continue;
            }
            if let Some(last) = last(addresses, &mut interpreter, loop_id, &mut at) {
                found = found.max(Some(last + 1));
            }
        }
    }
    found
}
