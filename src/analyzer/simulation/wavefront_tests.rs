//! Compares passes through the stages of L1 with hardware counters. They were measured on one SM with 32 warps (a block
//! of 1024 threads) that load from lines present in L1: te42kyfo/gpu-benches 1c36d509, gpu-strides, single
//! measurements. The rule for the tag stage was fitted to the A100; the A40 and the H200 were not used for the fit.

use warpline_format::access::{Item, Items, Space, push_access};
use warpline_format::site_table::Op;

use warpline_simulator::geometry::{BankRules, Width};
use warpline_simulator::hierarchy::{Coalescer, Groups, L1Stages, tag_passes};
use warpline_simulator::metrics::{WavefrontMemo, wavefronts};
use warpline_simulator::models::find;

/// The elements that threads access.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    /// The index is `threadIdx.x % 64` times this stride.
    Stride(u64),
    /// Threads form blocks of this width; rows are 4098 elements apart.
    Block(u64),
}
use Pattern::{Block, Stride};

/// Bytes per element, pattern, and measurements per load of a warp: passes through the data stage, passes through the
/// tag stage, and cycles.
type Measured = (u32, Pattern, f64, f64, f64);

const A100: &[Measured] = &[
    (4, Block(1), 2.0, 9.2, 9.2),
    (4, Block(2), 1.0, 5.1, 5.1),
    (4, Block(4), 2.0, 3.12, 3.13),
    (4, Block(8), 4.0, 2.1, 4.0),
    (4, Block(16), 2.0, 1.32, 2.0),
    (4, Block(32), 1.0, 1.0, 1.02),
    (8, Block(1), 4.0, 9.3, 9.3),
    (8, Block(4), 4.0, 3.32, 4.0),
    (8, Block(16), 2.0, 1.4, 2.01),
    (4, Stride(0), 1.0, 1.0, 1.02),
    (4, Stride(1), 1.0, 1.0, 1.02),
    (4, Stride(2), 2.0, 1.24, 2.0),
    (4, Stride(3), 1.0, 1.62, 1.63),
    (4, Stride(4), 4.0, 1.89, 4.0),
    (4, Stride(8), 8.0, 2.83, 8.0),
    (4, Stride(13), 1.0, 4.01, 4.02),
    (4, Stride(25), 1.0, 7.0, 7.0),
    (4, Stride(32), 32.0, 8.3, 32.0),
    (4, Stride(37), 1.0, 9.2, 9.2),
    (4, Stride(48), 16.0, 10.4, 16.0),
    (4, Stride(64), 32.0, 8.0, 32.0),
    (8, Stride(0), 2.0, 1.0, 2.01),
    (8, Stride(1), 2.0, 1.22, 2.01),
    (8, Stride(2), 4.0, 1.92, 4.0),
    (8, Stride(3), 2.0, 2.42, 2.42),
    (8, Stride(8), 16.0, 4.75, 16.0),
    (8, Stride(16), 32.0, 8.6, 32.0),
    (8, Stride(31), 2.0, 9.2, 9.2),
    (8, Stride(47), 2.0, 11.7, 11.7),
];

const H200: &[Measured] = &[
    (4, Stride(1), 1.0, 1.0, 1.01),
    (4, Stride(2), 2.0, 1.22, 2.01),
    (4, Stride(3), 1.0, 1.62, 1.63),
    (4, Stride(5), 1.0, 2.0, 2.0),
    (4, Stride(8), 8.0, 2.72, 8.0),
    (4, Stride(11), 1.0, 3.41, 3.41),
    (8, Stride(1), 2.0, 1.19, 2.01),
    (8, Stride(3), 2.0, 2.31, 2.32),
    (8, Stride(5), 2.0, 3.16, 3.16),
    (8, Stride(8), 16.0, 4.66, 16.0),
    (8, Stride(12), 8.0, 6.6, 8.0),
    (8, Stride(14), 4.0, 7.0, 7.0),
];

/// Measurements of the A40. Its 8-byte rows are limited by the double-precision units and do not measure L1.
const A40: &[Measured] = &[
    (4, Block(2), 1.0, 5.1, 5.1),
    (4, Block(8), 4.0, 2.1, 4.0),
    (4, Block(32), 1.0, 1.0, 2.0),
    (4, Stride(0), 1.0, 1.0, 2.0),
    (4, Stride(1), 1.0, 1.0, 2.0),
    (4, Stride(2), 2.0, 1.24, 2.0),
    (4, Stride(3), 1.0, 1.62, 2.0),
    (4, Stride(8), 8.0, 2.83, 8.0),
    (4, Stride(16), 16.0, 4.67, 16.0),
    (4, Stride(33), 1.0, 8.8, 8.8),
];

/// Returns the modelled means per load of a warp: data passes, tag passes, and cycles of the load/store units.
fn modelled(stages: &L1Stages, bytes: u32, pattern: Pattern) -> (f64, f64, f64) {
    let rules = BankRules { data: Some(stages.data), ..BankRules::default() };
    let (mut memo, mut words, mut coalescer) = (WavefrontMemo::default(), Vec::new(), Coalescer::default());
    let (mut data, mut tag, mut loads) = (0, 0, 0);
    for offset in [0, 4, 8, 12, 20, 16, 24, 28] {
        for warp in 0..32 {
            let element = |lane: u64| {
                let thread = 32 * warp + lane;
                match pattern {
                    Stride(stride) => thread % 64 * stride + offset,
                    Block(wide) => thread % wide % 64 + (thread / wide % 32 + 1) * 4098 + offset,
                }
            };
            let addresses: Vec<u64> = (0..32).map(|lane| u64::from(bytes) * element(lane)).collect();
            let mut items = Vec::new();
            push_access(&mut items, Space::Global, 0, u32::MAX, &addresses);
            let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!("no access") };
            data += wavefronts(&access, Width::solid(bytes), Op::Load, &rules, &mut memo, &mut words, None).passes;
            let width = Width { bytes, holes: None };
            tag += tag_passes(coalescer.pieces(&access, width, Groups::WARP, false), stages.tag_banks);
            loads += 1;
        }
    }
    let mean = |sum: u32| f64::from(sum) / f64::from(loads);
    (mean(data), mean(tag), f64::from(bytes.div_ceil(4) * 32 / stages.lanes))
}

fn check(model: &str, measured: &[Measured]) {
    let stages = find(model).unwrap().hierarchy().unwrap().stages.unwrap();
    let (mut tag_errors, mut cycle_errors) = (Vec::new(), Vec::new());
    for &(bytes, pattern, data, tag, cycles) in measured {
        let (got_data, got_tag, lanes) = modelled(&stages, bytes, pattern);
        assert_eq!(got_data, data, "{model} data stage, {bytes} bytes, {pattern:?}");
        tag_errors.push((got_tag - tag).abs() / tag);
        cycle_errors.push((got_data.max(got_tag).max(lanes) - cycles).abs() / cycles);
    }
    for (what, errors, mean, most) in [("tag stage", tag_errors, 0.06, 0.2), ("cycles", cycle_errors, 0.03, 0.12)] {
        let average = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        assert!(average <= mean && worst <= most, "{model} {what}: mean error {average:.3}, worst {worst:.3}");
    }
}

#[test]
fn the_a100_s_counters() {
    check("a100", A100);
}

#[test]
fn the_h200_s_counters() {
    check("h200", H200);
}

#[test]
fn the_counters_of_the_rtx_3090_s_chip() {
    check("rtx3090", A40);
}
