//! Profiles that are in memory.

use super::{MergeError, Merger};
use warpline_profile::Profile;

/// Puts profiles together; a single one stays as it is, if it is not of one of several ranks.
///
/// # Errors
/// [`MergeError`]: they do not belong together.
pub fn merge(profiles: Vec<Profile>) -> Result<Profile, MergeError> {
    let mut merger = Merger::new();
    for profile in profiles {
        merger.take(profile)?;
    }
    merger.finish()
}
