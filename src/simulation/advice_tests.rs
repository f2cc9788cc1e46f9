//! Advice on traces worked by hand.

use std::convert::Infallible;
use std::sync::Arc;

use warpline_format::access::{Kind, Space, head, push_access};
use warpline_format::chunk::{self, ChunkHead, ChunkKind};
use warpline_format::device::Device;
use warpline_format::event::{Event, Launch};
use warpline_format::site_table::{CacheOp, File, Frame, Function, Op, Site, SiteTable};

use super::{Advice, Bypass, Settings, advise};
use crate::analysis::{Analysis, NoProgress, analyze_with};
use crate::hierarchy::{HierarchyConfig, Replacement};
use crate::models::find;
use crate::trace::TraceReader;

/// Level 1 of 64 lines, least recently used leave.
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
        library: false,
    }
}

/// One block of four warps. `walkers` of them load 32 lines of their own, round after round (site 0); between rounds
/// `streamed` lines are loaded that nobody loads again (site 1).
fn trace(rounds: u64, walkers: u32, streamed: u64) -> Vec<u8> {
    let table = SiteTable {
        files: vec![File::default()],
        frames: vec![Frame::default()],
        functions: vec![Function { kernel: true, ..Function::default() }],
        sites: vec![site(CacheOp::Default), site(CacheOp::Default)],
        ..SiteTable::default()
    };
    let launch = Launch {
        id: 0,
        module: 0,
        function: 0,
        grid: [1, 1, 1],
        block: [128, 1, 1],
        dynamic_shared: 0,
        static_shared: 0,
        registers: 32,
        registers_assumed: false,
        local_bytes: 0,
        resident_blocks: 1,
        block_share: 1,
        stream: 0,
        path: 0,
    };
    let mut items = Vec::new();
    items.extend(head(Kind::BlockStart, Space::Generic, 0).to_le_bytes());
    items.extend(4u32.to_le_bytes());
    items.extend(0u64.to_le_bytes());
    let mut load = |slot: u32, site: u32, line: u64| {
        let mut turn = Vec::new();
        let addresses: Vec<u64> = (0..32).map(|lane| (1 << 40) + 128 * line + 4 * lane).collect();
        push_access(&mut turn, Space::Global, site, u32::MAX, &addresses);
        items.extend(head(Kind::Turn, Space::Generic, slot).to_le_bytes());
        items.extend((turn.len() as u32).to_le_bytes());
        items.extend(turn);
    };
    let mut fresh = 1000;
    for _ in 0..rounds {
        for line in 0..32 {
            for warp in 0..walkers {
                load(warp, 0, u64::from(warp) * 32 + line);
            }
        }
        for number in 0..streamed {
            load(number as u32 % 4, 1, fresh);
            fresh += 1;
        }
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
    add(ChunkKind::Event, &[&Event::End { launches: 1 }.to_bytes()]);
    bytes
}

fn analysis(trace: &[u8], settings: &Settings, threads: usize) -> Analysis {
    analyze_with(TraceReader::new(trace).unwrap(), threads, Some(settings), &mut NoProgress).unwrap()
}

fn advice(trace: &[u8], threads: usize) -> Advice {
    let settings = Settings::new(config());
    let base = analysis(trace, &settings, threads);
    let run = |bypass: Bypass| {
        let settings = Settings { bypass: Some(Arc::new(bypass)), reuse: None, ..settings.clone() };
        Ok::<_, Infallible>(analysis(trace, &settings, threads))
    };
    let Ok(mut all) = advise(&base, &settings.hierarchy, false, run);
    all.remove(&0).unwrap()
}

#[test]
fn two_of_four_warps_fit() {
    // 128 lines in turn through a cache of 64: nothing hits. Two warps' 64 lines fit and hit in 9 of 10 rounds.
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
    // Distance 128 x 32 - 1 elements, 4 sectors of 32 bytes per load, 1 block, 8 KiB: 8192 / (4095 x 32 x 4) is below 1.
    let equation = advice.equation.unwrap();
    assert_eq!((equation.reuse_distance, equation.divergence_degree), (4095.0, 4.0));
    assert_eq!((equation.l1_bytes, equation.line_bytes, equation.blocks_per_sm), (8192, 32, 1));
    assert_eq!((equation.warps, equation.warps_per_block), (0, 4));
}

#[test]
fn loads_that_stream_are_told_to_go_past() {
    // One warp's 32 lines fit, but 64 streamed lines between rounds drive them out. With these past level 1, the walk
    // hits in 9 of 10 rounds.
    let advice = advice(&trace(10, 1, 64), 1);
    let rows: Vec<(&[u32], u64, u64)> = advice
        .sites
        .iter()
        .map(|choice| (&choice.what[..], choice.traffic.l1.hits, choice.traffic.l2.lookups))
        .collect();
    let all = 4 * 960;
    // Site 1 is tried first: all that it reads is new.
    assert_eq!(rows, [(&[][..], 0, all), (&[1], 4 * 288, all - 4 * 288), (&[1, 0], 0, all)]);
    assert_eq!(advice.best_sites(), Some(&[1][..]));
}

#[test]
fn any_number_of_workers_gives_the_same_advice() {
    let bytes = trace(4, 4, 16);
    assert_eq!(advice(&bytes, 1), advice(&bytes, 3));
}
