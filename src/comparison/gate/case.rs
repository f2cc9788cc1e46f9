//! The profile that a gate judges.

use warpline_profile::Profile;

/// A profile to judge.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of its recordings.
    pub name: String,
    /// The commit that was built.
    pub commit: Option<String>,
    /// The branch of the commit.
    pub branch: Option<String>,
    /// Compiler and its options.
    pub compiler: Option<String>,
    /// The profile.
    pub profile: Profile,
}
