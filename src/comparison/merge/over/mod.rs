//! Figures over ranks: minimum, maximum, their ranks, and the spread.

mod kernel_over;
mod over_ranks;

pub(super) use kernel_over::KernelOver;
pub(super) use over_ranks::{Figures, NonRequestFigure, RowOver, add_figures, figures};
