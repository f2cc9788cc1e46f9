//! Which of a job's processes a profile is of.

use serde::{Deserialize, Serialize};

/// Whoever started the program started so many of it: a rank of MPI, a task of Slurm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Its number, from 0.
    pub index: u32,
    /// How many there are; `None` where the launcher does not say.
    pub count: Option<u32>,
    /// Its number among those of its node.
    pub local_index: Option<u32>,
    /// The node that it ran on.
    pub node: Option<String>,
    /// Whose environment told so: `open-mpi`, `pmi` (MPICH and its kin), `slurm` or `pmix`.
    pub launcher: String,
}
