//! Jobs of many processes: which of them this one is, by the environment that its launcher gave it.

mod launcher;

pub(crate) use launcher::{Told, of_environment};
