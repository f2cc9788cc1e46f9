//! Settings of the simulation.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpline_format::occupancy::Stated;

use super::Bypass;
use crate::analyses::pages::{DEFAULT_WINDOW, PageSettings};
use crate::races::RaceCheck;
use crate::requests::Narrowed;
use warpline_simulator::hierarchy::{Copies, HierarchyConfig};
use warpline_simulator::locality::{Distance, Stores};

/// The scope within which reuse is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReuseScope {
    /// A thread block.
    #[default]
    Block,
    /// An SM during a launch, over all its blocks.
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

/// How reuse distances are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReuseSettings {
    /// Exact or approximate computation.
    pub distance: Distance,
    /// Scope of reuse.
    pub scope: ReuseScope,
}

/// Text in the profile if distances were not computed.
const NOT_COMPUTED: &str = "not computed (--reuse off)";
/// Text in the profile for approximate distances; `docs/design/locality.md` has the measurements.
const APPROXIMATE: &str =
    "approximate, by average eviction time, which assumes that the mix of uses is constant within a scope";

/// Settings of the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The GPU's memory hierarchy.
    pub hierarchy: HierarchyConfig,
    /// Whether copies leave their data in L2.
    pub warm_copies: bool,
    /// Whether L2 is empty at each launch, as with a profiler that flushes caches. Written data in L2 is then not
    /// counted as DRAM writes.
    pub flush_at_launch: bool,
    /// How stores affect reuse distances.
    pub stores: Stores,
    /// How reuse distances are computed; `None` if they are not.
    pub reuse: Option<ReuseSettings>,
    /// Occupancy parameters of the user. Further models and `sim` use them like the run.
    pub stated: Stated,
    /// Loads that bypass L1 regardless of their cache operator; `None` if there are none.
    pub bypass: Option<Arc<Bypass>>,
    /// Allocations with smaller elements than in the program, by the rows of an earlier analysis of the same trace.
    pub narrowed: Option<Arc<Narrowed>>,
    /// Settings of the page analysis.
    pub pages: Option<PageSettings>,
    /// Extent of the check for conflicts between warps.
    pub races: RaceCheck,
    /// Whether only the traffic of the caches is computed, as for models after the first: other figures do not depend
    /// on the model.
    pub traffic_only: bool,
    /// Maximum bytes of memory that the analysis may use; `None` if unlimited.
    pub memory: Option<u64>,
    /// Whether reuse distances are approximate because of this limit.
    pub reuse_given_up: bool,
}

/// Bytes that an analysis needs independent of the trace: the program, the ring, symbols.
const BASE_BYTES: u64 = 160 << 20;
/// Additional bytes per worker, for waiting batches and requests.
const WORKER_BYTES: u64 = 64 << 20;
/// Bytes for exact reuse distances. If the limit minus the fixed bytes is smaller, distances are approximated, which
/// limits the number of sampled lines.
const COUNTED_REUSE_BYTES: u64 = 512 << 20;

impl Settings {
    /// Creates settings with a model's hierarchy, and with exact reuse distances that stores restart.
    pub fn new(hierarchy: HierarchyConfig) -> Settings {
        Settings {
            warm_copies: hierarchy.l2.copies == Copies::Warm,
            flush_at_launch: false,
            stores: Stores::Restart,
            reuse: Some(ReuseSettings::default()),
            stated: Stated::default(),
            bypass: None,
            narrowed: None,
            races: RaceCheck::default(),
            traffic_only: false,
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

    /// Returns the approximate bytes that do not depend on the trace. An analysis with this many workers is impossible
    /// with less memory.
    pub fn least_bytes(&self, workers: usize) -> u64 {
        self.base_bytes() + 2 * WORKER_BYTES.saturating_mul(workers.max(1) as u64)
    }

    fn base_bytes(&self) -> u64 {
        BASE_BYTES + self.hierarchy.l2.bytes() / 4
    }

    /// Returns the bytes available for data that grows with the trace: half of the limit minus the fixed bytes. The
    /// other half is for workers. The value does not depend on the number of workers, because figures must not.
    pub fn growth_bytes(&self) -> Option<u64> {
        self.memory.map(|granted| granted.saturating_sub(self.base_bytes()) / 2)
    }

    /// Limits the memory. Exact reuse distances grow with the memory that a scope touches, so they are approximated if
    /// the limit is small or the scope is unbounded.
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

    /// Returns settings for an analysis that computes only the traffic of the caches.
    #[must_use]
    pub fn for_traffic(&self) -> Settings {
        Settings { reuse: None, pages: None, traffic_only: true, ..self.clone() }
    }

    /// Returns whether one worker must process the requests of all SMs in order.
    pub fn needs_one_worker(&self) -> bool {
        self.reuse.is_some_and(|reuse| reuse.scope == ReuseScope::Launch)
    }

    /// Returns the profile's notes about analyses that are switched off.
    pub fn notes(&self) -> Vec<String> {
        match self.reuse {
            None => vec![
                "reuse distances were not computed (--reuse off): results that depend on them, such as the finding cache-thrash, are unknown"
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
            let reuse = if self.reuse_given_up { "; reuse distances are approximated to stay within it" } else { "" };
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
