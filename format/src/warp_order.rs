//! The order in which the warps of an SM issue, which is a property of a GPU model.

use serde::{Deserialize, Serialize};

/// Maximum drift of [`Order::LooseRoundRobin`], in per cent.
pub const MOST_DRIFT: u32 = 99;
/// Maximum wait of [`Order::OldestFirst`], in steps.
pub const LONGEST_WAIT: u32 = 1 << 16;

/// Warp scheduling policy of an SM. In one step, each SM has one issue slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// The warps that can run issue one after the other, cyclically.
    LooseRoundRobin {
        /// Per cent of its issue slots that the slowest block skips. Each block has its own share between 0 and this
        /// value. With 0, all blocks stay in step.
        drift: u32,
    },
    /// The ready warp of the block that started first issues; within a block, the warp with the lowest number.
    OldestFirst {
        /// Number of steps after an issue slot in which the warp is not ready, which models its latency. With 0, a warp
        /// issues until it waits or ends.
        wait: u32,
    },
}

impl Order {
    /// All blocks stay in step.
    pub const IN_STEP: Order = Order::LooseRoundRobin { drift: 0 };

    /// Returns the order for a trace that contains none. Before version 4096, the order followed from the compute
    /// capability.
    pub fn of_earlier_traces(compute_capability: (u32, u32)) -> Order {
        Order::LooseRoundRobin { drift: if compute_capability.0 == 9 { 60 } else { 0 } }
    }

    /// Returns the order for launches whose warps are switched at each access (`--interleave`). Warps may poll each
    /// other without yielding, so the oldest warp must not issue until it ends.
    pub fn interleaved(self) -> Order {
        match self {
            Order::LooseRoundRobin { .. } => self,
            Order::OldestFirst { .. } => Order::IN_STEP,
        }
    }

    /// Returns the drift between blocks in per cent; 0 if the order has no drift.
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
