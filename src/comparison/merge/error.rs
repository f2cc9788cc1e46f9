//! Reasons why profiles cannot be merged.

/// Reasons why profiles cannot be merged.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MergeError {
    /// There are no profiles.
    #[error("there is no profile to merge")]
    Nothing,
    /// The profiles were created differently.
    #[error(
        "the profiles were made for different {what} ({one} and {other}), so their figures do not add up; run the program \
         with the same options each time, or `warpline sim` kept traces for one model"
    )]
    Different {
        /// `GPU models`, `devices` or `modes`.
        what: &'static str,
        /// The value of one profile.
        one: String,
        /// The value of another profile.
        other: String,
    },
    /// The profiles belong to different programs.
    #[error("the profiles are of different programs: {one} and {other}; `warpline diff` compares two")]
    Programs {
        /// The program of one profile.
        one: String,
        /// The program of another profile.
        other: String,
    },
    /// The profiles belong to ranks of different jobs.
    #[error(
        "the profiles are of ranks of different jobs, one of {one} ranks and one of {other}; remove those of the job that is not \
         meant, which may have been left in the folder"
    )]
    Jobs {
        /// Number of ranks of one job.
        one: u32,
        /// Number of ranks of the other job.
        other: u32,
    },
    /// Only some of the profiles belong to ranks.
    #[error(
        "some of the profiles are of ranks of a job and some are not; merge the ranks of one job, or runs of the program \
         alone"
    )]
    NotAllRanks,
}
