//! Barriers that only a part of a warp reaches, and barriers at which some warps of a block wait while others wait
//! elsewhere.

use super::message;
use crate::device::execution::warp::Warp;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::sync::Mutex;
use warpline_format::access::LANES;
use warpline_format::event::{DifferentBarriers, DivergentBarrier};
use warpline_format::options::Check;

/// The barriers that have been reported, by file and line.
static REPORTED: Mutex<BTreeSet<(String, u32)>> = Mutex::new(BTreeSet::new());

/// Reports to the user and the trace, once per barrier, that lanes of the warp do not reach the barrier.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn divergent(warp: *mut Warp, mask: u32, absent: u32, file: &str, line: u32) {
    // SAFETY: by the contract.
    unsafe {
        let running = &mut *(*warp).running;
        if running.check == Check::Off
            || !REPORTED.lock().is_ok_and(|mut reported| reported.insert((file.to_owned(), line)))
        {
            return;
        }
        let lane = (mask.trailing_zeros() & 31) as usize;
        running.divergent.push(DivergentBarrier {
            launch: running.launch,
            file: file.to_owned(),
            line,
            block: (*warp).context.block,
            thread: (*warp).context.warp * LANES as u32 + lane as u32,
            lanes: mask,
            absent,
        });
        let (came, missing) = (mask.count_ones(), absent.count_ones());
        let lanes = if came == 1 { "lane" } else { "lanes" };
        let text = format!(
            "Divergent __syncthreads at {file}:{line}: {came} {lanes} of a warp reached it while {missing} did not and went \
             on. All threads of a block have to reach the same __syncthreads; here the barrier did not wait for them, a GPU \
             may hang"
        );
        message::pointer(warp, lane, &text);
    }
}

/// The pairs of barriers that have been reported.
static REPORTED_PAIRS: Mutex<BTreeSet<[BarrierPosition; 2]>> = Mutex::new(BTreeSet::new());

/// A line of [`warpline_format::abi::WarpContext::barrier`].
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct BarrierPosition {
    line: u32,
    column: u32,
    file: String,
}

fn places(text: &str) -> Vec<BarrierPosition> {
    let place = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let mut number = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        let (line, column) = (number(), number());
        BarrierPosition { line, column, file: parts.next().unwrap_or_default().to_owned() }
    };
    text.lines().map(place).collect()
}

/// Returns where two barriers differ: the barriers themselves, or the calls that lead to one function with a barrier in
/// it. Returns `None` if they are the same; the code may contain several copies of one barrier.
fn difference(one: &str, other: &str) -> Option<[BarrierPosition; 2]> {
    let (one, other) = (places(one), places(other));
    let first = one.iter().zip(&other).position(|(one, other)| one != other);
    let at = first.or_else(|| (one.len() != other.len()).then_some(0))?;
    Some([one.into_iter().nth(at)?, other.into_iter().nth(at)?])
}

/// Reports to the user and the trace, once per pair of barriers, that the warp reaches one barrier while warp `of` of
/// its block waits at the other.
///
/// # Safety
/// `warp` is the running one; both texts are zero-terminated.
pub unsafe fn different(warp: *mut Warp, here: *const c_char, other: *const c_char, of: u32) {
    // SAFETY: by the contract.
    unsafe {
        let text = |text| CStr::from_ptr(text).to_string_lossy();
        let Some([here, there]) = difference(&text(here), &text(other)) else { return };
        (*(*warp).block).parted();
        let running = &mut *(*warp).running;
        let mut pair = [here.clone(), there.clone()];
        pair.sort();
        if running.check == Check::Off || !REPORTED_PAIRS.lock().is_ok_and(|mut reported| reported.insert(pair)) {
            return;
        }
        let context = &(*warp).context;
        running.different.push(DifferentBarriers {
            launch: running.launch,
            block: context.block,
            file: here.file.clone(),
            line: here.line,
            warp: context.warp,
            other_file: there.file.clone(),
            other_line: there.line,
            other_warp: of,
        });
        let lane = (context.live.trailing_zeros() & 31) as usize;
        let what = format!(
            "Warps of a block wait at different __syncthreads: warp {} at {}:{}, warp {of} at {}:{}. CUDA leaves undefined what \
             happens; here, as on most GPUs, each counts for the other and all warps went on",
            context.warp, here.file, here.line, there.file, there.line
        );
        message::pointer(warp, lane, &what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn barriers_differ_by_their_places_and_by_the_calls_that_lead_to_them() {
        let at = |line, column, file: &str| BarrierPosition { line, column, file: file.to_owned() };
        assert_eq!(difference("7 3 a b.cu\n", "7 3 a b.cu\n"), None);
        assert_eq!(difference("7 3 a b.cu\n", "9 3 a b.cu\n"), Some([at(7, 3, "a b.cu"), at(9, 3, "a b.cu")]));
        assert_eq!(difference("7 3 x\n20 1 x\n", "7 3 x\n30 1 x\n"), Some([at(20, 1, "x"), at(30, 1, "x")]));
        assert_eq!(difference("7 3 x\n20 1 x\n", "7 3 x\n"), Some([at(7, 3, "x"), at(7, 3, "x")]));
        assert_eq!(difference("", ""), None);
    }
}
