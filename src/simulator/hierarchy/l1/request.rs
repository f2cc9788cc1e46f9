//! The ways of a request through L1, and what it makes of it.

/// How L1 treats a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// A load that is cached.
    Load,
    /// A load through the read-only path.
    ReadOnly,
    /// A load that goes straight to L2.
    LoadPast,
    /// A store to global memory.
    Store,
    /// A store to the lanes' own stacks: written back, not through.
    LocalStore,
    /// An atomic.
    Atomic,
}

impl Route {
    /// Reads memory and nothing else.
    pub fn is_load(self) -> bool {
        matches!(self, Route::Load | Route::ReadOnly | Route::LoadPast)
    }
}

/// What one piece did at L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L1Outcome {
    /// Lookups, in the level's own sectors.
    pub lookups: u32,
    /// Hits among these.
    pub hits: u32,
}
