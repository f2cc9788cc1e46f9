//! All tables.

use super::{
    AccessRow, AllocationRow, BlockRow, BranchRow, ContextRow, CopyRow, DivergenceRow, FindingRow, InstructionRow,
    KernelMetricsRow, KernelRow, LaunchMetricsRow, LaunchRow, LineRow, PathRow, RankStatisticRow, RequestRow, ReuseRow,
    RunRow, SiteRow,
};
use crate::column::Table;
use crate::row::Row;

/// Tables of profiles, in the order of [`crate::tables_of`].
pub const PROFILE_TABLES: [Table; 19] = [
    RunRow::TABLE,
    KernelRow::TABLE,
    KernelMetricsRow::TABLE,
    InstructionRow::TABLE,
    LineRow::TABLE,
    SiteRow::TABLE,
    AccessRow::TABLE,
    ContextRow::TABLE,
    AllocationRow::TABLE,
    CopyRow::TABLE,
    LaunchRow::TABLE,
    LaunchMetricsRow::TABLE,
    BranchRow::TABLE,
    BlockRow::TABLE,
    FindingRow::TABLE,
    DivergenceRow::TABLE,
    ReuseRow::TABLE,
    RankStatisticRow::TABLE,
    PathRow::TABLE,
];

/// Returns all tables, those of traces last.
pub fn tables() -> impl Iterator<Item = Table> {
    PROFILE_TABLES.into_iter().chain([RequestRow::TABLE])
}
