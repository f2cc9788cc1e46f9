//! Static facts that the conflict analysis uses to judge two accesses to the same bytes.

use serde::{Deserialize, Serialize};

use crate::site_table::SiteTable;

/// Additional facts about a site beyond its [`crate::site_table::Hint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictHint {
    /// Index into [`SiteTable::sites`].
    pub site: u32,
    /// Whether it is an atomic operation of block scope, which is atomic only among the threads of one block (PTX ISA,
    /// "Scopes": `.cta`).
    pub block_scope: bool,
    /// Dependence of a store or an atomic operation on a load of its address.
    pub update: Update,
    /// Site of that load, if known.
    pub loaded_by: Option<u32>,
    /// Dimensions of the block, one bit each starting with x, along which a store's value increases by a constant
    /// between adjacent threads, so that threads store different values.
    pub differs: u8,
}

/// Dependence of a store or an atomic operation on a load of its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// No known dependence.
    #[default]
    No,
    /// The stored value is computed from the loaded one, as in `x[i] += 1`, or a compare-and-swap expects the loaded
    /// value.
    Value,
    /// The loaded value determines whether it is executed: `if (x[i] == 0) x[i] = 1`, `if (x[i] < y) atomicMax(&x[i],
    /// y)`.
    Condition,
}

impl SiteTable {
    /// Returns the known facts about a site's conflicts with other threads.
    pub fn conflict_hint(&self, site: u32) -> ConflictHint {
        let found = self.conflict_hints.binary_search_by_key(&site, |hint| hint.site);
        found.map_or(ConflictHint { site, ..ConflictHint::default() }, |index| self.conflict_hints[index])
    }

    /// Returns whether an atomic operation may order other accesses of its thread, because its function has a memory
    /// fence. Tables before version 39 do not contain this, so the result is true.
    pub fn may_order(&self, site: u32) -> bool {
        let Some(fencing) = &self.fencing else { return true };
        self.sites.get(site as usize).is_some_and(|site| fencing.binary_search(&site.function).is_ok())
    }

    /// Validates the hints and the list of functions with fences.
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
