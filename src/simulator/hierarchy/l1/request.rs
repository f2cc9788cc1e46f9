//! Routes of requests through L1, and their outcomes.

/// How L1 treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// A load that is cached.
    Load,
    /// A load through the read-only path.
    ReadOnly,
    /// A load that bypasses L1.
    LoadPast,
    /// A store to global memory.
    Store,
    /// A store to the lanes' stacks, which is written back instead of through.
    LocalStore,
    /// An atomic operation.
    Atomic,
}

impl Route {
    /// Returns whether the request only reads memory.
    pub fn is_load(self) -> bool {
        matches!(self, Route::Load | Route::ReadOnly | Route::LoadPast)
    }
}

/// The outcome of one piece at L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L1Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Hits among the lookups.
    pub hits: u32,
}
