//! Jobs of many processes: which of them this one is, by the environment that its launcher gave it, and the files that each
//! of them writes.

mod files;
mod launcher;

pub(crate) use files::{file_name, folder, profiles_in, rank_of};
pub(crate) use launcher::{Told, names_a_rank, of_environment};
