//! The time of an L1, which goes by as lines come into it.
//!
//! A line is pushed out by those that come after it, so what is used again after a time in which none came is still there, and what is used again while many
//! do is not. Where SMs keep step, there are such times: loads of what is there, and stores that allocate.

use super::gathered::{Gathered, Touch};

/// The part of a time in which lines come by their number; the rest goes by in turns.
const BY_LINES: f64 = 0.9;

/// Time by the number of turns.
pub(super) struct Clock(Vec<u32>, u32);

impl Clock {
    /// As many lines come at any time.
    pub(super) fn steady() -> Clock {
        Clock(Vec::new(), 0)
    }

    /// Of SMs whose blocks take so many turns of an SM, by the touches that bring a line into L1 if it is not there.
    pub(super) fn new(gathered: &Gathered, (sms, length): (usize, u32), room: f64, allocates: impl Fn(&Touch) -> bool) -> Clock {
        let end = gathered.touches.last().map_or(0, Touch::time) as usize + 1;
        let mut last: Vec<u32> = vec![0; gathered.lines.len() * sms];
        let mut come = vec![0u32; end];
        for touch in gathered.touches.iter().filter(|touch| allocates(touch)) {
            let last = &mut last[touch.line as usize * sms + touch.sm()];
            // What blocks before touched counts again.
            if *last == 0 || touch.time() + 1 - *last > length {
                come[touch.time() as usize] += 1;
            }
            *last = touch.time() + 1;
        }
        let all: u64 = come.iter().map(|&lines| u64::from(lines)).sum();
        let of_line = BY_LINES * end as f64 / all.max(1) as f64;
        let mut before = 0u64;
        let time = come.iter().enumerate().map(|(turns, &lines)| {
            let time = before as f64 * of_line + (1.0 - BY_LINES) * turns as f64;
            before += u64::from(lines);
            time as u32
        });
        let time = time.collect();
        if std::env::var("WL_C").is_ok() {
            return Clock(time, 0);
        }
        let mut sum = 0u64;
        let full = come.iter().position(|&lines| { sum += u64::from(lines); sum as f64 > room }).unwrap_or(end);
        Clock(if std::env::var("WL_T").is_ok() { Vec::new() } else { time }, full as u32)
    }

    pub(super) fn full(&self) -> u32 {
        self.1
    }

    #[inline(always)]
    pub(super) fn at(&self, turns: u32) -> u32 {
        self.0.get(turns as usize).copied().unwrap_or(turns)
    }
}
