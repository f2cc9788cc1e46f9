//! Rows that several formats show, computed in one place.

mod branches;
pub(super) mod ranks;
pub(super) mod reuse;
pub(super) mod whole;
pub(super) mod worst;

pub(super) use branches::branch_rows;
