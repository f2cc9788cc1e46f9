//! The order in which the warps of an SM issue: a property of a GPU model.

use serde::{Deserialize, Serialize};

/// Greatest drift of [`Order::LooseRoundRobin`], per cent.
pub const MOST_DRIFT: u32 = 99;
/// Longest wait of [`Order::OldestFirst`], steps.
pub const LONGEST_WAIT: u32 = 1 << 16;

/// Warp scheduling policy of an SM. A step is one issue slot of each SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The warps that can run issue one after the other.
    LooseRoundRobin {
        /// Per cent of its issue slots that the slowest block passes over; each block has a share of its own between none
        /// and this. 0: all blocks keep step.
        drift: u32,
    },
    /// The ready warp whose block started first issues; among the warps of a block the one with the lowest number.
    OldestFirst {
        /// Steps after an issue slot in which the warp is not ready, as a model of its latency. 0: a warp issues until it
        /// waits or ends.
        wait: u32,
    },
}

impl Order {
    /// All blocks keep step.
    pub const IN_STEP: Order = Order::LooseRoundRobin { drift: 0 };

    /// Returns the order of a trace that contains none: those before version 4096 followed the compute capability.
    pub fn of_earlier_traces(compute_capability: (u32, u32)) -> Order {
        Order::LooseRoundRobin { drift: if compute_capability.0 == 9 { 60 } else { 0 } }
    }

    /// Returns the order of launches whose warps take turns at each access (`--interleave`): they may poll each other without
    /// giving way, so the oldest must not issue until it ends.
    pub fn interleaved(self) -> Order {
        match self {
            Order::LooseRoundRobin { .. } => self,
            Order::OldestFirst { .. } => Order::IN_STEP,
        }
    }

    /// Returns how far blocks drift apart, in per cent; 0 where the order has no drift.
    pub fn drift(self) -> u32 {
        match self {
            Order::LooseRoundRobin { drift } => drift,
            Order::OldestFirst { .. } => 0,
        }
    }
}

impl Default for Order {
    fn default() -> Self {
        Order::IN_STEP
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Order::LooseRoundRobin { drift: 0 } => write!(out, "loose round robin"),
            Order::LooseRoundRobin { drift } => write!(out, "loose round robin, drift {drift} %"),
            Order::OldestFirst { wait } => write!(out, "oldest first, wait {wait} steps"),
        }
    }
}
