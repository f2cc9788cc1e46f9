//! Figures of a set of requests.

use crate::row::group;
use warpline_profile::model::{CacheMetrics, LevelMetrics, Metrics};

group! {
    /// What a set of requests costs. Those of caches and DRAM are the model's, and missing where nothing was simulated.
    struct Figures {
        requests: u64, "requests", "executions of a memory instruction by a warp with an active lane";
        lanes: u64, "lanes", "active lanes, summed";
        bytes: u64, "bytes", "useful bytes of the active lanes";
        sectors: u64, "sectors", "distinct 32-byte sectors of each request, summed";
        ideal_sectors: u64, "sectors", "sectors that the distinct bytes would fill; over `sectors` this is the coalescing efficiency";
        wavefronts: Option<u64>, "passes", "passes of shared- or constant-memory requests";
        ideal_wavefronts: Option<u64>, "passes", "the same without bank conflicts, or with one address per request";
        l1_lookups: Option<u64>, "lookups", "lookups of level 1, each of one of its own sectors";
        l1_hits: Option<u64>, "lookups", "of these, found present";
        l1_load_lookups: Option<u64>, "lookups", "lookups of loads in level 1";
        l1_load_hits: Option<u64>, "lookups", "of these, found present";
        l2_lookups: Option<u64>, "lookups", "lookups of level 2";
        l2_hits: Option<u64>, "lookups", "of these, found present";
        l2_load_lookups: Option<u64>, "lookups", "lookups of loads in level 2";
        l2_load_hits: Option<u64>, "lookups", "of these, found present";
        dram_read_sectors: Option<u64>, "sectors", "32-byte sectors read from device memory";
        dram_write_sectors: Option<u64>, "sectors", "32-byte sectors written to device memory";
        l1_data_wavefronts: Option<u64>, "passes", "passes through the data stage of level 1";
        l1_ideal_data_wavefronts: Option<u64>, "passes", "the same, if all words lay in different banks";
        l1_tag_wavefronts: Option<u64>, "passes", "passes through the tag stage of level 1";
    }
}

impl Figures {
    /// Creates a `Figures` for a profile's metrics, for its first model or another one by name.
    pub fn new(metrics: &Metrics, other: Option<&str>) -> Figures {
        let elsewhere: Option<&CacheMetrics> = other.and_then(|model| metrics.other_models.get(model));
        let (l1, l2, dram, stages) = match other {
            None => (metrics.l1, metrics.l2, metrics.dram, metrics.l1_wavefronts),
            Some(_) => (
                elsewhere.map(|caches| caches.l1),
                elsewhere.map(|caches| caches.l2),
                elsewhere.map(|caches| caches.dram),
                elsewhere.and_then(|caches| caches.l1_wavefronts),
            ),
        };
        let passes = metrics.shared.as_ref().or(metrics.constant.as_ref());
        let level = |level: Option<LevelMetrics>, figure: fn(LevelMetrics) -> u64| level.map(figure);
        Figures {
            requests: metrics.requests,
            lanes: metrics.lanes,
            bytes: metrics.bytes,
            sectors: metrics.sectors,
            ideal_sectors: metrics.ideal_sectors,
            wavefronts: passes.map(|passes| passes.wavefronts),
            ideal_wavefronts: passes.map(|passes| passes.ideal_wavefronts),
            l1_lookups: level(l1, |level| level.lookups),
            l1_hits: level(l1, |level| level.hits),
            l1_load_lookups: level(l1, |level| level.load_lookups),
            l1_load_hits: level(l1, |level| level.load_hits),
            l2_lookups: level(l2, |level| level.lookups),
            l2_hits: level(l2, |level| level.hits),
            l2_load_lookups: level(l2, |level| level.load_lookups),
            l2_load_hits: level(l2, |level| level.load_hits),
            dram_read_sectors: dram.map(|dram| dram.read_sectors),
            dram_write_sectors: dram.map(|dram| dram.write_sectors),
            l1_data_wavefronts: stages.map(|stages| stages.data),
            l1_ideal_data_wavefronts: stages.map(|stages| stages.ideal_data),
            l1_tag_wavefronts: stages.map(|stages| stages.tag),
        }
    }
}
