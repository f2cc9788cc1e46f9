//! Figures of the simulated caches in the profile's form.

use super::model::{CacheMetrics, DistanceBucket, Distances, DramMetrics, LevelMetrics, ReuseMetrics};
use crate::hierarchy::{LevelCounts, Traffic};
use crate::locality::{ReuseCounters, ReuseHistogram};

fn level(counts: &LevelCounts) -> LevelMetrics {
    LevelMetrics {
        lookups: counts.lookups,
        hits: counts.hits,
        load_lookups: counts.load_lookups,
        load_hits: counts.load_hits,
        store_allocations: 0,
        far: 0,
    }
}

pub(super) fn caches(traffic: &Traffic) -> CacheMetrics {
    CacheMetrics {
        l1: level(&traffic.l1),
        l2: LevelMetrics { store_allocations: traffic.l2_allocated, far: traffic.l2_far, ..level(&traffic.l2) },
        dram: DramMetrics { read_sectors: traffic.dram_reads, write_sectors: traffic.dram_writes },
    }
}

/// Figures whose spread over launches is told.
pub(super) fn spread(traffic: &Traffic) -> Vec<(&'static str, u64)> {
    vec![
        ("l1.lookups", traffic.l1.lookups),
        ("l1.hits", traffic.l1.hits),
        ("l2.lookups", traffic.l2.lookups),
        ("l2.hits", traffic.l2.hits),
        ("dram.read_sectors", traffic.dram_reads),
        ("dram.write_sectors", traffic.dram_writes),
    ]
}

fn distances(histogram: &ReuseHistogram) -> Distances {
    Distances {
        buckets: histogram.buckets().into_iter().map(|(upto, count)| DistanceBucket { upto, count }).collect(),
        infinite: histogram.infinite,
        mean: histogram.mean(),
    }
}

pub(super) fn reuse(counters: &ReuseCounters) -> ReuseMetrics {
    ReuseMetrics {
        element: distances(&counters.element),
        sector: distances(&counters.sector),
        line: distances(&counters.line),
        streaming: counters.streaming,
    }
}
