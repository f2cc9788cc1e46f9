//! What is simulated.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpline_format::occupancy::Stated;

use super::Bypass;
use crate::analyses::pages::{DEFAULT_WINDOW, PageSettings};
use crate::races::RaceCheck;
use warpline_simulator::hierarchy::{Copies, HierarchyConfig};
use warpline_simulator::locality::{Distance, Stores};

/// Within what uses are of the same data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReuseScope {
    /// A thread block.
    #[default]
    Block,
    /// An SM, whatever its blocks, in a launch.
    Sm,
    /// A launch.
    Launch,
}

impl ReuseScope {
    fn name(self) -> &'static str {
        match self {
            ReuseScope::Block => "thread block",
            ReuseScope::Sm => "SM",
            ReuseScope::Launch => "launch",
        }
    }
}

/// How reuse distances are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseSettings {
    /// Exact or not.
    pub distance: Distance,
    /// Within what.
    pub scope: ReuseScope,
}

/// The profile's text if distances were not computed.
const NOT_COMPUTED: &str = "not computed (--reuse off)";
/// The profile's text for approximate distances; `docs/design/locality.md` has the measurements.
const APPROXIMATE: &str =
    "approximate, by average eviction time, which assumes that the mix of uses is constant within a scope";

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The GPU's memory hierarchy.
    pub hierarchy: HierarchyConfig,
    /// Copies leave their data in L2.
    pub warm_copies: bool,
    /// L2 is empty at each launch, as a profiler leaves it that flushes caches; what was written to it is not counted
    /// as written to memory then.
    pub flush_at_launch: bool,
    /// What stores do to reuse distances.
    pub stores: Stores,
    /// How reuse distances are taken, if they are.
    pub reuse: Option<ReuseSettings>,
    /// What the user states about occupancy; further models and `sim` go by it as the run does.
    pub stated: Stated,
    /// Loads that bypass L1 whatever their cache operator; `None`: none.
    pub bypass: Option<Arc<Bypass>>,
    /// Pages to count.
    pub pages: Option<PageSettings>,
    /// Extent of the check for conflicts between warps.
    pub races: RaceCheck,
    /// Bytes that the analysis may take, where they are bounded.
    pub memory: Option<u64>,
    /// Reuse distances are approximated for its sake.
    pub reuse_given_up: bool,
}

/// Bytes that an analysis takes before it has seen anything: the program, the ring, symbols.
const BASE_BYTES: u64 = 160 << 20;
/// For each worker: batches and requests that wait.
const WORKER_BYTES: u64 = 64 << 20;
/// Bytes that distances which are counted may take; with less memory than these and what is fixed they are
/// approximated, which bounds the lines that are followed.
const COUNTED_REUSE_BYTES: u64 = 512 << 20;

impl Settings {
    /// A hierarchy as its model has it, with reuse distances that stores restart.
    pub fn new(hierarchy: HierarchyConfig) -> Settings {
        Settings {
            warm_copies: hierarchy.l2.copies == Copies::Warm,
            flush_at_launch: false,
            stores: Stores::Restart,
            reuse: Some(ReuseSettings::default()),
            stated: Stated::default(),
            bypass: None,
            races: RaceCheck::default(),
            memory: None,
            reuse_given_up: false,
            pages: hierarchy.tlb.map(|tlb| PageSettings {
                page_bytes: tlb.page_bytes,
                window: DEFAULT_WINDOW,
                reach_bytes: Some(tlb.reach_bytes),
            }),
            hierarchy,
        }
    }

    /// Bytes that do not depend on the trace, about: with fewer there is no analysis by this many workers.
    pub fn least_bytes(&self, workers: usize) -> u64 {
        self.base_bytes() + 2 * WORKER_BYTES.saturating_mul(workers.max(1) as u64)
    }

    fn base_bytes(&self) -> u64 {
        BASE_BYTES + self.hierarchy.l2.bytes() / 4
    }

    /// Bytes that what a trace makes grow may take: half of what is not taken at once, the other half is the workers'.
    /// It does not depend on their number, as figures must not.
    pub fn growth_bytes(&self) -> Option<u64> {
        self.memory.map(|granted| granted.saturating_sub(self.base_bytes()) / 2)
    }

    /// Bounds the memory. Distances that are counted grow with the memory that a scope touches, so where little is
    /// granted, or a scope has no bound of its own, they are approximated.
    pub fn bound_memory(&mut self, granted: u64) {
        self.memory = Some(granted);
        let little = granted < self.base_bytes().saturating_add(COUNTED_REUSE_BYTES);
        if let Some(reuse) = self.reuse.as_mut().filter(|reuse| reuse.distance == Distance::Exact)
            && (little || reuse.scope != ReuseScope::Block)
        {
            reuse.distance = Distance::Approximate;
            self.reuse_given_up = true;
        }
    }

    /// Returns whether one worker has to see the requests of all SMs in their order.
    pub fn needs_one_worker(&self) -> bool {
        self.reuse.is_some_and(|reuse| reuse.scope == ReuseScope::Launch)
    }

    /// Returns the profile's notes about analyses that are switched off.
    pub fn notes(&self) -> Vec<String> {
        match self.reuse {
            None => vec![
                "reuse distances were not computed (--reuse off): what follows from them, as the finding cache-thrash, is unknown"
                    .to_owned(),
            ],
            Some(_) => Vec::new(),
        }
    }

    /// Returns the profile's text about the state of the caches.
    pub fn assumptions(&self) -> BTreeMap<String, String> {
        let copies = if self.warm_copies { "warm" } else { "cold" };
        let l2 = if self.flush_at_launch { "empty at each launch" } else { "kept between launches" };
        let restart = if self.stores == Stores::Restart { "on" } else { "off" };
        let mut all: BTreeMap<String, String> = [("l1", "empty at each launch"), ("l2", l2), ("l2_copies", copies)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        if self.reuse.is_none() {
            all.insert("reuse_distances".to_owned(), NOT_COMPUTED.to_owned());
        }
        if let Some(reuse) = self.reuse {
            all.insert("reuse_scope".to_owned(), reuse.scope.name().to_owned());
            all.insert("reuse_restart".to_owned(), restart.to_owned());
            if reuse.distance == Distance::Approximate {
                all.insert("reuse_distances".to_owned(), APPROXIMATE.to_owned());
            }
        }
        if let Some(granted) = self.memory {
            let reuse = if self.reuse_given_up { "; reuse distances approximated for its sake" } else { "" };
            all.insert("memory".to_owned(), format!("at most {granted} bytes{reuse}"));
        }
        if let Some(count) = self.stated.registers {
            all.insert("registers".to_owned(), format!("stated: {count} per thread"));
        }
        if let Some(blocks) = self.stated.blocks {
            all.insert("blocks_per_sm".to_owned(), format!("stated: {blocks}"));
        }
        if self.hierarchy.wave_lanes == 64 {
            let what = "64: two neighbouring warps make one request; blocks and branches are of warps of 32";
            all.insert("wave_lanes".to_owned(), what.to_owned());
        }
        all
    }
}
