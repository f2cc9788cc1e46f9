//! Why a store cannot be used.

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or service refused something.
    #[error("{place}: cannot {what}: {error}")]
    Io {
        /// File, or address of an object.
        place: String,
        /// `read`, `write` or `list`.
        what: &'static str,
        /// Cause.
        error: std::io::Error,
    },
    /// The folder has other things in it.
    #[error("{place}: is no store of profiles, and not empty; give --store another folder")]
    NotAStore {
        /// Folder.
        place: String,
    },
    /// Made by a later release.
    #[error("{place}: the store has version {version}, this warpline reads {newest}; use the release that made it")]
    Newer {
        /// File.
        place: String,
        /// Its version.
        version: u64,
        /// The newest known.
        newest: u64,
    },
    /// Bytes are missing or changed.
    #[error("{place}: damaged: {what}; remove it and record the profile again")]
    Damaged {
        /// File.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// A record names a profile that is not there.
    #[error("{place}: is missing, and a record names it; record the profile again")]
    Missing {
        /// File.
        place: String,
    },
    /// A recording cannot be kept as it is.
    #[error("{0}")]
    Unfit(String),
}
