//! Figures over ranks: which rank has the least, which the greatest, and how they spread.

mod kernel_over;
mod over_ranks;

pub(super) use kernel_over::KernelOver;
pub(super) use over_ranks::{Figures, NonRequestFigure, RowOver, add_figures, figures};
