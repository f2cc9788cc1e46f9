//! The facts about sites that the check for races needs at each pair of accesses, by site number.

use warpline_format::conflict::ConflictHint;
use warpline_format::site_table::{Op, SiteTable, Stored};

/// What the compiler knows about an access that can conflict with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteFacts {
    /// The stored value.
    pub stored: Stored,
    /// Scope, updates and values that differ.
    pub conflict: ConflictHint,
    /// Whether it is an atomic operation by which another thread may have signalled something.
    pub may_learn: bool,
}

impl SiteFacts {
    /// Returns the facts about all sites of a table.
    pub fn of_table(table: &SiteTable) -> Vec<SiteFacts> {
        let facts = |(site, entry): (u32, &warpline_format::site_table::Site)| {
            let hint = table.hint(site);
            SiteFacts {
                stored: hint.stored,
                conflict: table.conflict_hint(site),
                may_learn: entry.op == Op::Atomic && !hint.unused && table.may_order(site),
            }
        };
        (0..).zip(&table.sites).map(facts).collect()
    }
}
