//! Tests advice on traces with known results.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use proptest::prelude::*;

use warpline_format::access::{Kind, Space, head, push_access};
use warpline_format::chunk::{self, ChunkHead, ChunkKind};
use warpline_format::device::Device;
use warpline_format::event::{Event, Launch, LaunchEnd};
use warpline_format::site_table::{CacheOp, File, Frame, Function, Op, Site, SiteTable};

use super::{Advice, Best, Choice, advise};
use crate::analysis::{Analysis, NoProgress, analyze_with};
use crate::simulation::{Bypass, Settings};
use crate::trace::TraceReader;
use warpline_simulator::hierarchy::{HierarchyConfig, Replacement, Traffic};
use warpline_simulator::models::find;

/// An L1 of 64 lines with LRU replacement.
fn config() -> HierarchyConfig {
    let mut config = find("rtx2080ti").unwrap().hierarchy().unwrap();
    config.l1.bytes = 64 * 128;
    config.l1.reserved_bytes = 0;
    config.l1.shared_options = Vec::new();
    config.l1.replacement = Replacement::Lru;
    config
}

fn site(cache: CacheOp) -> Site {
    Site {
        function: 0,
        op: Op::Load,
        space: Space::Global,
        bytes: 4,
        byte_mask: None,
        align: 4,
        cache,
        chain: vec![0],
        approximate: false,
        in_library: false,
    }
}

/// A load: warp slot, site, and the lanes' addresses.
type Load = (u32, u32, Vec<u64>);

/// Creates a trace of one launch with blocks of four warps; two blocks are resident per SM.
fn trace_of(sites: Vec<Site>, blocks: u32, loads: &[Load]) -> Vec<u8> {
    let table = SiteTable {
        files: vec![File::default()],
        frames: vec![Frame::default()],
        functions: vec![Function { kernel: true, ..Function::default() }],
        sites,
        ..SiteTable::default()
    };
    let launch = Launch { resident_blocks: blocks, ..Launch::with_defaults(0, blocks, 128) };
    let mut items = Vec::new();
    for block in 0..blocks {
        items.extend(head(Kind::BlockStart, Space::Generic, 4 * block).to_le_bytes());
        items.extend(4u32.to_le_bytes());
        items.extend(u64::from(block).to_le_bytes());
    }
    for (slot, site, addresses) in loads {
        let mut turn = Vec::new();
        push_access(&mut turn, Space::Global, *site, u32::MAX, addresses);
        items.extend(head(Kind::Turn, Space::Generic, *slot).to_le_bytes());
        items.extend((turn.len() as u32).to_le_bytes());
        items.extend(turn);
    }
    let mut bytes = chunk::header().to_vec();
    let mut sequence = 0;
    let mut add = |kind, parts: &[&[u8]]| {
        bytes.extend(ChunkHead::new(kind, sequence, parts).to_bytes());
        parts.iter().for_each(|part| bytes.extend(*part));
        sequence += 1;
    };
    let program = Event::Program { executable: "/a".into(), arguments: Vec::new(), device: Device::rtx_2080_ti() };
    for event in [program, Event::Module { id: 0, site_table: table.to_bytes() }, Event::Launch(launch)] {
        add(ChunkKind::Event, &[&event.to_bytes()]);
    }
    add(ChunkKind::Access, &[&0u64.to_le_bytes(), &items]);
    let end = Event::LaunchEnd(LaunchEnd { id: 0, error: 0, blocks: Vec::new(), branches: Vec::new() });
    for event in [end, Event::End { launches: 1 }] {
        add(ChunkKind::Event, &[&event.to_bytes()]);
    }
    bytes
}

/// Returns the addresses of a whole line, one word per lane.
fn whole_line(line: u64) -> Vec<u64> {
    (0..32).map(|lane| (1 << 40) + 128 * line + 4 * lane).collect()
}

/// Creates a trace of one block of four warps. `walkers` of them repeatedly load 32 lines each (site 0). Between the
/// rounds, `streamed` lines are loaded once (site 1).
fn trace(rounds: u64, walkers: u32, streamed: u64) -> Vec<u8> {
    let mut loads: Vec<Load> = Vec::new();
    let mut fresh = 1000;
    for _ in 0..rounds {
        for line in 0..32 {
            for warp in 0..walkers {
                loads.push((warp, 0, whole_line(u64::from(warp) * 32 + line)));
            }
        }
        for number in 0..streamed {
            loads.push((number as u32 % 4, 1, whole_line(fresh)));
            fresh += 1;
        }
    }
    trace_of(vec![site(CacheOp::Default), site(CacheOp::Default)], 1, &loads)
}

fn analysis(trace: &[u8], settings: &Settings, threads: usize) -> Analysis {
    analyze_with(TraceReader::new(trace).unwrap(), threads, Some(settings), &mut NoProgress).unwrap()
}

fn advice(trace: &[u8], threads: usize) -> Advice {
    advice_for(trace, threads, false).unwrap()
}

fn advice_for(trace: &[u8], threads: usize, kepler: bool) -> Option<Advice> {
    let settings = Settings::new(config());
    let base = analysis(trace, &settings, threads);
    let run = |bypass: Bypass| {
        let settings = Settings { bypass: Some(Arc::new(bypass)), reuse: None, ..settings.clone() };
        Ok::<_, Infallible>(analysis(trace, &settings, threads))
    };
    let Ok(mut all) = advise(&base, &settings.hierarchy, kepler, run);
    all.remove(&0)
}

#[test]
fn two_of_four_warps_fit() {
    // The warps load 128 lines in turn through a cache of 64 lines, so there is no hit. The 64 lines of two warps fit,
    // and hit in 9 of 10 rounds.
    let advice = advice(&trace(10, 4, 0), 1);
    let rows: Vec<(u32, u64, u64, u64)> = advice
        .warps
        .iter()
        .map(|choice| (choice.what, choice.traffic.l1.lookups, choice.traffic.l1.hits, choice.traffic.l2.lookups))
        .collect();
    let sectors = |lines: u64| 4 * lines;
    assert_eq!(
        rows,
        [
            (0, 0, 0, sectors(1280)),
            (1, sectors(320), sectors(288), sectors(1280 - 288)),
            (2, sectors(640), sectors(576), sectors(1280 - 576)),
            (3, sectors(960), 0, sectors(1280)),
            (4, sectors(1280), 0, sectors(1280)),
        ]
    );
    assert_eq!(advice.best_warps(), Some(2));
    // The distance is 128 x 32 - 1 elements, with 4 sectors of 32 bytes per load, 1 block and 8 KiB: 8192 / (4095 x 32
    // x 4) is below 1.
    let equation = advice.equation.unwrap();
    assert_eq!((equation.reuse_distance, equation.divergence_degree), (4095.0, 4.0));
    assert_eq!((equation.l1_bytes, equation.line_bytes, equation.blocks_per_sm), (8192, 32, 1));
    assert_eq!((equation.warps, equation.warps_per_block), (0, 4));
}

#[test]
fn loads_that_stream_are_reported_to_go_past() {
    // The 32 lines of one warp fit, but 64 streamed lines between the rounds evict them. If the streamed lines bypass
    // L1, the walk hits in 9 of 10 rounds.
    let advice = advice(&trace(10, 1, 64), 1);
    let rows: Vec<(&[u32], u64, u64)> = advice
        .sites
        .iter()
        .map(|choice| (&choice.what[..], choice.traffic.l1.hits, choice.traffic.l2.lookups))
        .collect();
    let all = 4 * 960;
    // Site 1 is simulated first, because all its reads are first uses.
    assert_eq!(rows, [(&[][..], 0, all), (&[1], 4 * 288, all - 4 * 288), (&[1, 0], 0, all)]);
    assert_eq!(advice.best_sites(), Some(&[1][..]));
}

#[test]
fn any_number_of_workers_gives_the_same_advice() {
    let bytes = trace(4, 4, 16);
    assert_eq!(advice(&bytes, 1), advice(&bytes, 3));
}

#[test]
fn without_loads_that_level_1_may_cache_there_is_no_advice() {
    let store = Site { op: Op::Store, ..site(CacheOp::Default) };
    let loads = [(0, 0, whole_line(1)), (1, 1, whole_line(1))];
    let past = trace_of(vec![store.clone(), site(CacheOp::Global)], 1, &loads);
    assert_eq!(advice_for(&past, 1, false), None);
    assert!(advice_for(&trace_of(vec![store, site(CacheOp::Default)], 1, &loads), 1, false).is_some());
}

/// Returns the traffic of requests to global memory without any bypass.
fn traffic_of(trace: &[u8]) -> Traffic {
    let settings = Settings { reuse: None, ..Settings::new(config()) };
    analysis(trace, &settings, 1).kernels[0].launches[0].spaces[&Space::Global].traffic[0]
}

/// Returns the reuse distances of a block's loads by site: the number of distinct words between two uses of a word.
fn distances(loads: &[Load], block: u32) -> BTreeMap<u32, Vec<Option<u64>>> {
    let mut used: Vec<u64> = Vec::new();
    let mut all: BTreeMap<u32, Vec<Option<u64>>> = BTreeMap::new();
    for (_, site, addresses) in loads.iter().filter(|(slot, ..)| slot / 4 == block) {
        for address in addresses {
            let last = used.iter().rposition(|other| other == address);
            let between = last.map(|at| used[at + 1..].iter().collect::<BTreeSet<_>>().len() as u64);
            all.entry(*site).or_default().push(between);
            used.push(*address);
        }
    }
    all
}

fn any_load() -> impl Strategy<Value = Load> {
    (0u32..8, 0u32..4, 0u64..60, prop_oneof![Just(0u64), Just(4), Just(8), Just(32)]).prop_map(
        |(slot, site, line, stride)| (slot, site, (0..32).map(|lane| (1 << 40) + 128 * line + stride * lane).collect()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Compares each simulated choice with a trace whose loads bypass L1 in the code. The inputs of the equation are
    /// computed from lists of all uses.
    #[test]
    fn choices_are_what_loads_past_level_1_give(loads in prop::collection::vec(any_load(), 1..60), kepler in any::<bool>()) {
        // Site 3 is volatile: it always bypasses L1, and the equation ignores it.
        let sites = [CacheOp::Default, CacheOp::Default, CacheOp::Streaming, CacheOp::Volatile].map(site).to_vec();
        let cached = |load: &Load| load.1 != 3;
        let advice = advice_for(&trace_of(sites.clone(), 2, &loads), 1, kepler);
        prop_assert_eq!(advice.is_some(), loads.iter().any(cached));
        let Some(advice) = advice else { return Ok(()) };
        let past = |goes: &dyn Fn(&Load) -> bool| {
            // Each site has a twin whose loads bypass L1.
            let twins = sites.iter().cloned().map(|site| Site { cache: CacheOp::Global, ..site });
            let marked: Vec<Load> = loads.iter().cloned()
                .map(|load| if goes(&load) { (load.0, load.1 + 4, load.2) } else { load }).collect();
            traffic_of(&trace_of(sites.iter().cloned().chain(twins).collect(), 2, &marked))
        };
        prop_assert_eq!(advice.warps.iter().map(|choice| choice.what).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        for choice in &advice.warps {
            prop_assert_eq!(choice.traffic, past(&|load| load.0 % 4 >= choice.what), "{} warps", choice.what);
        }
        for choice in &advice.sites {
            prop_assert_eq!(choice.traffic, past(&|load| choice.what.contains(&load.1)), "sites {:?}", choice.what);
        }
        let l2 = |traffic: &Traffic| traffic.l2.lookups;
        let best = advice.best_warps().unwrap();
        for choice in &advice.warps {
            let least = advice.warps.iter().find(|choice| choice.what == best).unwrap();
            prop_assert!(l2(&choice.traffic) > l2(&least.traffic) || l2(&choice.traffic) == l2(&least.traffic) && choice.what <= best);
        }

        let mut by_site: BTreeMap<u32, Vec<Option<u64>>> = BTreeMap::new();
        for block in 0..2 {
            for (site, more) in distances(&loads, block) {
                by_site.entry(site).or_default().extend(more);
            }
        }
        // Sites are added in descending order of the new words that they read; equal sites by number.
        let tried: Vec<u32> = advice.sites.last().unwrap().what.clone();
        let mut wanted: Vec<u32> = by_site.keys().copied().filter(|site| *site != 3).collect();
        let news = |site: &u32| {
            let uses = &by_site[site];
            (1000 * 1000 * uses.iter().filter(|distance| distance.is_none()).count()) / uses.len()
        };
        wanted.sort_by_key(|site| (std::cmp::Reverse(news(site)), *site));
        prop_assert_eq!(&tried, &wanted);
        prop_assert!(advice.sites.iter().enumerate().all(|(count, choice)| choice.what == tried[..count]));

        let finite: Vec<u64> = by_site.iter().filter(|(site, _)| **site != 3).flat_map(|(_, uses)| uses).flatten().copied().collect();
        prop_assert_eq!(advice.equation.is_some(), !finite.is_empty());
        let Some(equation) = advice.equation else { return Ok(()) };
        let near = |got: f64, want: f64| (got - want).abs() <= 1e-9 * want;
        prop_assert!(near(equation.reuse_distance, finite.iter().sum::<u64>() as f64 / finite.len() as f64));
        let size = if kepler { 128 } else { 32 };
        let pieces: Vec<usize> = loads.iter().filter(|load| cached(load))
            .map(|load| load.2.iter().map(|address| address / size).collect::<BTreeSet<_>>().len()).collect();
        prop_assert!(near(equation.divergence_degree, pieces.iter().sum::<usize>() as f64 / pieces.len() as f64));
        prop_assert_eq!((equation.l1_bytes, u64::from(equation.line_bytes)), (64 * 128, size));
        prop_assert_eq!((equation.blocks_per_sm, equation.warps_per_block), (2, 4));
        // The expected number is the number of warps that fit, at most all.
        let need = equation.reuse_distance * size as f64 * equation.divergence_degree * 2.0;
        let fits = |warps: u32| f64::from(warps) * need <= 8192.0;
        prop_assert!(fits(equation.warps) && (equation.warps == 4 || !fits(equation.warps + 1)), "{equation:?}");
    }
}

#[test]
fn one_choice_is_the_best_and_none_where_nothing_gains() {
    let choices = |warps: &[u64], sites: &[u64]| {
        let traffic = |lookups| Traffic {
            l2: warpline_simulator::hierarchy::LevelCounts { lookups, ..Default::default() },
            ..Traffic::default()
        };
        Advice {
            equation: None,
            without_reuse: false,
            warps: (0..).zip(warps).map(|(what, &lookups)| Choice { what, traffic: traffic(lookups) }).collect(),
            sites: (0..)
                .zip(sites)
                .map(|(number, &lookups)| Choice { what: (0..number).collect(), traffic: traffic(lookups) })
                .collect(),
        }
    };
    assert_eq!(choices(&[9, 9, 9], &[9, 9]).best(), Some(Best::AsItIs));
    assert_eq!(choices(&[9, 8, 9], &[9, 9]).best(), Some(Best::Warps));
    assert_eq!(choices(&[9, 8, 9], &[9, 7]).best(), Some(Best::Sites));
    assert_eq!(choices(&[9, 8, 9], &[9, 8]).best(), Some(Best::Warps));
    assert_eq!(choices(&[9, 9], &[]).best(), Some(Best::AsItIs));
    assert_eq!(choices(&[], &[]).best(), None);
}
