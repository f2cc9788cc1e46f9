//! Defines the compared figures, and the better direction of each.
//!
//! Names are those of `over_launches` in profiles: `global.sectors`, `global.l1.load_hit_rate`, `estimate.seconds`.
//! Counted figures are exact, so any difference is a change. Modelled figures (caches, DRAM, times) depend on
//! everything that ran before. They are treated as changed only if the difference exceeds a share of a reference value.

use std::collections::BTreeMap;

use super::document::{Changes, Value};
use warpline_profile::Profile;
use warpline_profile::model::{Branch, HitRate, Kernel, Metrics, Spaces};

/// The better direction of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A lower value is better.
    Less,
    /// A higher value is better.
    More,
    /// Neither direction is better.
    Neither,
}

/// The unit in which a figure is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A count.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A ratio of at most 1.
    Share,
    /// A mean.
    Mean,
}

/// Definition of a figure.
struct Kind {
    /// Name, without the memory space.
    name: &'static str,
    better: Better,
    unit: Unit,
    /// Whether the figure is independent of other figures that are shown.
    significant: bool,
}

const fn kind(name: &'static str, better: Better, unit: Unit, significant: bool) -> Kind {
    Kind { name, better, unit, significant }
}

/// Figures of requests within a memory space (or of an allocation, without distinction of spaces); the most significant
/// first.
const OF_REQUESTS: [Kind; 22] = [
    kind("sectors", Better::Less, Unit::Count, true),
    kind("wavefronts", Better::Less, Unit::Count, true),
    kind("sectors_per_request", Better::Less, Unit::Mean, true),
    kind("wavefronts_per_request", Better::Less, Unit::Mean, true),
    kind("coalescing_efficiency", Better::More, Unit::Share, true),
    kind("requests", Better::Less, Unit::Count, true),
    kind("lanes_per_request", Better::More, Unit::Mean, true),
    kind("dram.read_sectors", Better::Less, Unit::Count, true),
    kind("dram.write_sectors", Better::Less, Unit::Count, true),
    kind("l2.lookups", Better::Less, Unit::Count, true),
    kind("l1.load_hit_rate", Better::More, Unit::Share, true),
    kind("l2.hit_rate", Better::More, Unit::Share, true),
    kind("bytes", Better::Neither, Unit::Bytes, true),
    kind("lanes", Better::Neither, Unit::Count, false),
    kind("ideal_sectors", Better::Neither, Unit::Count, false),
    kind("ideal_wavefronts", Better::Neither, Unit::Count, false),
    kind("l1.store_hit_rate", Better::Neither, Unit::Share, false),
    // The former name of `l1.load_hit_rate`.
    kind("l1.hit_rate", Better::More, Unit::Share, false),
    kind("l1.lookups", Better::Neither, Unit::Count, false),
    kind("l1.hits", Better::Neither, Unit::Count, false),
    kind("l2.hits", Better::Neither, Unit::Count, false),
    kind("reuse.streaming", Better::Neither, Unit::Count, false),
];

/// Spaces, in the order in which they are reported.
const SPACES: [&str; 4] = ["global", "local", "shared", "constant"];

/// Figures of kernels and of the program.
const OF_KERNELS: [Kind; 16] = [
    kind("estimate.seconds", Better::Less, Unit::Seconds, true),
    kind("atomics.hottest_lanes", Better::Less, Unit::Count, true),
    kind("launches", Better::Neither, Unit::Count, true),
    kind("threads_per_block", Better::Neither, Unit::Count, true),
    kind("blocks", Better::Neither, Unit::Count, true),
    kind("branches.divergent", Better::Less, Unit::Count, true),
    kind("branches.divergent_share", Better::Less, Unit::Share, true),
    kind("branches.executions", Better::Neither, Unit::Count, false),
    kind("instructions.warps", Better::Less, Unit::Count, true),
    kind("lane_slots.lost_partial", Better::Less, Unit::Count, false),
    kind("registers", Better::Neither, Unit::Count, true),
    kind("blocks_per_sm", Better::Neither, Unit::Count, true),
    kind("static_shared_bytes", Better::Neither, Unit::Bytes, false),
    kind("spill_bytes", Better::Less, Unit::Bytes, true),
    kind("faults", Better::Less, Unit::Count, true),
    kind("races", Better::Less, Unit::Count, true),
];

/// Estimated seconds of the program's copies.
const OF_COPYING: Kind = kind("copies.seconds", Better::Less, Unit::Seconds, true);

/// Figures of branches.
const OF_BRANCHES: [Kind; 3] = [
    kind("divergent", Better::Less, Unit::Count, true),
    kind("divergent_share", Better::Less, Unit::Share, true),
    kind("executions", Better::Neither, Unit::Count, true),
];

/// Additional figures of allocations and of the program.
const OF_ALLOCATIONS: [Kind; 3] = [
    kind("size", Better::Neither, Unit::Bytes, true),
    kind("allocations", Better::Less, Unit::Count, true),
    kind("touched_bytes", Better::Neither, Unit::Bytes, false),
];

/// Directions of copies.
const DIRECTIONS: [&str; 5] = ["host_to_device", "device_to_host", "device_to_device", "host_to_host", "set"];
const OF_COPIES: [Kind; 2] =
    [kind("bytes", Better::Less, Unit::Bytes, true), kind("count", Better::Less, Unit::Count, true)];
/// Classes of instructions.
const CLASSES: [&str; 10] =
    ["fp16", "fp32", "fp64", "int", "special", "conversion", "control", "memory", "barrier", "tensor"];
const OF_INSTRUCTIONS: [Kind; 2] =
    [kind("warps", Better::Neither, Unit::Count, false), kind("lanes", Better::Neither, Unit::Count, false)];

/// The subject of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The whole program.
    Program,
    /// A kernel.
    Kernel,
    /// A source line of a kernel.
    Line,
    /// Allocations of one name.
    Allocation,
}

/// Returns the names of all figures that a subject may have; the most significant first.
pub fn names(subject: Subject) -> Vec<String> {
    let spaces = SPACES.iter().flat_map(|space| OF_REQUESTS.iter().map(move |kind| format!("{space}.{}", kind.name)));
    let plain = |kinds: &'static [Kind]| kinds.iter().map(|kind| kind.name.to_owned());
    let copies =
        DIRECTIONS.iter().flat_map(|way| OF_COPIES.iter().map(move |kind| format!("copies.{way}.{}", kind.name)));
    let classes = CLASSES
        .iter()
        .flat_map(|class| OF_INSTRUCTIONS.iter().map(move |kind| format!("instructions.{class}.{}", kind.name)));
    match subject {
        Subject::Program => {
            let sums = OF_PROGRAM.iter().map(|name| (*name).to_owned());
            sums.chain([OF_COPYING.name.to_owned()]).chain(plain(&OF_ALLOCATIONS)).chain(copies).collect()
        }
        Subject::Kernel => plain(&OF_KERNELS).chain(spaces).chain(classes).collect(),
        Subject::Line => spaces.collect(),
        Subject::Allocation => plain(&OF_ALLOCATIONS).chain(copies).chain(plain(&OF_REQUESTS)).collect(),
    }
}

/// Figures of kernels that are summed over the program.
const OF_PROGRAM: [&str; 6] = [
    "estimate.seconds",
    "launches",
    "global.sectors",
    "global.dram.read_sectors",
    "global.dram.write_sectors",
    "faults",
];

/// Returns the definition of a figure by name, and its position in the order of significance.
fn find(name: &str) -> Option<(usize, &'static Kind)> {
    let among = |kinds: &'static [Kind], name: &str, first: usize| {
        let index = kinds.iter().position(|kind| kind.name == name)?;
        Some((first + index, &kinds[index]))
    };
    if let Some(found) = among(&OF_KERNELS, name, 0).or_else(|| among(&OF_BRANCHES, name, 0)) {
        // Times and the launches without times come first. The shape of launches comes after their work.
        return Some((if found.0 <= 1 { 2 * found.0 } else { 300 + found.0 }, found.1));
    }
    if name == OF_COPYING.name {
        return Some((1, &OF_COPYING));
    }
    if let Some(found) = among(&OF_ALLOCATIONS, name, 10) {
        return Some(found);
    }
    let (group, rest) = name.split_once('.').unwrap_or(("", name));
    if let Some(space) = SPACES.iter().position(|space| *space == group) {
        // Amounts of all spaces come before the figures that explain the amounts of one space.
        return among(&OF_REQUESTS, rest, 0).map(|(place, kind)| (100 + 4 * place + space, kind));
    }
    match (group, rest.rsplit_once('.')) {
        ("copies", Some((_, rest))) => among(&OF_COPIES, rest, 20),
        ("instructions", Some((_, rest))) => among(&OF_INSTRUCTIONS, rest, 400),
        _ => among(&OF_REQUESTS, name, 0).map(|(place, kind)| (100 + 4 * place, kind)),
    }
}

/// Returns the better direction of a figure.
pub fn better(name: &str) -> Better {
    find(name).map_or(Better::Neither, |(_, kind)| kind.better)
}

/// Returns the unit of a figure.
pub fn unit(name: &str) -> Unit {
    find(name).map_or(Unit::Count, |(_, kind)| kind.unit)
}

/// Returns the position of a figure in the order of significance; `None` for figures that are only part of the
/// document.
pub fn rank(name: &str) -> Option<usize> {
    find(name).filter(|(_, kind)| kind.significant).map(|(rank, _)| rank)
}

/// A figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Value.
    pub value: Value,
    /// For modelled figures: the reference value for differences.
    pub out_of: Option<f64>,
}

/// Figures by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures(BTreeMap<String, Figure>);

impl Figures {
    /// Returns the value of a figure.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).map(|figure| figure.value)
    }

    /// Returns whether the analysis for a figure of caches or reuse distances did not run, although there were
    /// requests.
    fn lacks(&self, name: &str) -> bool {
        let prefix = SPACES.iter().find(|space| name.strip_prefix(**space).is_some_and(|rest| rest.starts_with('.')));
        let (prefix, rest) = prefix.map_or(("", name), |space| name.split_at(space.len() + 1));
        let part = ["l1.", "l2.", "dram.", "reuse."].into_iter().find(|part| rest.starts_with(part));
        part.is_some_and(|part| {
            let whole = format!("{prefix}{part}");
            let is_there = self.0.range(whole.clone()..).next().is_some_and(|(name, _)| name.starts_with(&whole));
            self.0.contains_key(&format!("{prefix}requests")) && !is_there
        })
    }

    /// Returns all figures.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(name, figure)| (name.as_str(), figure.value))
    }

    fn count(&mut self, name: impl Into<String>, count: u64) {
        self.0.insert(name.into(), Figure { value: Value::Count(count), out_of: None });
    }

    fn modelled(&mut self, name: impl Into<String>, count: u64, out_of: u64) {
        self.0.insert(name.into(), Figure { value: Value::Count(count), out_of: Some(out_of as f64) });
    }

    /// Adds a mean or a ratio of counted figures, if the denominator is not 0.
    fn ratio(&mut self, name: impl Into<String>, part: u64, whole: u64) {
        if whole != 0 {
            self.0.insert(
                name.into(),
                Figure { value: Value::Ratio(warpline_profile::nine_digits(part as f64 / whole as f64)), out_of: None },
            );
        }
    }

    /// Adds a hit rate, which is modelled.
    fn rate(&mut self, name: impl Into<String>, rate: HitRate) {
        if let Some(share) = rate.share() {
            let value = Value::Ratio(warpline_profile::nine_digits(share));
            self.0.insert(name.into(), Figure { value, out_of: Some(1.0) });
        }
    }

    fn add(&mut self, name: &str, more: u64) {
        let figure = self.0.entry(name.to_owned()).or_insert(Figure { value: Value::Count(0), out_of: None });
        if let Value::Count(count) = &mut figure.value {
            *count = count.saturating_add(more);
        }
    }

    fn subtract(&mut self, name: &str, less: u64) {
        if let Some(Figure { value: Value::Count(count), .. }) = self.0.get_mut(name) {
            *count = count.saturating_sub(less);
        }
    }

    /// Adds other figures by name. Ratios cannot be added and are removed.
    pub(super) fn add_all(&mut self, other: &Figures) {
        for (name, figure) in &other.0 {
            match (self.0.get_mut(name), figure.value) {
                (None, _) => _ = self.0.insert(name.clone(), *figure),
                (Some(sum), Value::Count(more)) => {
                    if let Value::Count(count) = &mut sum.value {
                        *count = count.saturating_add(more);
                    }
                    sum.out_of = sum.out_of.zip(figure.out_of).map(|(one, other)| one + other);
                }
                (Some(_), Value::Ratio(_)) => {}
            }
        }
    }
}

/// Adds figures of requests; `prefix` is empty, or a space and a dot.
fn of_requests(figures: &mut Figures, prefix: &str, metrics: &Metrics) {
    let name = |name: &str| format!("{prefix}{name}");
    let banks = metrics.shared.as_ref().or(metrics.constant.as_ref());
    figures.count(name("requests"), metrics.requests);
    figures.count(name("lanes"), metrics.lanes);
    figures.count(name("bytes"), metrics.bytes);
    figures.ratio(name("lanes_per_request"), metrics.lanes, metrics.requests);
    // Shared memory has no sectors. Counts of sectors in a profile have no cost there.
    if metrics.shared.is_none() {
        figures.count(name("sectors"), metrics.sectors);
        figures.count(name("ideal_sectors"), metrics.ideal_sectors);
        figures.ratio(name("sectors_per_request"), metrics.sectors, metrics.requests);
        figures.ratio(name("coalescing_efficiency"), metrics.ideal_sectors, metrics.sectors);
    }
    if let Some(passes) = banks {
        figures.count(name("wavefronts"), passes.wavefronts);
        figures.count(name("ideal_wavefronts"), passes.ideal_wavefronts);
        figures.ratio(name("wavefronts_per_request"), passes.wavefronts, metrics.requests);
    }
    if let Some(l1) = &metrics.l1 {
        figures.modelled(name("l1.lookups"), l1.lookups, l1.lookups);
        figures.modelled(name("l1.hits"), l1.hits, l1.lookups);
        figures.rate(name("l1.load_hit_rate"), metrics.l1_hit_rate());
        figures.rate(name("l1.store_hit_rate"), metrics.l1_store_hit_rate());
        figures.rate(name("l1.hit_rate"), metrics.l1_hit_rate());
    }
    if let Some(l2) = &metrics.l2 {
        figures.modelled(name("l2.lookups"), l2.lookups, l2.lookups.max(metrics.sectors));
        figures.modelled(name("l2.hits"), l2.hits, l2.lookups.max(metrics.sectors));
        figures.rate(name("l2.hit_rate"), metrics.l2_hit_rate());
    }
    if let Some(dram) = &metrics.dram {
        figures.modelled(name("dram.read_sectors"), dram.read_sectors, dram.read_sectors.max(metrics.sectors));
        figures.modelled(name("dram.write_sectors"), dram.write_sectors, dram.write_sectors.max(metrics.sectors));
    }
    if let Some(reuse) = &metrics.reuse {
        figures.count(name("reuse.streaming"), reuse.streaming);
    }
}

/// Returns the figures of a line, or of a kernel's requests.
pub(super) fn of_spaces(spaces: &Spaces) -> Figures {
    let mut figures = Figures::default();
    for (space, metrics) in spaces {
        of_requests(&mut figures, &format!("{space}."), metrics);
    }
    figures
}

/// Returns the figures of a branch.
pub(super) fn of_branch(branch: &Branch) -> Figures {
    let mut figures = Figures::default();
    figures.count("executions", branch.executions);
    figures.count("divergent", branch.divergent);
    figures.ratio("divergent_share", branch.divergent, branch.executions);
    figures
}

/// Returns the figures of a kernel. `branches` are the kernel's branches.
pub(super) fn of_kernel<'a>(profile: &Profile, kernel: &Kernel, branches: impl Iterator<Item = &'a Branch>) -> Figures {
    let mut figures = of_spaces(&kernel.metrics);
    let blocks = |grid: &[u32; 3]| grid.iter().fold(1u64, |all, &size| all.saturating_mul(size.into()));
    let launches = &kernel.launches;
    figures.count("launches", kernel.launch_count());
    if kernel.launch_groups.is_empty() {
        let sum = launches.iter().fold(0u64, |sum, launch| sum.saturating_add(blocks(&launch.grid)));
        figures.count("blocks", sum);
    }
    let shapes = launches.iter().map(|launch| blocks(&launch.block));
    if let Some(threads) =
        only(shapes.chain(kernel.launch_groups.iter().filter_map(|group| group.block).map(|b| blocks(&b))))
    {
        figures.count("threads_per_block", threads);
    }
    for (name, value) in [
        ("registers", only(launches.iter().map(|launch| u64::from(launch.registers)))),
        ("blocks_per_sm", only(launches.iter().map(|launch| u64::from(launch.resident_blocks)))),
        ("static_shared_bytes", only(launches.iter().map(|launch| u64::from(launch.static_shared_bytes)))),
    ] {
        if let Some(value) = value {
            figures.count(name, value);
        }
    }
    if let Some(estimate) = kernel.estimates.first() {
        let seconds = warpline_profile::nine_digits(estimate.seconds);
        let figure = Figure { value: Value::Ratio(seconds), out_of: Some(seconds) };
        figures.0.insert("estimate.seconds".to_owned(), figure);
    }
    let (lanes, out_of) = hottest_lanes(profile, kernel);
    figures.modelled("atomics.hottest_lanes", lanes, out_of);
    let mut warps = 0u64;
    for (class, count) in &kernel.instructions {
        warps = warps.saturating_add(count.warps);
        figures.count(format!("instructions.{class}.warps"), count.warps);
        figures.count(format!("instructions.{class}.lanes"), count.lanes);
    }
    figures.count("instructions.warps", warps);
    figures.count("lane_slots.lost_partial", kernel.lane_slots.lost_partial);
    figures.count("spill_bytes", kernel.spill_bytes.into());
    let (mut executions, mut divergent) = (0u64, 0u64);
    for branch in branches {
        executions = executions.saturating_add(branch.executions);
        divergent = divergent.saturating_add(branch.divergent);
    }
    figures.count("branches.executions", executions);
    figures.count("branches.divergent", divergent);
    figures.ratio("branches.divergent_share", divergent, executions);
    let faults = profile.faults.iter().filter(|fault| fault.kernel == Some(kernel.id)).count();
    let races = profile.conflicts.iter().filter(|row| row.kernel == kernel.id && row.severity == "warning").count();
    figures.count("faults", faults as u64);
    figures.count("races", races as u64);
    figures
}

/// Returns the lanes of atomic operations on the most frequent address, which run one after the other, and the lanes of
/// all atomic operations.
fn hottest_lanes(profile: &Profile, kernel: &Kernel) -> (u64, u64) {
    let sites = profile.sites.iter().filter(|site| site.kernel == kernel.id);
    let (mut all, mut places) = (0u64, BTreeMap::<(u64, u64), u64>::new());
    for atomics in sites.filter_map(|site| site.pattern.as_ref()?.atomics.as_ref()) {
        all = all.saturating_add(atomics.lanes);
        for hot in &atomics.hottest {
            let lanes = places.entry((hot.allocation, hot.offset)).or_default();
            *lanes = lanes.saturating_add(hot.lanes);
        }
    }
    (places.into_values().max().unwrap_or(0), all)
}

/// Returns the common value, if all values are equal.
fn only(mut values: impl Iterator<Item = u64>) -> Option<u64> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// Returns the figures of allocations that form one row.
pub(super) fn of_allocations(rows: &[&warpline_profile::model::Allocation]) -> Figures {
    let mut figures = Figures::default();
    let mut sum = Metrics::default();
    for row in rows {
        figures.add("allocations", row.count);
        figures.add("size", row.bytes);
        figures.add("touched_bytes", row.touched_bytes);
        for copy in &row.copies {
            figures.add(&format!("copies.{}.bytes", copy.direction), copy.bytes);
            figures.add(&format!("copies.{}.count", copy.direction), copy.count);
        }
        crate::merge::add_with_means(&mut sum, &row.metrics);
    }
    // Only sums over all spaces are included. The figures of single spaces are reported for lines.
    (sum.shared, sum.constant) = (None, None);
    of_requests(&mut figures, "", &sum);
    figures
}

/// Returns the figures of the program: sums over its kernels and allocations. `is_apart` selects allocations that do
/// not count as separate device memory: parts of other allocations, and host memory.
pub(super) fn of_program(
    profile: &Profile,
    kernels: &[Figures],
    allocations: &[Figures],
    is_apart: impl Fn(usize) -> bool,
) -> Figures {
    let mut sum = Figures::default();
    for figures in kernels {
        for name in OF_PROGRAM {
            match figures.0.get(name) {
                Some(Figure { value: Value::Ratio(more), .. }) => {
                    let mut seconds = *more;
                    if let Some(Value::Ratio(before)) = sum.get(name) {
                        seconds = warpline_profile::nine_digits(seconds + before);
                    }
                    let figure = Figure { value: Value::Ratio(seconds), out_of: Some(seconds) };
                    sum.0.insert(name.to_owned(), figure);
                }
                Some(figure) => sum.add_all(&Figures([(name.to_owned(), *figure)].into())),
                None => {}
            }
        }
    }
    for (index, figures) in allocations.iter().enumerate() {
        let of_memory = |name: &str| OF_ALLOCATIONS.iter().any(|kind| kind.name == name);
        let wanted = |name: &str| name.starts_with("copies.") || of_memory(name) && !is_apart(index);
        let kept = figures.0.iter().filter(|(name, _)| wanted(name)).map(|(name, figure)| (name.clone(), *figure));
        sum.add_all(&Figures(kept.collect()));
    }
    // A copy between two allocations has a row in each of them, but is counted once.
    for copy in profile.allocations.iter().flat_map(|row| &row.copies).filter(|copy| copy.source_count > 0) {
        sum.subtract(&format!("copies.{}.bytes", copy.direction), copy.source_bytes);
        sum.subtract(&format!("copies.{}.count", copy.direction), copy.source_count);
    }
    let seconds = warpline_profile::nine_digits(warpline_profile::seconds_of_copies(profile));
    sum.0.insert(OF_COPYING.name.to_owned(), Figure { value: Value::Ratio(seconds), out_of: Some(seconds) });
    sum
}

/// Returns the differences between two paired rows, or all figures of a new or removed row. `tolerance` is the share of
/// the reference value up to which modelled figures are treated as equal.
pub(super) fn changes(before: Option<&Figures>, after: Option<&Figures>, tolerance: f64) -> Changes {
    let none = Figures::default();
    let both = before.is_some() && after.is_some();
    let (one, other) = (before.unwrap_or(&none), after.unwrap_or(&none));
    let names = one.0.keys().chain(other.0.keys().filter(|name| !one.0.contains_key(*name)));
    let changed = |name: &String| {
        let (before, after) = (one.0.get(name), other.0.get(name));
        // Figures of an analysis that did not run on one side are not changes; `differences` contains the setting.
        if both && (one.lacks(name) || other.lacks(name)) {
            return None;
        }
        // If one side of a pair has no count, it did not happen there and is 0.
        let side = |figure: Option<&Figure>, there: Option<&Figure>| match (figure, there) {
            (Some(figure), _) => Some(figure.value),
            (None, Some(Figure { value: Value::Count(_), .. })) if both => Some(Value::Count(0)),
            _ => None,
        };
        let sides = [side(before, after), side(after, before)];
        let out_of = before.into_iter().chain(after).filter_map(|figure| figure.out_of).reduce(f64::max);
        let differ = match (sides, out_of) {
            ([Some(one), Some(other)], Some(out_of)) => {
                let apart = (one.number() - other.number()).abs();
                apart > 0.0 && apart >= tolerance * out_of
            }
            ([Some(one), Some(other)], None) => one != other,
            // A ratio that appears or disappears is reported together with its components.
            ([None, Some(value)] | [Some(value), None], _) => both || value.number() != 0.0,
            ([None, None], _) => false,
        };
        differ.then(|| (name.clone(), sides))
    };
    names.filter_map(changed).collect()
}

/// Returns whether all differences are modelled. Both rows must exist.
pub(super) fn only_modelled(changes: &Changes) -> bool {
    let modelled = |name: &String| {
        name == "estimate.seconds"
            || ["l1", "l2", "dram"].iter().any(|level| name.split('.').any(|part| part == *level))
    };
    changes.keys().all(modelled)
}

/// Returns the weight of a change among others of its kind.
pub(super) fn weight(changes: &Changes) -> f64 {
    let apart = |[before, after]: &[Option<Value>; 2]| {
        let number = |value: &Option<Value>| value.map_or(0.0, Value::number);
        (number(before) - number(after)).abs()
    };
    let each = |(name, sides): (&String, &[Option<Value>; 2])| match name.rsplit('.').next().unwrap_or_default() {
        "sectors" | "wavefronts" => apart(sides),
        "bytes" if name.starts_with("copies.") => apart(sides) / 32.0,
        "divergent" => apart(sides),
        "size" => apart(sides) / 1024.0,
        _ => 0.0,
    };
    changes.iter().map(each).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_documented_and_has_a_kind() {
        let page = include_str!("../../docs/comparison.md");
        for subject in [Subject::Program, Subject::Kernel, Subject::Line, Subject::Allocation] {
            for name in names(subject) {
                assert!(find(&name).is_some(), "{name}");
                let (group, rest) = name.split_once('.').unwrap_or(("", &name));
                let general = match group {
                    "copies" | "instructions" => rest.rsplit_once('.').map_or(rest, |(_, rest)| rest),
                    _ if SPACES.contains(&group) => rest,
                    _ => &name,
                };
                let documented = [&name, general].iter().any(|name| page.contains(&format!("`{name}`")));
                assert!(documented || page.contains(&format!(".{general}`")), "{name}");
            }
        }
    }

    #[test]
    fn what_was_not_counted_did_not_happen() {
        let mut one = Figures::default();
        one.count("global.sectors", 4);
        one.ratio("global.sectors_per_request", 4, 1);
        let none = Figures::default();
        let found = changes(Some(&none), Some(&one), 0.01);
        assert_eq!(found["global.sectors"], [Some(Value::Count(0)), Some(Value::Count(4))]);
        assert_eq!(found["global.sectors_per_request"], [None, Some(Value::Ratio(4.0))]);
        let new = changes(None, Some(&one), 0.01);
        assert_eq!(new["global.sectors"], [None, Some(Value::Count(4))]);
    }

    /// A profile created with `--reuse off` has unknown reuse distances, which differs from having none.
    #[test]
    fn what_was_not_computed_is_unknown() {
        let mut one = Figures::default();
        one.count("global.requests", 4);
        one.count("global.reuse.streaming", 3);
        let mut other = Figures::default();
        other.count("global.requests", 4);
        assert!(changes(Some(&one), Some(&other), 0.01).is_empty());
        assert!(changes(Some(&other), Some(&one), 0.01).is_empty());
        // Without requests, there are no reuse distances.
        let none = Figures::default();
        assert_eq!(changes(Some(&one), Some(&none), 0.01)["global.reuse.streaming"][1], Some(Value::Count(0)));
    }

    #[test]
    fn modelled_figures_are_measured_against_their_whole() {
        let lookups = |hits| {
            let mut figures = Figures::default();
            figures.modelled("global.l1.hits", hits, 1000);
            figures
        };
        assert!(changes(Some(&lookups(3)), Some(&lookups(9)), 0.01).is_empty());
        assert_eq!(changes(Some(&lookups(3)), Some(&lookups(13)), 0.01).len(), 1);
        assert!(changes(Some(&lookups(3)), Some(&lookups(3)), 0.0).is_empty());
    }
}
