//! Facts about branch conditions and atomic operations that cannot be derived from the source text alone.

use serde::{Deserialize, Serialize};

/// Reason why a branch's condition differs between lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The thread number.
    Thread,
    /// A remainder or some bits of the thread number, so that neighbouring lanes differ.
    Alternation,
    /// Data that each lane loads from a different address.
    Data,
    /// A value that the lane computed from the thread number in floating point, or step by step in a loop.
    Computed,
    /// A value that lanes of the warp exchanged: a vote or a shuffle.
    Exchange,
    /// The success of a compare-and-swap.
    Attempt,
    /// An argument of a function that was not inlined, or the result of such a function.
    #[default]
    Call,
}

impl Decider {
    /// All reasons, in their order.
    pub const ALL: [Decider; 7] = [
        Decider::Thread,
        Decider::Alternation,
        Decider::Data,
        Decider::Computed,
        Decider::Exchange,
        Decider::Attempt,
        Decider::Call,
    ];
}

/// The condition of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Sorted reasons; empty if the condition is provably equal in all lanes of a warp.
    pub deciders: Vec<Decider>,
    /// Whether one side leaves a loop and another stays in it.
    pub ends_loop: bool,
}

/// Kind of an atomic operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AtomicKind {
    /// It combines values in any order, like an addition, a minimum or an `or`.
    #[default]
    Combine,
    /// It subtracts from the value.
    Subtract,
    /// It replaces the value, or counts up to a limit.
    Exchange,
    /// It replaces the value if it is still the expected one.
    Attempt,
    /// It changes a 0 to a 1, as for acquiring a lock.
    Lock,
}

impl AtomicKind {
    /// All kinds, in their order.
    pub const ALL: [AtomicKind; 5] =
        [AtomicKind::Combine, AtomicKind::Subtract, AtomicKind::Exchange, AtomicKind::Attempt, AtomicKind::Lock];
}

/// The kind of an atomic operation at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomicSite {
    /// Index into [`crate::site_table::SiteTable::sites`].
    pub site: u32,
    /// Kind of the operation.
    pub kind: AtomicKind,
}
