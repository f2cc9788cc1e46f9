//! Jobs of many processes: which of them this one is, by the environment that its launcher gave it, and the files that each
//! of them writes.

mod files;
mod launcher;
mod synthetic;

pub use files::{file_name, folder, profiles_in, rank_of};
pub use launcher::{RankEnvironment, names_a_rank, of_environment};
pub use synthetic::{of_rank, with_sites};
