//! How the lanes of an access lie.

use crate::llvm::Value;

/// Whether lanes lie evenly, and how they lie if so.
pub type Evenness<'c> = (Value<'c>, Lay<'c>);

/// How the lanes of an access lie.
#[derive(Clone)]
pub enum Lay<'c> {
    /// All at one address.
    Same(Value<'c>),
    /// Per group of lanes a base; the stride is constant.
    Strided(Vec<Value<'c>>, i64),
    /// Anywhere: `<32 x i64>`.
    Scattered(Value<'c>),
    /// As `Scattered`, but most likely evenly: worth a look when it runs. What is guessed, if anything is; else
    /// neighbouring elements are.
    Likely(Value<'c>, Option<Guess<'c>>),
}

/// An affine form that holds under a condition.
#[derive(Clone)]
pub struct Guess<'c> {
    /// One base per group, `i64`.
    pub bases: Vec<Value<'c>>,
    /// Difference of neighbouring lanes.
    pub stride: i64,
    /// The condition, `i1`; without one it holds.
    pub holds: Option<Value<'c>>,
}

/// What a check let through, where an access some of whose lanes may not continue comes together with all others.
pub struct Allowed<'c> {
    /// Lanes that do the access; may be none.
    pub mask: Value<'c>,
    /// Of lanes at one address per group, an address per group that can be read in any case.
    pub bases: Vec<Value<'c>>,
}
