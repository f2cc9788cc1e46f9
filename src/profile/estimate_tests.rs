use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use warpline_analyzer::analysis::{BlockSum, BranchSum, HostTraffic, InstructionSums, LaunchGroup};
use warpline_analyzer::attribution::ContextTree;
use warpline_analyzer::patterns::SerialAtomics;
use warpline_analyzer::requests::Cells;
use warpline_format::event::Launch;
use warpline_format::matrix::Product;
use warpline_format::site_table::InstructionMix;
use warpline_simulator::geometry::Banks;
use warpline_simulator::hierarchy::{LevelCounts, StageCounts, Traffic};

fn rates() -> Rates {
    Rates {
        sms: 10,
        clock_hz: Some(1e9),
        issue: Some(4.0),
        fp32: Some(64.0),
        fp64: Some(2.0),
        special: None,
        products: [None; Product::ALL.len()],
        stage_passes: Some(1.0),
        lane_words: Some(32.0),
        shared_passes: Some(1.0),
        shared_banks: Some(Banks::USUAL),
        lookup_bytes: (32, 32),
        cache_bytes: (0, 0),
        unified: true,
        l2: Some(1e12),
        dram: Some(1e11),
    }
}

/// Creates a launch of `blocks` blocks with 1000 requests of 32 sectors each (4 are ideal). Every lookup misses L1, and
/// a tenth of L2's lookups miss.
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
        event: Launch::with_defaults(id, blocks, 32),
        spaces: BTreeMap::from([(Space::Global, global), (Space::Shared, shared)]),
        by_op: BTreeMap::new(),
        host_memory: Vec::new(),
        atomics: Default::default(),
        error: Some(0),
        instructions,
        blocks: BlockSum::default(),
        branches: BranchSum::default(),
        arguments: Vec::new(),
    }
}

fn kernel(launches: Vec<LaunchData>) -> KernelData {
    KernelData {
        groups: BTreeMap::new(),
        module: 0,
        function: 0,
        cells: Cells::default(),
        contexts: ContextTree::default(),
        launches,
        blocks: BTreeMap::new(),
        branches: BTreeMap::new(),
        sums: Default::default(),
        patterns: BTreeMap::new(),
    }
}

fn estimated(launches: Vec<LaunchData>, rates: &Rates) -> Option<Estimate> {
    let name = "mine".to_owned();
    estimates(&kernel(launches), [(&name, rates)].into_iter(), &|_, _| false).pop()
}

fn seconds(estimate: &Estimate, name: &str) -> f64 {
    estimate.limits.iter().find(|limit| limit.name == name).unwrap().seconds
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-8 * want.abs(), "{got} differs from {}", want);
}

#[test]
fn a_case_worked_by_hand() {
    let estimate = estimated(vec![launch(0, 10)], &rates()).unwrap();
    // The model has 10 SMs at 1 GHz: 5000 instructions at 4 per cycle, and 32 000 results at 64 and at 2 per cycle.
    close(seconds(&estimate, "instructions"), 5000.0 / 4e10);
    close(seconds(&estimate, "fp32"), 32_000.0 / 64e10);
    close(seconds(&estimate, "fp64"), 32_000.0 / 2e10);
    // The data stage has 1000 passes of global and 5000 of shared memory; the tag stage has 8000.
    close(seconds(&estimate, "l1_data"), 6000.0 / 1e10);
    close(seconds(&estimate, "l1_tag"), 8000.0 / 1e10);
    close(seconds(&estimate, "l1_lanes"), 32_000.0 / 32e10);
    close(seconds(&estimate, "l2"), 32_000.0 * 32.0 / 1e12);
    close(seconds(&estimate, "dram"), 3_200.0 * 32.0 / 1e11);
    assert_eq!(estimate.limiter, "fp64");
    assert_eq!(estimate.bytes, Bytes { l1: 1_024_000, l2: 1_024_000, dram: 102_400, bus: 0 });
    assert_eq!(estimate.unknown, ["special"]);
    close(estimate.ideal.gain, 1.0);
}

#[test]
fn ideal_requests_gain_where_sectors_and_conflicts_limit() {
    let fast = Rates { fp64: Some(64.0), dram: Some(1e12), ..rates() };
    let estimate = estimated(vec![launch(0, 10)], &fast).unwrap();
    assert_eq!(estimate.limiter, "l2");
    // With ideal requests, 4000 sectors leave L1 instead of 32 000. The data stage then limits; shared memory needs
    // 1000 passes instead of 5000.
    close(estimate.seconds, 32_000.0 * 32.0 / 1e12);
    assert_eq!(estimate.ideal.limiter, "l1_data");
    close(estimate.ideal.seconds, 2000.0 / 1e10);
    close(estimate.ideal.gain, 1.024e-6 / 2e-7);
}

#[test]
fn further_addresses_of_constant_memory_take_passes() {
    let mut serial = launch(0, 10);
    let constant = Counters { requests: 1000, wavefronts: 32_000, ideal_wavefronts: 1000, ..Counters::default() };
    serial.spaces.insert(Space::Constant, constant.clone());
    let estimate = estimated(vec![serial], &rates()).unwrap();
    // Each address of a request except the first takes one pass per clock and SM.
    close(seconds(&estimate, "constant"), 31_000.0 / 1e10);
    assert_eq!(estimate.limiter, "constant");
    let mut uniform = launch(0, 10);
    uniform.spaces.insert(Space::Constant, Counters { wavefronts: 1000, ..constant });
    let estimate = estimated(vec![uniform], &rates()).unwrap();
    assert!(estimate.limits.iter().all(|limit| limit.name != "constant"), "{estimate:#?}");
}

#[test]
fn atomic_operations_on_one_address_are_done_one_after_the_other() {
    let counting = |hottest, shared| {
        let data = LaunchData { atomics: SerialAtomics { hottest, shared }, ..launch(0, 5) };
        estimated(vec![data.clone(), data], &rates()).unwrap()
    };
    let global = counting(1_000_000, 0);
    // The rate is one per clock of 1 GHz for the whole GPU; launches run one after the other.
    assert_eq!(global.limiter, "atomic_address");
    close(global.seconds, 2e-3);
    // On shared memory, the rate is one per clock for each SM that has a block.
    let shared = counting(0, 1_000_000);
    assert_eq!(shared.limiter, "shared_atomics");
    close(shared.seconds, 2.0 * 1_000_000.0 / 5e9);
    assert!(counting(0, 0).limits.iter().all(|limit| limit.unit != "operations"));
}

#[test]
fn few_blocks_use_few_sms() {
    let wide = estimated(vec![launch(0, 10)], &rates()).unwrap();
    let narrow = estimated(vec![launch(0, 1)], &rates()).unwrap();
    close(seconds(&narrow, "fp64"), 10.0 * seconds(&wide, "fp64"));
    close(seconds(&narrow, "dram"), seconds(&wide, "dram"));
    // Each launch has its own slowest unit; launches run one after the other.
    let both = estimated(vec![launch(1, 1), launch(0, 10)], &rates()).unwrap();
    close(both.seconds, wide.seconds + narrow.seconds);
    assert_eq!(both.launches, 2);
}

#[test]
fn what_is_not_known_is_left_out() {
    let nothing = Rates { sms: 10, lookup_bytes: (32, 32), ..Rates::default() };
    assert_eq!(estimated(vec![launch(0, 1)], &nothing), None);
    let only_dram = Rates { dram: Some(1e11), ..nothing };
    let estimate = estimated(vec![launch(0, 1)], &only_dram).unwrap();
    assert_eq!((estimate.limiter.as_str(), estimate.limits.len()), ("dram", 1));
    assert!(estimate.unknown.contains(&"l2".to_owned()) && estimate.unknown.contains(&"shared".to_owned()));
    // Sampled and interrupted launches are not included.
    let mut sampled = launch(0, 10);
    sampled.event.block_share = 16;
    let mut cut = launch(1, 10);
    cut.error = None;
    let mut stopped = launch(2, 10);
    stopped.error = Some(700);
    let bad = vec![sampled, cut, stopped];
    assert_eq!(estimated(bad.clone(), &rates()), None);
    // Together with a completed launch, they add nothing.
    let good = estimated(vec![launch(3, 10)], &rates());
    assert_eq!(estimated(bad.into_iter().chain([launch(3, 10)]).collect(), &rates()), good);
    assert_eq!(good.map(|estimate| estimate.launches), Some(1));
}

#[test]
fn failed_launches_of_a_group_are_not_in_it() {
    let failed = |id| LaunchData { error: Some(719), ..launch(id, 10) };
    let mut data = kernel(Vec::new());
    let mut group = LaunchGroup::new(launch(0, 10));
    group.add(&launch(1, 10));
    data.groups.insert((0, false), group);
    let name = "mine".to_owned();
    let estimates = |data: &KernelData| estimates(data, [(&name, &rates())].into_iter(), &|_, _| false);
    let good = estimates(&data);
    data.groups.insert((0, true), LaunchGroup::new(failed(2)));
    assert_eq!(estimates(&data), good);
    data.groups.remove(&(0, false));
    assert_eq!(estimates(&data), []);
}

#[test]
fn banks_that_were_not_counted_give_no_limit() {
    let name = ["one".to_owned(), "other".to_owned()];
    let kepler = Rates {
        shared_banks: Some(Banks { banks: 32, bank_bytes: 8, word_bytes: 4, merges_pairs: false }),
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

#[test]
fn host_memory_takes_the_bus_and_not_device_memory() {
    let mut data = launch(0, 10);
    data.host_memory = vec![HostTraffic { reads: 3_000, writes: 0 }];
    let estimate = estimated(vec![data], &rates()).unwrap();
    close(seconds(&estimate, "dram"), 200.0 * 32.0 / 1e11);
    assert_eq!((estimate.bytes.dram, estimate.bytes.bus), (200 * 32, 3_000 * 32));
    assert_eq!(estimate.unknown, ["special", "bus"]);
}

/// Work of a launch on a unit, as docs/report.md defines it: name, amount, ideal amount, rate per second, and whether
/// each SM has such a unit.
type Asked = (&'static str, f64, f64, Option<f64>, bool);

fn asked(launch: &LaunchData, rates: &Rates) -> Vec<Asked> {
    let per_second = |rate: Option<f64>| match (rate, rates.clock_hz) {
        (Some(rate), Some(clock)) => Some(rate * clock * f64::from(rates.sms)),
        _ => None,
    };
    let global = &launch.spaces[&Space::Global];
    let traffic = &global.traffic[0];
    let shared = &launch.spaces[&Space::Shared];
    let none = Counters::default();
    let constant = launch.spaces.get(&Space::Constant).unwrap_or(&none);
    let (conflicts, ideal_conflicts) = (shared.wavefronts as f64, shared.ideal_wavefronts as f64);
    let in_l1 = if rates.unified { (conflicts, ideal_conflicts) } else { (0.0, 0.0) };
    let apart = if rates.unified { (0.0, 0.0) } else { (conflicts, ideal_conflicts) };
    let filled = global.ideal_sectors as f64 * 32.0;
    let l2 = traffic.l2.lookups as f64 * rates.lookup_bytes.1 as f64;
    let beyond = (traffic.dram_reads + traffic.dram_writes) as f64 * 32.0;
    let host = launch.host_memory.first().map_or(0.0, |host| (host.reads + host.writes) as f64 * 32.0);
    let dram = beyond - host;
    let results = |class| launch.instructions.warps(class) as f64 * 32.0;
    let (stages, words) = (traffic.stages, traffic.stages.words as f64 * 32.0);
    let issued = launch.instructions.all_warps() as f64;
    let mut parts = vec![
        ("instructions", issued, issued, per_second(rates.issue), true),
        ("fp32", results("fp32"), results("fp32"), per_second(rates.fp32), true),
        ("fp64", results("fp64"), results("fp64"), per_second(rates.fp64), true),
        ("special", results("special"), results("special"), per_second(rates.special), true),
        (
            "l1_data",
            stages.data as f64 + in_l1.0,
            stages.ideal_data as f64 + in_l1.1,
            per_second(rates.stage_passes),
            true,
        ),
        (
            "l1_tag",
            stages.tag as f64,
            f64::min(stages.tag as f64, global.requests as f64),
            per_second(rates.stage_passes),
            true,
        ),
        ("l1_lanes", words, words, per_second(rates.lane_words), true),
        ("shared", apart.0, apart.1, per_second(rates.shared_passes), true),
        ("constant", (constant.wavefronts - constant.ideal_wavefronts) as f64, 0.0, per_second(Some(1.0)), true),
        ("l2", l2, f64::min(l2, filled), rates.l2, false),
        ("dram", dram, f64::min(f64::min(beyond, f64::min(l2, filled)), dram), rates.dram, false),
        ("bus", host, host, None, false),
        ("atomic_address", launch.atomics.hottest as f64, launch.atomics.hottest as f64, rates.clock_hz, false),
        ("shared_atomics", launch.atomics.shared as f64, launch.atomics.shared as f64, per_second(Some(1.0)), true),
    ];
    let products = launch.instructions.products();
    for (kind, done) in Product::ALL.into_iter().zip(products) {
        parts.push((kind.name(), done as f64, done as f64, per_second(rates.products[kind as usize]), true));
    }
    parts
}

prop_compose! {
    fn any_rates()(
        numbers in prop::collection::vec(prop::option::weighted(0.8, 1u32..200), 8),
        sms in 1u32..40, unified in any::<bool>(), l1 in 0u32..3, l2 in 0u32..2,
    ) -> Rates {
        let rate = |index: usize| numbers[index].map(f64::from);
        Rates {
                sms,
            clock_hz: rate(0).map(|mhz| mhz * 1e7),
            issue: rate(1),
            fp32: rate(2),
            fp64: rate(3),
            special: rate(4),
            products: [rate(2), rate(3), None, rate(4), rate(5), rate(6)],
            stage_passes: rate(5),
            lane_words: rate(5),
            shared_passes: rate(1),
            shared_banks: Some(Banks::USUAL),
            lookup_bytes: (32 << l1, 32 << l2),
            cache_bytes: (0, 0),
            unified,
            l2: rate(6).map(|gbs| gbs * 1e9),
            dram: rate(7).map(|gbs| gbs * 1e9),
        }
    }
}

prop_compose! {
    fn any_launch()(
        id in 0u64..1000, blocks in 1u32..60, mix in prop::array::uniform4(0u32..5), executions in 0u64..1000,
        requests in 0u64..1000, excess in prop::array::uniform4(0u64..5000), dram in 0u64..4000, host in 0u64..4000,
        atomics in prop::array::uniform2(0u64..100_000),
    ) -> LaunchData {
        let mut data = launch(id, blocks);
        data.atomics = SerialAtomics { hottest: atomics[0], shared: atomics[1] };
        let [fp32, fp64, special, memory] = mix;
        data.instructions = InstructionSums::default();
        let products = [fp32 * 256, memory, special * 64, 0, fp64 * 1024, fp32];
        let mix = InstructionMix { fp32, fp64, special, memory, products, ..InstructionMix::default() };
        data.instructions.add_block(&mix, executions, executions * 7);
        let global = data.spaces.get_mut(&Space::Global).unwrap();
        (global.requests, global.ideal_sectors) = (requests, 2 * requests);
        global.sectors = global.ideal_sectors + excess[0];
        let traffic = &mut global.traffic[0];
        traffic.l2.lookups = global.sectors - excess[0] / 2;
        (traffic.dram_reads, traffic.dram_writes) = (dram / 2, dram - dram / 2);
        let data_passes = requests + excess[1];
        traffic.stages = StageCounts { data: data_passes, ideal_data: requests, tag: requests + excess[2], words: requests };
        let shared = data.spaces.get_mut(&Space::Shared).unwrap();
        (shared.wavefronts, shared.ideal_wavefronts) = (requests + excess[3], requests);
        let (wavefronts, ideal_wavefronts) = (requests + excess[0], requests);
        data.spaces.insert(Space::Constant, Counters { requests, wavefronts, ideal_wavefronts, ..Counters::default() });
        data.host_memory = vec![HostTraffic { reads: host.min(dram), writes: 0 }];
        data
    }
}

proptest! {
    #[test]
    fn agrees_with_a_table_of_every_part_and_launch(
        rates in any_rates(), launches in prop::collection::vec(any_launch(), 1..5), lost in 0usize..8,
    ) {
        let mut launches = launches;
        (0..).zip(&mut launches).for_each(|(id, launch)| launch.event.id = id);
        // One launch may be sampled or not completed.
        if let Some(launch) = launches.get_mut(lost) {
            if lost % 2 == 0 { launch.event.block_share = 2 } else { launch.error = None }
        }
        let all: Vec<LaunchData> = launches.iter().enumerate().filter(|(index, _)| *index != lost).map(|(_, launch)| launch.clone()).collect();
        let mut times: BTreeMap<&str, (f64, f64, f64, bool)> = BTreeMap::new();
        let (mut total, mut ideal_total, mut each) = (0.0, 0.0, Vec::new());
        for launch in &all {
            let (mut worst, mut ideal_worst) = (0.0f64, 0.0f64);
            for (name, amount, ideal, rate, per_sm) in asked(launch, &rates) {
                let busy = if per_sm { f64::min(1.0, f64::from(launch.event.grid[0]) / f64::from(rates.sms)) } else { 1.0 };
                let seconds = rate.map_or(0.0, |rate| amount / (rate * busy));
                let ideal_seconds = rate.map_or(0.0, |rate| ideal / (rate * busy));
                let row = times.entry(name).or_insert((0.0, 0.0, 0.0, rate.is_some()));
                *row = (row.0 + amount, row.1 + seconds, row.2 + ideal_seconds, row.3);
                (worst, ideal_worst) = (worst.max(seconds), ideal_worst.max(ideal_seconds));
            }
            (total, ideal_total) = (total + worst, ideal_total + ideal_worst);
            each.push((launch.event.id, worst));
        }
        let asked_for = |known: bool| times.iter().filter(move |(_, row)| row.0 > 0.0 && row.3 == known);
        let name = "mine".to_owned();
        let kernel = kernel(launches);
        let got = estimates(&kernel, [(&name, &rates)].into_iter(), &|_, _| false).pop();
        let Some(got) = got else {
            prop_assert_eq!(asked_for(true).count(), 0);
            return Ok(());
        };
        prop_assert_eq!(got.launches, all.len() as u64);
        let near = |got: f64, want: f64| (got - want).abs() <= 1e-7 * want.abs();
        prop_assert_eq!(got.limits.len(), asked_for(true).count());
        for limit in &got.limits {
            let (amount, seconds, ..) = times[&*limit.name];
            prop_assert!(limit.amount as f64 == amount && near(limit.seconds, seconds), "{limit:?}: {amount}, {seconds}");
        }
        let mut unknown: Vec<&str> = asked_for(false).map(|(name, _)| *name).collect();
        let mut reported: Vec<&str> = got.unknown.iter().map(String::as_str).collect();
        unknown.sort_unstable();
        reported.sort_unstable();
        prop_assert_eq!(reported, unknown);
        prop_assert!(near(got.seconds, total) && near(got.ideal.seconds, ideal_total), "{got:?}: {total}, {ideal_total}");
        let slowest = asked_for(true).map(|(_, row)| row.1).fold(0.0, f64::max);
        prop_assert!(near(times[&*got.limiter].1, slowest), "{got:?}");
        prop_assert!(got.ideal.gain >= 1.0 - 1e-7 && (ideal_total == 0.0 || near(got.ideal.gain, total / ideal_total)));
        // The statistics over launches use times by launch.
        let by_launch = super::seconds(&kernel, &rates, &|_, _| false);
        for (id, seconds) in each {
            prop_assert!(near(by_launch.get(&id).copied().unwrap_or(0.0), seconds), "launch {id}: {by_launch:?}, {seconds}");
        }
        prop_assert!(by_launch.keys().all(|id| *id != lost as u64));
    }
}
