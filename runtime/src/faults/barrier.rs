//! Barriers that part of a warp comes to.

use super::message;
use crate::execution::warp::Warp;
use std::collections::BTreeSet;
use std::sync::Mutex;
use warpline_format::access::LANES;
use warpline_format::event::DivergentBarrier;
use warpline_format::options::Check;

/// Barriers that have been told of, by file and line.
static TOLD: Mutex<BTreeSet<(String, u32)>> = Mutex::new(BTreeSet::new());

/// Tells the user and the trace, once per barrier, that lanes of the warp do not take part in it.
///
/// # Safety
/// `warp` is the running one.
pub unsafe fn divergent(warp: *mut Warp, mask: u32, absent: u32, file: &str, line: u32) {
    // SAFETY: by the contract.
    unsafe {
        let running = &mut *(*warp).running;
        if running.check == Check::Off || !TOLD.lock().is_ok_and(|mut told| told.insert((file.to_owned(), line))) {
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
