//! What is simulated.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Bypass, DEFAULT_WINDOW, PageSettings};
use crate::hierarchy::{Copies, HierarchyConfig};
use crate::locality::Stores;

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The GPU's memory hierarchy.
    pub hierarchy: HierarchyConfig,
    /// Copies leave their data in level 2.
    pub warm_copies: bool,
    /// What stores do to reuse distances.
    pub stores: Stores,
    /// Reuse distances are taken.
    pub reuse: bool,
    /// Loads that go past level 1 whatever the program says; `None`: none.
    pub bypass: Option<Arc<Bypass>>,
    /// Pages to count.
    pub pages: Option<PageSettings>,
}

impl Settings {
    /// A hierarchy as its model has it, with reuse distances that stores restart.
    pub fn new(hierarchy: HierarchyConfig) -> Settings {
        Settings {
            warm_copies: hierarchy.l2.copies == Copies::Warm,
            stores: Stores::Restart,
            reuse: true,
            bypass: None,
            pages: hierarchy.tlb.map(|tlb| PageSettings {
                page_bytes: tlb.page_bytes,
                window: DEFAULT_WINDOW,
                reach_bytes: Some(tlb.reach_bytes),
            }),
            hierarchy,
        }
    }

    /// What the profile says about the state of the caches.
    pub fn assumptions(&self) -> BTreeMap<String, String> {
        let copies = if self.warm_copies { "warm" } else { "cold" };
        let restart = if self.stores == Stores::Restart { "on" } else { "off" };
        let mut all: BTreeMap<String, String> = [
            ("l1", "empty at each launch"),
            ("l2", "kept between launches"),
            ("l2_copies", copies),
            ("reuse_scope", "thread block"),
            ("reuse_restart", restart),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        if self.hierarchy.wave_lanes == 64 {
            let what = "64: two neighbouring warps make one request; blocks and branches are of warps of 32";
            all.insert("wave_lanes".to_owned(), what.to_owned());
        }
        all
    }
}
