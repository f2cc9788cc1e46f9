//! Trip counts of loops whose end is not affine, found by following the loop for each thread.
//!
//! So are windows that are clamped at both ends once the compiler has unrolled them: what is left over of eight at a time is not a form.

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

/// Trip counts that are kept of a loop, at most.
const MOST_KNOWN: usize = 1 << 16;
/// Threads of a block that are followed for the largest trip count.
const THREADS_LOOKED_AT: u32 = 128;

/// Follows some loops of a kernel, for one thread after the other.
pub struct TripCounts<'a> {
    /// In the order of the code.
    loops: Vec<Decides<'a>>,
    addresses: &'a Addresses,
}

/// A loop that is followed.
struct Decides<'a> {
    loop_id: LoopId,
    /// It encloses the access.
    is_around: bool,
    interpreter: WarpInterpreter<'a>,
    /// Indices on which it depends when it ends, its own counter apart.
    indices: Vec<Index>,
    /// Keyed by what these are: the last iteration. Threads of a row, and all iterations of a thread, have one.
    known: FxHashMap<SmallVec<[i64; 4]>, Option<i64>>,
}

/// Loops whose trip count is each lane's own, in the order of the code, and whether they enclose the access.
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

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Returns the loops whose trip counts expressions in the loops `around` depend on: those around whose end differs between threads and
    /// is not affine, and those that have ended and whose last iteration is used.
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

    /// Sets the counters of loops that have ended to the thread's last iteration; returns whether the thread reaches the iterations of the
    /// loops around.
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

/// Returns the loops whose counters expressions depend on.
fn counters(addresses: &Addresses, wanted: impl IntoIterator<Item = ExpressionId>) -> impl Iterator<Item = LoopId> {
    parts(&addresses.expressions, wanted).filter_map(|(_, kind)| match kind {
        ExpressionKind::Counter(loop_id) => Some(loop_id),
        _ => None,
    })
}

/// Returns the iteration in which a thread leaves a loop; `None` if that is too late, or unknown. The lanes of the interpreter are
/// iterations.
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

/// Returns whether a loop ends for all threads at once, whatever the iteration of other loops.
pub fn is_uniform(addresses: &Addresses, loop_id: LoopId) -> bool {
    let ends = addresses.loops[loop_id as usize].ends.iter().copied();
    parts(&addresses.expressions, ends).all(|(_, kind)| match kind {
        ExpressionKind::Thread(_) | ExpressionKind::Block(_) => false,
        ExpressionKind::Counter(own) => own == loop_id,
        _ => true,
    })
}

/// Returns the counters that shift something in some expressions: a loop whose variable halves or doubles is affine in each iteration.
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

/// Returns the largest trip count of a loop, by some threads of some blocks in some iterations of the loops around; `None` if it depends on
/// something else, or is too large. Threads that reach a loop without iterations do not count.
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
