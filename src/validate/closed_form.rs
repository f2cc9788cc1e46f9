//! Closed forms for the misses of pointer chases (DELTA, section 4). Up to the size of a cache, they follow from its
//! size, line and sector alone, for any replacement policy; for LRU, also beyond its size.

use serde::{Deserialize, Serialize};

use super::chase::Chase;
use warpline_simulator::hierarchy::{HierarchyConfig, Index, Replacement};

/// Misses of all loads of a chase; `None` if no closed form exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misses {
    /// Lookups that miss in L1.
    pub l1: Option<u64>,
    /// Lookups that miss in L2.
    pub l2: Option<u64>,
}

/// A chase and its expected misses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Description of the tested property.
    pub what: &'static str,
    /// The chase.
    pub chase: Chase,
    /// Its misses.
    pub misses: Misses,
}

/// Returns the chases with closed forms for a model.
pub fn cases(config: &HierarchyConfig) -> Vec<Case> {
    let mut all = Vec::new();
    if config.l1.caches_global_loads {
        level_1(config, &mut all);
    }
    level_2(config, &mut all);
    all
}

fn level_1(config: &HierarchyConfig, all: &mut Vec<Case>) {
    let l1 = &config.l1;
    let sector = u64::from(l1.sector_bytes);
    let bytes = u64::from(l1.lines(0)) * u64::from(l1.line_bytes);
    let mut add =
        |what, chase: Chase, l1| all.push(Case { what, chase, misses: Misses { l1, l2: Some(cold(config, &chase)) } });
    // A pseudo-LRU tree with unequal sides evicts lines before all ways are used, so only half of the cache is
    // guaranteed.
    let lru = l1.replacement == Replacement::Lru;
    for quarters in if lru { 1..=3 } else { 1..=2 } {
        for stride in [4, sector, 128] {
            let chase = Chase::passes(bytes / 4 * quarters / 512 * 512, stride, 3, false);
            add("fits L1: misses once per sector", chase, Some(chase.bytes / stride.max(sector)));
        }
    }
    let beyond = 4 * bytes;
    if beyond > config.l2.bytes() / 4 {
        return;
    }
    for stride in [4, sector, 128] {
        let chase = Chase::passes(beyond, stride, 1, false);
        add("first pass beyond L1: every sector misses", chase, Some(chase.bytes / stride.max(sector)));
        let chase = Chase::passes(beyond, stride, 2, false);
        let every = chase.loads() * stride.min(sector) / sector;
        let misses = (lru && l1.index == Index::Linear).then_some(every);
        add("beyond L1, within L2: one pass misses L2", chase, misses);
    }
}

fn level_2(config: &HierarchyConfig, all: &mut Vec<Case>) {
    let l2 = &config.l2;
    let bytes = l2.bytes();
    let (line, fill) = (u64::from(l2.line_bytes), u64::from(l2.fill_bytes));
    let mut add = |what, chase, l2| all.push(Case { what, chase, misses: Misses { l1: None, l2: Some(l2) } });
    // If L2 has two partitions, an SM's partition keeps copies of lines of the far partition.
    for part in [8, 4] {
        for stride in [32, 128] {
            let chase = Chase::passes(bytes / part, stride, 2, true);
            add("fits L2: misses once per fetch", chase, chase.bytes / stride.max(fill));
        }
    }
    let chase = Chase::passes(2 * bytes, line, 1, true);
    add("first pass beyond L2: every line misses", chase, chase.loads());
    if l2.replacement == Replacement::Lru {
        let chase = Chase::passes(2 * bytes, line, 2, true);
        add("beyond L2, least recently used: every line misses", chase, chase.loads());
    }
}

/// Returns the L2 misses of loads through L1 that touch each element for the first time.
fn cold(config: &HierarchyConfig, chase: &Chase) -> u64 {
    let (sector, fill) = (u64::from(config.l1.sector_bytes), u64::from(config.l2.fill_bytes));
    if sector >= fill {
        chase.bytes / chase.stride.max(sector) * (sector / fill)
    } else {
        chase.bytes / chase.stride.max(fill)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::site_table::CacheOp;
    use warpline_simulator::hierarchy::pointer_chase::walk;
    use warpline_simulator::models;

    #[test]
    fn every_model_misses_as_its_closed_forms_say() {
        for name in models::names() {
            let config = models::find(name).unwrap().hierarchy().unwrap();
            let cases = cases(&config);
            assert!(cases.len() >= 5, "{name}");
            for Case { what, chase, misses } in cases {
                // The end-to-end tests run the large chases.
                if chase.loads() > 1 << 17 {
                    continue;
                }
                let cache = if chase.past_level_1 { CacheOp::Global } else { CacheOp::Default };
                let sum = walk(&config, chase.bytes / 4, chase.stride / 4, chase.loads(), cache);
                if let Some(l1) = misses.l1 {
                    assert_eq!(sum.l1.lookups - sum.l1.hits, l1, "{name}, L1: {what}: {chase:?}");
                }
                if let Some(l2) = misses.l2 {
                    assert_eq!(sum.l2.lookups - sum.l2.hits, l2, "{name}, L2: {what}: {chase:?}");
                }
            }
        }
    }
}
