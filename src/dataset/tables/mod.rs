//! The tables: each declared once, as the structure of its rows.

mod distributions;
mod figures;
mod findings;
mod kernels;
mod launches;
mod list;
mod memory;
mod paths;
mod places;
mod ranks;
mod requests;
mod runs;

pub use distributions::{DivergenceRow, ReuseRow};
pub use figures::Figures;
pub use findings::FindingRow;
pub use kernels::{InstructionRow, KernelMetricsRow, KernelRow};
pub use launches::{LaunchMetricsRow, LaunchRow};
pub use list::{PROFILE_TABLES, tables};
pub use memory::{AllocationRow, CopyRow};
pub use paths::PathRow;
pub use places::{AccessRow, BlockRow, BranchRow, ContextRow, LineRow, SiteRow};
pub use ranks::RankStatisticRow;
pub use requests::RequestRow;
pub use runs::RunRow;
