//! Address expressions of code that was changed: threads that do more than one point's work, padded arrays, structures of
//! arrays. Each change makes new expressions of the old ones; what follows knows of none of them.

mod fold;
mod graph;
mod layout;
mod pad;

pub use fold::folded;
pub(super) use graph::Graph;
pub use layout::parted;
pub use pad::padded;

/// Where a site of changed code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the site before the change.
    pub site: usize,
    /// Which of a thread's points it is of.
    pub copy: u32,
    /// Bytes per lane, where these are others.
    pub bytes: Option<u32>,
}

impl Origin {
    /// Of sites that stay as they are.
    pub fn same(sites: usize) -> Vec<Origin> {
        (0..sites).map(|site| Origin { site, copy: 0, bytes: None }).collect()
    }

    /// After a further change.
    pub fn then(before: &[Origin], after: &[Origin]) -> Vec<Origin> {
        let each = after.iter().map(|one| {
            let first = before[one.site];
            Origin { site: first.site, copy: one.copy, bytes: one.bytes.or(first.bytes) }
        });
        each.collect()
    }
}

/// Why code cannot be changed so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// The kernel has no such array.
    #[error("{name}: this kernel touches no array of this name; there are: {}", known.join(", "))]
    NoArray {
        /// As it was given.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// No parameter is the length of an array along an axis.
    #[error("{name}.{axis}: no parameter of the kernel is the length of {name} along {axis}, so its rows are unknown")]
    NoLength {
        /// The array.
        name: String,
        /// `x`, `y` or `z`.
        axis: char,
    },
    /// Its elements are not known.
    #[error("{name}: {reason}")]
    NoMembers {
        /// The array.
        name: String,
        /// Why.
        reason: String,
    },
    /// Too much for one thread.
    #[error("a thread would do {points} points' work; {most} is the most that is predicted")]
    TooMany {
        /// Points.
        points: u64,
        /// At most.
        most: u64,
    },
}
