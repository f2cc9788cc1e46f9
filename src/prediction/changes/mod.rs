//! Address expressions of changed code: thread coarsening, padded arrays, and structures of arrays. Each change creates
//! new expressions from the existing ones, so the later stages do not depend on the changes.

mod fold;
mod graph;
mod layout;
mod pad;

pub use fold::folded;
pub(super) use graph::Graph;
pub use layout::parted;
pub use pad::padded;

/// The origin of a site of changed code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the site before the change.
    pub site: usize,
    /// Number of the thread's point that the site belongs to.
    pub copy: u32,
    /// Bytes per lane if the change altered them.
    pub bytes: Option<u32>,
}

impl Origin {
    /// Returns the origins of sites that stay unchanged.
    pub fn same(sites: usize) -> Vec<Origin> {
        (0..sites).map(|site| Origin { site, copy: 0, bytes: None }).collect()
    }

    /// Combines the origins of two consecutive changes.
    pub fn then(before: &[Origin], after: &[Origin]) -> Vec<Origin> {
        let each = after.iter().map(|one| {
            let first = before[one.site];
            Origin { site: first.site, copy: one.copy, bytes: one.bytes.or(first.bytes) }
        });
        each.collect()
    }
}

/// Reasons why code cannot be changed as requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The kernel has no such array.
    #[error("{name}: this kernel touches no array of this name; there are: {}", known.join(", "))]
    NoArray {
        /// The name that was given.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// No parameter contains the length of an array along an axis.
    #[error("{name}.{axis}: no parameter of the kernel is the length of {name} along {axis}, so its rows are unknown")]
    NoLength {
        /// The array.
        name: String,
        /// `x`, `y` or `z`.
        axis: char,
    },
    /// The members of the array's elements are unknown.
    #[error("{name}: {reason}")]
    NoMembers {
        /// The array.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A thread would have too many points.
    #[error("a thread would do the work of {points} points; at most {most} can be predicted")]
    TooMany {
        /// Number of points.
        points: u64,
        /// Maximum number of points.
        most: u64,
    },
}
