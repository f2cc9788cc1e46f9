//! Compares pointer chases of one thread with the closed forms of DELTA (Zhang and Shcherbakov, MEMSYS 2020). An array
//! of `n` 4-byte integers is traversed repeatedly with stride `s`.

use warpline_format::site_table::{CacheOp, Op};

use warpline_simulator::hierarchy::pointer_chase::{Chase, walk};
use warpline_simulator::hierarchy::{HierarchyConfig, Traffic};
use warpline_simulator::models;

fn model(name: &str) -> HierarchyConfig {
    models::find(name).unwrap().hierarchy().unwrap()
}

fn misses(counts: &warpline_simulator::hierarchy::LevelCounts) -> u64 {
    counts.lookups - counts.hits
}

fn powers(from: u64, to: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(from), move |power| (power * 2 <= to).then_some(power * 2))
}

#[test]
fn vega_level_1() {
    const K: u64 = 1024;
    for name in ["vega10", "vega20"] {
        let config = model(name);
        let l1 = |n, s, m| misses(&walk(&config, n, s, m, CacheOp::Default).l1);
        for s in powers(1, 64) {
            assert_eq!(l1(64, s, 8 * K), 64 / s.max(16), "small, stride {s}");
        }
        let (n, m, ways) = (64 * K, 64 * K, 64);
        for s in powers(1, n) {
            let want = if s < 16 {
                m * s / 16
            } else if s < n / ways {
                m
            } else {
                n / s
            };
            assert_eq!(l1(n, s, m), want, "large, stride {s}");
        }
        assert_eq!(l1(4 * K, 16, 16 * K), 256);
        assert!(l1(4 * K + 16, 16, 16 * K) > 257);
        assert_eq!(l1(5 * K, 16, 16 * K), 16 * K, "with four sets, a quarter more than fits misses always");
        // With a stride of three lines, an array of twice the size fits, because each set receives half as many lines.
        assert_eq!(l1(8160, 48, 16 * K), 170);
    }
}

#[test]
fn vega_level_2_and_dram() {
    const K: u64 = 1024;
    for name in ["vega10", "vega20"] {
        let config = model(name);
        for n in [256 * K, 1024 * K] {
            let sum = walk(&config, n, 16, 3 * n / 16, CacheOp::Default);
            assert_eq!((misses(&sum.l1), misses(&sum.l2)), (3 * n / 16, n / 16), "{n}");
        }
        let n = 2048 * K;
        let sum = walk(&config, n, 16, 2 * n / 16, CacheOp::Default);
        assert_eq!((misses(&sum.l1), misses(&sum.l2)), (n / 8, n / 8), "ALL_L2_MISS");
        let sum = walk(&config, 4096 * K, 256, 64 * K, CacheOp::Default);
        assert_eq!(misses(&sum.l2), 16 * K, "the hash spreads the stride: cold misses only");
        for s in powers(1, 64) {
            let sum = walk(&config, 8 * K, s, 32 * K, CacheOp::Default);
            assert_eq!(sum.dram_reads * 32, 64 * (8 * K / s.max(16)), "RD-TRAFFIC, stride {s}");
        }
        let mixed = walk(&config, 8 * K, 8, 64 * K, CacheOp::Default);
        assert_eq!((misses(&mixed.l1), misses(&mixed.l2)), (32 * K, 8 * K / 16), "L1_L2_MIX");
        let mixed = walk(&config, 2048 * K, 8, 512 * K, CacheOp::Default);
        assert_eq!((misses(&mixed.l1), misses(&mixed.l2)), (256 * K, 256 * K), "L1_MEM_MIX");
    }
}

#[test]
fn half_of_level_2_half_of_memory() {
    // Ring A stays in L2 while ring B is traversed.
    let config = model("vega10");
    let (a, b) = (1 << 18, 1 << 22);
    let mut chase = Chase::new(&config);
    let mut before = Traffic::default();
    for step in 0..3 * (a / 16) {
        if step == a / 16 {
            before = chase.sum();
        }
        chase.access(step * 16 % a, Op::Load, CacheOp::Default);
        chase.access((1 << 24) + step * 16 % b, Op::Load, CacheOp::Default);
    }
    let after = chase.sum();
    let lookups = after.l2.lookups - before.l2.lookups;
    assert_eq!(lookups, 4 * (a / 16));
    assert_eq!(2 * (misses(&after.l2) - misses(&before.l2)), lookups);
}

#[test]
fn writes_miss_level_1_and_reach_level_2_once() {
    let config = model("vega10");
    for n in [8192u64, 64] {
        let mut chase = Chase::new(&config);
        for step in 0..4096 {
            chase.access(step % n, if step % 2 == 0 { Op::Load } else { Op::Store }, CacheOp::Default);
        }
        let sum = chase.sum();
        assert_eq!(sum.l1.hits, sum.l1.load_hits, "no store hits level 1");
        assert_eq!(sum.l2.lookups - sum.l2.load_lookups, 2048, "every store reaches level 2");
    }
}

#[test]
fn nvidia_sectors() {
    const K: u64 = 1024;
    for name in ["v100", "rtx2080ti", "a100", "rtx3090", "h100"] {
        let config = model(name);
        let c1 = u64::from(config.l1.lines(0)) * 32;
        let n = c1 / 4 * 3 / 64 * 64;
        for s in [1, 4, 8, 16, 32, 64] {
            let m = 3 * n / s;
            assert_eq!(misses(&walk(&config, n, s, m, CacheOp::Default).l1), n / s.max(8), "{name}, stride {s}");
        }
        // Four accesses share a tag, but all four miss.
        let sum = walk(&config, 4 * c1, 8, 4 * c1 / 8, CacheOp::Default);
        assert_eq!(misses(&sum.l1), 4 * c1 / 8, "{name}, first pass");
    }
    // The sets use LRU; this is the closed form beyond the capacity, in whole lines.
    let config = model("gtx480");
    for (s, m) in [(1, 32 * K), (8, 32 * K), (32, 32 * K)] {
        assert_eq!(misses(&walk(&config, 16 * K, s, m, CacheOp::Default).l1), m * s / 32, "gtx480, stride {s}");
    }
}

#[test]
fn nvidia_level_2() {
    // The loads bypass L1, as `ld.cg` does.
    let config = model("v100");
    let c2 = config.l2.bytes() / 4;
    let n = c2 / 2;
    assert_eq!(misses(&walk(&config, n, 8, 2 * n / 8, CacheOp::Global).l2), n / 8);
    let n = 2 * c2;
    assert_eq!(misses(&walk(&config, n, 8, n / 8 + n / 16, CacheOp::Global).l2), n / 8 + n / 16);
    // With two partitions, an SM's partition keeps copies of the other partition's lines. An SM can therefore use half
    // of the capacity without accessing the far partition.
    let config = model("a100");
    let n = 15 << 18;
    let sum = walk(&config, n, 8, 2 * n / 8, CacheOp::Global);
    assert_eq!(misses(&sum.l2), n / 8);
    assert!(sum.l2_far > 0 && sum.l2_far < n / 8);
}
