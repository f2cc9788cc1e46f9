//! A content-addressed store of profiles: what `warpline record` fills, and `history` and `gate` read.
//!
//! ```text
//! warpline-store.json                     what this is, and its version
//! objects/AB/ABCD….wlprof                 a profile without what differs between identical runs, by its SHA-256
//! records/NAME-HASH/HASH.json             one recording: which profile, of which commit, made how
//! ```
//!
//! Files are only ever added, each whole or not at all, and none has a name that somebody chose. So writers need not know of
//! each other, one that is killed leaves nothing but a temporary file or a profile that no record names, and whatever was
//! damaged does not fit its name.

mod blobs;
mod digest;
mod error;
mod folder;
mod profiles;
mod record;
#[cfg(feature = "object-store")]
mod remote;

pub use blobs::Blobs;
pub use digest::Digest;
pub use error::StoreError;
pub use folder::Folder;
pub use profiles::{Listing, Problem, Recorded, Store};
pub use record::{MAX_NAME, Record, is_commit};
#[cfg(feature = "object-store")]
pub use remote::Remote;
