use std::collections::BTreeMap;

use super::*;
use crate::analysis::{BlockSum, BranchSum, Cells, InstructionSums};
use crate::attribution::ContextTree;
use crate::hierarchy::{Banks, LevelCounts, StageCounts, Traffic};
use warpline_format::event::Launch;
use warpline_format::site_table::InstructionMix;

fn rates() -> Rates {
    Rates {
        sms: 10,
        clock_hz: Some(1e9),
        issue: Some(4.0),
        fp32: Some(64.0),
        fp64: Some(2.0),
        special: None,
        stage_passes: Some(1.0),
        lane_words: Some(32.0),
        shared_passes: Some(1.0),
        shared_banks: Some(Banks::USUAL),
        lookup_bytes: (32, 32),
        unified: true,
        l2: Some(1e12),
        dram: Some(1e11),
    }
}

/// A launch of `blocks` blocks: 1000 requests of 32 sectors each where 4 would do, every lookup a miss of level 1,
/// a tenth of level 2's a miss.
fn launch(id: u64, blocks: u32) -> LaunchData {
    let mut instructions = InstructionSums::default();
    let mix = InstructionMix { fp32: 1, fp64: 1, memory: 2, special: 1, ..InstructionMix::default() };
    instructions.add_block(&mix, 1000, 32_000);
    let lookups = |count| LevelCounts { lookups: count, hits: 0, load_lookups: count, load_hits: 0 };
    let traffic = Traffic {
        l1: lookups(32_000),
        l2: lookups(32_000),
        dram_reads: 3_200,
        stages: StageCounts { data: 1_000, ideal_data: 1_000, tag: 8_000, words: 1_000 },
        ..Traffic::default()
    };
    let global = Counters {
        requests: 1000,
        sectors: 32_000,
        ideal_sectors: 4_000,
        traffic: vec![traffic],
        ..Counters::default()
    };
    let shared = Counters { requests: 1000, wavefronts: 5_000, ideal_wavefronts: 1_000, ..Counters::default() };
    LaunchData {
        event: Launch {
            id,
            module: 0,
            function: 0,
            grid: [blocks, 1, 1],
            block: [32, 1, 1],
            dynamic_shared: 0,
            static_shared: 0,
            registers: 32,
            registers_assumed: false,
            local_bytes: 0,
            resident_blocks: 1,
            block_share: 1,
            stream: 0,
            path: 0,
        },
        spaces: BTreeMap::from([(Space::Global, global), (Space::Shared, shared)]),
        error: Some(0),
        instructions,
        blocks: BlockSum::default(),
        branches: BranchSum::default(),
    }
}

fn kernel(launches: Vec<LaunchData>) -> KernelData {
    KernelData {
        module: 0,
        function: 0,
        cells: Cells::default(),
        contexts: ContextTree::default(),
        launches,
        blocks: BTreeMap::new(),
        branches: BTreeMap::new(),
        pages: None,
    }
}

fn of(launches: Vec<LaunchData>, rates: &Rates) -> Option<Estimate> {
    let name = "mine".to_owned();
    estimates(&kernel(launches), [(&name, rates)].into_iter(), &|_, _| false).pop()
}

fn seconds(estimate: &Estimate, name: &str) -> f64 {
    estimate.limits.iter().find(|limit| limit.name == name).unwrap().seconds
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-8 * want.abs(), "{got} is not {want}");
}

#[test]
fn a_case_worked_by_hand() {
    let estimate = of(vec![launch(0, 10)], &rates()).unwrap();
    // 10 SMs at 1 GHz: 5000 instructions at 4 per cycle, 32 000 results at 64 and at 2.
    close(seconds(&estimate, "instructions"), 5000.0 / 4e10);
    close(seconds(&estimate, "fp32"), 32_000.0 / 64e10);
    close(seconds(&estimate, "fp64"), 32_000.0 / 2e10);
    // 1000 passes of global and 5000 of shared memory through the data stage, 8000 through the tags.
    close(seconds(&estimate, "l1_data"), 6000.0 / 1e10);
    close(seconds(&estimate, "l1_tag"), 8000.0 / 1e10);
    close(seconds(&estimate, "l1_lanes"), 32_000.0 / 32e10);
    close(seconds(&estimate, "l2"), 32_000.0 * 32.0 / 1e12);
    close(seconds(&estimate, "dram"), 3_200.0 * 32.0 / 1e11);
    assert_eq!(estimate.limiter, "fp64");
    assert_eq!(estimate.bytes, Bytes { l1: 1_024_000, l2: 1_024_000, dram: 102_400 });
    assert_eq!(estimate.unknown, ["special"]);
    close(estimate.ideal.gain, 1.0);
}

#[test]
fn ideal_requests_gain_where_sectors_and_conflicts_limit() {
    let fast = Rates { fp64: Some(64.0), dram: Some(1e12), ..rates() };
    let estimate = of(vec![launch(0, 10)], &fast).unwrap();
    assert_eq!(estimate.limiter, "l2");
    // 4000 sectors leave level 1 instead of 32 000; then the data stage limits, with 1000 passes of shared memory for 5000.
    close(estimate.seconds, 32_000.0 * 32.0 / 1e12);
    assert_eq!(estimate.ideal.limiter, "l1_data");
    close(estimate.ideal.seconds, 2000.0 / 1e10);
    close(estimate.ideal.gain, 1.024e-6 / 2e-7);
}

#[test]
fn few_blocks_use_few_sms() {
    let wide = of(vec![launch(0, 10)], &rates()).unwrap();
    let narrow = of(vec![launch(0, 1)], &rates()).unwrap();
    close(seconds(&narrow, "fp64"), 10.0 * seconds(&wide, "fp64"));
    close(seconds(&narrow, "dram"), seconds(&wide, "dram"));
    // Each launch has its own slowest part; launches come one after another.
    let both = of(vec![launch(1, 1), launch(0, 10)], &rates()).unwrap();
    close(both.seconds, wide.seconds + narrow.seconds);
    assert_eq!(both.launches, 2);
}

#[test]
fn what_is_not_known_is_left_out() {
    let nothing = Rates { sms: 10, lookup_bytes: (32, 32), ..Rates::default() };
    assert_eq!(of(vec![launch(0, 1)], &nothing), None);
    let only_dram = Rates { dram: Some(1e11), ..nothing };
    let estimate = of(vec![launch(0, 1)], &only_dram).unwrap();
    assert_eq!((estimate.limiter.as_str(), estimate.limits.len()), ("dram", 1));
    assert!(estimate.unknown.contains(&"l2".to_owned()) && estimate.unknown.contains(&"shared".to_owned()));
    // Launches that were sampled or cut off are not in it.
    let mut sampled = launch(0, 10);
    sampled.event.block_share = 16;
    let mut cut = launch(1, 10);
    cut.error = None;
    assert_eq!(of(vec![sampled, cut], &rates()), None);
}

#[test]
fn banks_that_were_not_counted_give_no_limit() {
    let name = ["one".to_owned(), "other".to_owned()];
    let kepler = Rates {
        shared_banks: Some(Banks { banks: 32, bank_bytes: 8, word_bytes: 4 }),
        unified: false,
        stage_passes: None,
        ..rates()
    };
    let mut data = launch(0, 10);
    let global = data.spaces.get_mut(&Space::Global).unwrap();
    global.traffic.push(global.traffic[0]);
    let all = estimates(&kernel(vec![data]), [(&name[0], &rates()), (&name[1], &kepler)].into_iter(), &|_, _| false);
    assert_eq!(all.len(), 2);
    assert!(all[1].unknown.contains(&"shared".to_owned()));
    assert!(all[1].limits.iter().any(|limit| limit.name == "l2"));
}
