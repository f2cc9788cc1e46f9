//! What decides over branches, and what atomic operations do: facts of the code that its text only suggests.

use serde::{Deserialize, Serialize};

/// What makes a branch's condition differ from lane to lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The thread's number.
    Thread,
    /// A remainder of it, or some of its bits, by which neighbours part.
    Alternation,
    /// Data that each lane loads from an address of its own.
    Data,
    /// What the lane computed of the thread's number in floating point, or step by step in a loop.
    Computed,
    /// What lanes of the warp exchanged: a vote, a shuffle.
    Exchange,
    /// Whether a compare-and-swap succeeded.
    Attempt,
    /// What the caller of a function that is not inlined hands over, or a function returns.
    #[default]
    Call,
}

impl Decider {
    /// All of them, in their order.
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

/// What decides over a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Sorted by kind; nothing where it is the same in all lanes of a warp, as far as the compiler can prove.
    pub deciders: Vec<Decider>,
    /// One side leaves a loop, and another stays in it.
    pub ends_loop: bool,
}

/// What an atomic operation does with what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AtomicKind {
    /// It combines values in any order, as by an addition, a minimum or an `or`.
    #[default]
    Combine,
    /// It takes something away.
    Subtract,
    /// It puts another value there, or counts up to a limit.
    Exchange,
    /// It changes the value if it is still what it was.
    Attempt,
    /// It makes a 0 a 1, as one takes a lock.
    Lock,
}

impl AtomicKind {
    /// All of them, in their order.
    pub const ALL: [AtomicKind; 5] =
        [AtomicKind::Combine, AtomicKind::Subtract, AtomicKind::Exchange, AtomicKind::Attempt, AtomicKind::Lock];
}

/// An atomic operation's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomicSite {
    /// Index into [`crate::site_table::SiteTable::sites`].
    pub site: u32,
    /// What it does.
    pub kind: AtomicKind,
}
