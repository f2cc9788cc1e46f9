//! Errors of a store.

/// Reasons why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the service returned an error.
    #[error("{place}: cannot {what}: {error}")]
    Io {
        /// File, or address of an object.
        place: String,
        /// `read`, `write` or `list`.
        what: &'static str,
        /// Cause.
        error: std::io::Error,
    },
    /// The folder contains other files.
    #[error("{place}: is not a store of profiles, and not empty; give --store another folder")]
    NotAStore {
        /// Folder.
        place: String,
    },
    /// The store was created by a later release.
    #[error("{place}: the store has version {version}, this warpline reads {newest}; use the release that made it")]
    Newer {
        /// File.
        place: String,
        /// Its version.
        version: u64,
        /// The newest supported version.
        newest: u64,
    },
    /// Bytes are missing or were changed.
    #[error("{place}: damaged: {what}; remove it and record the profile again")]
    Damaged {
        /// File.
        place: String,
        /// Description of the damage.
        what: String,
    },
    /// A record refers to a profile that does not exist.
    #[error("{place}: is missing, and a record names it; record the profile again")]
    Missing {
        /// File.
        place: String,
    },
    /// A recording cannot be stored as it is.
    #[error("{0}")]
    Unfit(String),
}
