//! Selects the recording with which a profile is compared.

use super::alike::{Accepted, of_profile, of_record};
use super::case::Case;
use super::document::Passed;
use warpline_profile::Profile;
use warpline_profile::store::{Recorded, Store, StoreError};

/// Maximum number of recordings that are searched. Older recordings are poor baselines.
const MOST: usize = 200;

/// Recordings that may serve as the baseline, the nearest first.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The recordings.
    pub records: Vec<Recorded>,
    /// Reason why the first one is the nearest.
    pub why: String,
}

/// The result of the search.
#[derive(Debug, Default)]
pub struct Choice {
    /// The nearest suitable recording and its profile.
    pub chosen: Option<(Recorded, Profile)>,
    /// Nearer recordings that were created differently.
    pub passed: Vec<Passed>,
}

/// Finds the nearest recording that was created in the same way as `case`.
///
/// # Errors
/// Returns an error if a profile is missing or damaged.
pub fn choose(store: &Store, candidates: &Candidates, case: &Case, accepted: &Accepted) -> Result<Choice, StoreError> {
    let mut choice = Choice::default();
    for recorded in candidates.records.iter().take(MOST) {
        let mut differences = of_record(&recorded.record, case, accepted);
        if differences.is_empty() {
            let profile = store.profile(&recorded.record)?;
            differences = of_profile(&profile, &case.profile, accepted);
            if differences.is_empty() {
                choice.chosen = Some((recorded.clone(), profile));
                return Ok(choice);
            }
        }
        choice.passed.push(Passed {
            record: recorded.id.to_string(),
            commit: recorded.record.commit.clone(),
            differences,
        });
    }
    Ok(choice)
}
