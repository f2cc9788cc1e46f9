//! Jobs of several processes: the rank of this process, from the environment that its launcher set, and the files that
//! each process writes.

mod files;
mod launcher;
mod synthetic;

pub use files::{file_name, folder, profiles_in, rank_of};
pub use launcher::{RankEnvironment, names_a_rank, of_environment};
pub use synthetic::{of_rank, with_sites};
