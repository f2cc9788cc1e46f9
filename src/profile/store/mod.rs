//! A content-addressed store of profiles. `warpline record` writes it; `history` and `gate` read it.
//!
//! ```text
//! warpline-store.json                     what this is, and its version
//! objects/AB/ABCD….wlprof                 a profile without what differs between identical runs, by its SHA-256
//! records/NAME-HASH/HASH.json             one recording: which profile, of which commit, made how
//! ```
//!
//! Files are only added, each one atomically, and all names are generated from content. Writers therefore need no
//! coordination. A killed writer leaves at most a temporary file, or a profile without a record. Damage is detected
//! because the content does not match the name.

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
