//! Static facts from which the analysis of conflicts between threads judges two accesses of the same bytes.

use serde::{Deserialize, Serialize};

use crate::site_table::SiteTable;

/// A site about which more is known than its [`crate::site_table::Hint`] has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictHint {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// An atomic operation of block scope, which is atomic among the threads of one block only (PTX ISA, "Scopes": `.cta`).
    pub block_scope: bool,
    /// Whether a store or an atomic operation depends on a load of the address that it writes to.
    pub update: Update,
    /// Site of that load, where it is known.
    pub loaded_by: Option<u32>,
    /// Dimensions of the block, a bit each from x, in which a store's value grows by a constant from one thread to the next, so
    /// that threads store different values.
    pub differs: u8,
}

/// Whether a store or an atomic operation depends on a load of the address that it writes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// It does not, as far as is known.
    #[default]
    No,
    /// The stored value is computed from the loaded one, as `x[i] += 1`; or a compare-and-swap expects the loaded one.
    Value,
    /// Whether it is written depends on the loaded value: `if (x[i] == 0) x[i] = 1`, `if (x[i] < y) atomicMax(&x[i], y)`.
    Condition,
}

impl SiteTable {
    /// What is known of a site's conflicts with other threads.
    pub fn conflict_hint(&self, site: u32) -> ConflictHint {
        let found = self.conflict_hints.binary_search_by_key(&site, |hint| hint.site);
        found.map_or(ConflictHint { site, ..ConflictHint::default() }, |index| self.conflict_hints[index])
    }

    /// Returns whether an atomic operation may order other accesses of its thread: its function has a memory fence. Unknown in tables
    /// before version 39, where each may.
    pub fn may_order(&self, site: u32) -> bool {
        let Some(fencing) = &self.fencing else { return true };
        self.sites.get(site as usize).is_some_and(|site| fencing.binary_search(&site.function).is_ok())
    }

    /// Checks the hints and the functions with fences.
    pub(crate) fn check_conflict_hints(&self) -> Result<(), &'static str> {
        let rising = self.conflict_hints.windows(2).all(|pair| pair[0].site < pair[1].site);
        let is_site = |site: u32| (site as usize) < self.sites.len();
        if !rising || !self.conflict_hints.iter().all(|hint| is_site(hint.site) && hint.loaded_by.is_none_or(is_site)) {
            return Err("hints about conflicts of sites that it does not have");
        }
        let fencing = self.fencing.as_deref().unwrap_or_default();
        let is_rising = fencing.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_rising || !fencing.iter().all(|&function| (function as usize) < self.functions.len()) {
            return Err("fences in functions that it does not have");
        }
        Ok(())
    }
}
