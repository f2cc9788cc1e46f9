//! Converts figures of the simulated caches to the profile's form.

use std::collections::BTreeMap;

use crate::model::{
    Beyond, CacheMetrics, DistanceBucket, Distances, DramMetrics, LevelMetrics, ReuseMetrics, StageMetrics,
};
use warpline_analyzer::analysis::{HostTraffic, KernelData};
use warpline_simulator::hierarchy::{LevelCounts, StageCounts, Traffic};
use warpline_simulator::locality::{ReuseCounters, ReuseHistogram};
use warpline_simulator::metrics::Counters;

impl From<&LevelCounts> for LevelMetrics {
    fn from(counts: &LevelCounts) -> LevelMetrics {
        LevelMetrics {
            lookups: counts.lookups,
            hits: counts.hits,
            load_lookups: counts.load_lookups,
            load_hits: counts.load_hits,
            store_allocations: 0,
            far: 0,
        }
    }
}

pub(in crate::build) fn caches(traffic: &Traffic) -> CacheMetrics {
    CacheMetrics {
        l1: LevelMetrics::from(&traffic.l1),
        l2: LevelMetrics {
            store_allocations: traffic.l2_allocated,
            far: traffic.l2_far,
            ..LevelMetrics::from(&traffic.l2)
        },
        dram: DramMetrics { read_sectors: traffic.dram_reads, write_sectors: traffic.dram_writes },
        l1_wavefronts: (traffic.stages != StageCounts::default()).then_some(StageMetrics {
            data: traffic.stages.data,
            ideal_data: traffic.stages.ideal_data,
            tag: traffic.stages.tag,
            words: traffic.stages.words,
        }),
    }
}

/// Returns the figures of further models, by number; [`crate::build::kernels::other_models::name_models`] replaces the
/// numbers by names.
pub(in crate::build) fn others(counters: &Counters) -> BTreeMap<String, CacheMetrics> {
    (1..)
        .zip(counters.traffic.iter().skip(1))
        .map(|(number, traffic): (u32, _)| (number.to_string(), caches(traffic)))
        .collect()
}

/// Returns the host-memory traffic of a kernel's launches by model, for models that have some.
pub(in crate::build) fn host_memory(kernel: &KernelData, models: &[String]) -> BTreeMap<String, DramMetrics> {
    let mut all: BTreeMap<String, DramMetrics> = BTreeMap::new();
    for launch in kernel.all() {
        for (model, host) in models.iter().zip(&launch.host_memory).filter(|(_, host)| **host != HostTraffic::default())
        {
            let sum = all.entry(model.clone()).or_default();
            sum.read_sectors = sum.read_sectors.saturating_add(host.reads);
            sum.write_sectors = sum.write_sectors.saturating_add(host.writes);
        }
    }
    all
}

fn of_sized(histogram: &ReuseHistogram) -> Distances {
    let [l1, l2] = histogram.beyond;
    Distances { beyond: Some(Beyond { l1, l2 }), ..distances(histogram) }
}

fn distances(histogram: &ReuseHistogram) -> Distances {
    Distances {
        buckets: histogram.buckets().into_iter().map(|(upto, count)| DistanceBucket { upto, count }).collect(),
        infinite: histogram.infinite,
        mean: histogram.mean(),
        sum: None,
        beyond: None,
    }
}

pub(in crate::build) fn reuse(counters: &ReuseCounters) -> ReuseMetrics {
    ReuseMetrics {
        element: distances(&counters.element),
        sector: of_sized(&counters.sector),
        line: of_sized(&counters.line),
        streaming: counters.streaming,
    }
}
