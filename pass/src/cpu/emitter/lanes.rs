//! The positions of the lanes of an access.

use crate::llvm::Value;

/// Whether lanes are evenly spaced, and their positions in this case.
pub type Evenness<'c> = (Value<'c>, Lay<'c>);

/// The positions of the lanes of an access.
#[derive(Clone)]
pub enum Lay<'c> {
    /// All lanes access one address.
    Same(Value<'c>),
    /// There is a base for each group of lanes, and the stride is constant.
    Strided(Vec<Value<'c>>, i64),
    /// The addresses are arbitrary: `<32 x i64>`.
    Scattered(Value<'c>),
    /// As `Scattered`, but most likely evenly spaced, so that a test at run time is worthwhile. The option contains the
    /// guess; without a guess, adjacent elements are assumed.
    Likely(Value<'c>, Option<Guess<'c>>),
}

/// An affine form that is valid under a condition.
#[derive(Clone)]
pub struct Guess<'c> {
    /// One base per group, `i64`.
    pub bases: Vec<Value<'c>>,
    /// The difference between neighbouring lanes.
    pub stride: i64,
    /// The condition, `i1`; without a condition, the form is always valid.
    pub holds: Option<Value<'c>>,
}

/// The result of a check, at the point where the paths with and without excluded lanes join.
pub struct Allowed<'c> {
    /// The lanes that perform the access, possibly none.
    pub mask: Value<'c>,
    /// For lanes at one address per group, an address per group that can always be read.
    pub bases: Vec<Value<'c>>,
}
