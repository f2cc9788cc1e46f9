//! Why profiles cannot be put together.

/// Why profiles cannot be put together.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MergeError {
    /// There are none.
    #[error("there is no profile to merge")]
    Nothing,
    /// They were not made alike.
    #[error(
        "the profiles were made for different {what} ({one} and {other}), so their figures do not add up; run the program \
         with the same options each time, or `warpline sim` kept traces for one model"
    )]
    Different {
        /// `GPU models`, `devices` or `modes`.
        what: &'static str,
        /// One of them.
        one: String,
        /// Another one.
        other: String,
    },
    /// They have nothing in common.
    #[error("the profiles are of different programs: {one} and {other}; `warpline diff` compares two")]
    Programs {
        /// One of them.
        one: String,
        /// Another one.
        other: String,
    },
    /// They are of ranks of several jobs.
    #[error(
        "the profiles are of ranks of different jobs, one of {one} ranks and one of {other}; remove those of the job that is not \
         meant, which may have been left in the folder"
    )]
    Jobs {
        /// Ranks of one.
        one: u32,
        /// Ranks of another.
        other: u32,
    },
    /// Some are of ranks, and some are not.
    #[error(
        "some of the profiles are of ranks of a job and some are not; merge the ranks of one job, or runs of the program \
         alone"
    )]
    NotAllRanks,
}
