//! Merges profiles in memory.

use super::{MergeError, Merger};
use warpline_profile::Profile;

/// Merges profiles. A single profile is returned unchanged, unless it is one of several ranks.
///
/// # Errors
/// Returns a [`MergeError`] if they do not belong together.
pub fn merge(profiles: Vec<Profile>) -> Result<Profile, MergeError> {
    let mut merger = Merger::new();
    for profile in profiles {
        merger.take(profile)?;
    }
    merger.finish()
}
