//! `warpline record`, `history` and `gate`: profiles by commit.

mod gate;
mod history;
mod listing;
mod origin;
mod place;
mod record;
mod repository;

pub(super) use gate::execute as gate;
pub(super) use history::execute as history;
pub(super) use record::execute as record;
