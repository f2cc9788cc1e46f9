//! What a cure brings, by the bottleneck estimate.

use std::collections::BTreeMap;

use super::diagnosis::{Names, Ratio, Seconds};
use super::facts::access::{Access, Sums};
use super::facts::index::Place;
use super::facts::{Facts, index};
use super::remark::{Remark, push};
use super::words;
use warpline_profile::SECONDS_PER_LAUNCH;
use warpline_profile::model::{Estimate, Gain, Kernel};
use warpline_simulator::geometry::SECTOR_BYTES;

/// Amounts that a kernel would ask less, by name of the limit and in its unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Saving(BTreeMap<&'static str, f64>);

impl Saving {
    /// Of one limit.
    pub(super) fn of(limit: &'static str, amount: f64) -> Saving {
        Saving(BTreeMap::from([(limit, amount)]))
    }

    pub(super) fn and(mut self, other: Saving) -> Saving {
        for (limit, amount) in other.0 {
            *self.0.entry(limit).or_default() += amount;
        }
        self
    }

    /// The largest amount.
    pub(super) fn most(&self) -> f64 {
        self.0.values().copied().fold(0.0, f64::max)
    }

    /// A part of it.
    pub(super) fn times(mut self, part: f64) -> Saving {
        self.0.values_mut().for_each(|amount| *amount *= part);
        self
    }

    /// If accesses made no requests: what these take of L1.
    pub(super) fn of_requests(accesses: &[&Access<'_>]) -> Saving {
        let sum = |value: fn(&Sums) -> u64| total(accesses.iter().copied(), value) as f64;
        Saving(BTreeMap::from([
            ("l1_tag", sum(|sums| sums.stages.tag)),
            ("l1_data", sum(|sums| sums.stages.data)),
            ("l1_lanes", sum(|sums| sums.stages.words.saturating_mul(32))),
        ]))
    }

    /// If accesses touched no more sectors than their bytes fill, and their words lay in different banks. Accesses to one
    /// structure come together: the first to touch a sector brings what the others hit, so that only over all of them, and over
    /// their siblings, it is known how much is brought without use.
    pub(super) fn of_coalescing(accesses: &[&Access<'_>], facts: &Facts<'_>) -> Saving {
        let sum = |value: fn(&Sums) -> u64| total(accesses.iter().copied(), value);
        let sector = facts.profile.run.lookup_bytes.values().next().map_or(SECTOR_BYTES, |bytes| bytes.l2.max(1));
        let siblings = siblings(accesses, facts);
        let beyond = |sectors: fn(&Sums) -> u64, bytes: u64| {
            unused(accesses, sectors, bytes).min(unused(&siblings, sectors, bytes)) as f64
        };
        Saving(BTreeMap::from([
            ("l1_tag", sum(|sums| sums.stages.tag.saturating_sub(sums.stages.tag.min(sums.requests))) as f64),
            ("l1_data", sum(|sums| sums.stages.data.saturating_sub(sums.stages.ideal_data)) as f64),
            ("l2", beyond(|sums| sums.l2_lookups, sector)),
            ("dram", beyond(|sums| sums.dram_reads.saturating_add(sums.dram_writes), SECTOR_BYTES)),
        ]))
    }

    /// Seconds of the limit whose time shrinks most, however long the others take.
    fn seconds(&self, estimate: &Estimate) -> f64 {
        let each = estimate.limits.iter().filter_map(|limit| {
            let saved = self.0.get(&limit.name[..])?;
            Some(limit.seconds * (saved / (limit.amount.max(1) as f64)).clamp(0.0, 1.0))
        });
        each.fold(0.0, f64::max)
    }
}

/// Accesses, and those of the same operation to the same data at other places of a record, which is as long as the stride: what these
/// use of a sector is not brought without use.
fn siblings<'f, 'a>(accesses: &[&'f Access<'a>], facts: &'f Facts<'a>) -> Vec<&'f Access<'a>> {
    let places: Vec<_> = accesses.iter().map(|access| index::place(access)).collect();
    let shares_record = |one: &Access<'a>, access: &Access<'a>, place: &Option<Place>| {
        let (Some((terms, at)), Some((own, own_at))) = (index::place(one), place) else { return false };
        let stride = access.pattern.stride_bytes.map_or(0, i64::unsigned_abs);
        terms == *own && at.abs_diff(*own_at) < stride
    };
    let is_sibling = |one: &&Access<'a>| {
        accesses.iter().zip(&places).any(|(access, place)| {
            (access.kernel.id, access.op, access.allocation) == (one.kernel.id, one.op, one.allocation)
                && access.allocation.is_some()
                && shares_record(one, access, place)
        })
    };
    let others = facts.accesses.iter().filter(|one| !accesses.iter().any(|own| std::ptr::eq(*own, *one)));
    accesses.iter().copied().chain(others.filter(is_sibling)).collect()
}

/// Bytes of sectors that accesses bring beyond their data. Loads that hit what others have brought need nothing below, so that their
/// bytes are no reason for what stores bring; an element that several accesses load is needed once.
fn unused(accesses: &[&Access<'_>], sectors: fn(&Sums) -> u64, bytes: u64) -> u64 {
    let of = |loads: bool| {
        let those: Vec<&Access<'_>> =
            accesses.iter().copied().filter(|access| (access.op == "load") == loads).collect();
        let mut ideal = 0u64;
        let mut elements = BTreeMap::new();
        for access in &those {
            let element = index::place(access).map(|place| (access.allocation, place));
            match element {
                None => ideal = ideal.saturating_add(access.sums.ideal_sectors),
                Some(element) => {
                    let most: &mut u64 = elements.entry(element).or_default();
                    *most = (*most).max(access.sums.ideal_sectors);
                }
            }
        }
        let ideal = elements.into_values().fold(ideal, u64::saturating_add).saturating_mul(SECTOR_BYTES);
        total(those.into_iter(), sectors).saturating_mul(bytes).saturating_sub(ideal)
    };
    of(true).saturating_add(of(false))
}

/// Sum of a figure over accesses.
fn total<'a>(accesses: impl Iterator<Item = &'a Access<'a>>, value: fn(&Sums) -> u64) -> u64 {
    accesses.fold(0u64, |sum, access| sum.saturating_add(value(&access.sums)))
}

impl Facts<'_> {
    /// Share of the time of all kernels that the saving wastes in one part of the GPU, however busy the others are: they
    /// may be cured, too. Of the requests where nothing is estimated.
    pub(super) fn waste(&self, kernel: &Kernel, saving: &Saving, otherwise: f64) -> f64 {
        match kernel.estimates.first() {
            Some(estimate) if self.kernel_seconds > 0.0 => saving.seconds(estimate) / self.kernel_seconds,
            _ => otherwise * self.kernel_share(kernel),
        }
    }

    /// The program's gain, if so many assumed seconds outside of kernels were saved.
    pub(super) fn program_gain(&self, seconds: f64) -> Option<Gain> {
        let total = self.kernel_seconds + self.copy_seconds;
        gain_of(total, total - seconds, total, "")
    }

    /// The kernel's gain, if it asked that much less.
    pub(super) fn gain(&self, kernel: &Kernel, saving: &Saving, assumption: &str) -> Option<Gain> {
        self.gain_for(kernel, saving, 0.0, assumption)
    }

    /// With what is saved in other kernels.
    pub(super) fn with_more(&self, gain: Gain, elsewhere: &[(&Kernel, &Saving)]) -> Gain {
        let more =
            elsewhere.iter().filter_map(|(kernel, saving)| Some((kernel, self.gain(kernel, saving, "")?.seconds)));
        let more: Vec<(&&Kernel, f64)> = more.collect();
        if more.is_empty() {
            return gain;
        }
        let names: Vec<String> = more.iter().map(|(kernel, _)| words::kernel(kernel)).collect();
        let seconds = more.iter().map(|(_, seconds)| seconds).sum();
        let mut gain = gain;
        push(&mut gain.assumption, &Remark::OtherKernels { time: Seconds(seconds), kernels: Names(names) });
        gain
    }

    /// The same where what takes its place takes so many seconds, beside all else.
    pub(super) fn gain_for(&self, kernel: &Kernel, saving: &Saving, instead: f64, assumption: &str) -> Option<Gain> {
        let estimate = kernel.estimates.first()?;
        let (now, then) = (slowest(estimate, &Saving::default()), slowest(estimate, saving));
        gain_of_kernel(kernel, now, then.max(instead), assumption)
    }

    /// The factor of that gain where a part of it is there already.
    pub(super) fn gain_besides(&self, kernel: &Kernel, already: &Saving, saving: &Saving, instead: f64) -> f64 {
        let Some(estimate) = kernel.estimates.first() else { return 1.0 };
        let then = slowest(estimate, saving).max(instead);
        if then > 0.0 { slowest(estimate, already) / then } else { 1.0 }
    }
}

/// Seconds of the limit that takes longest once this is saved.
fn slowest(estimate: &Estimate, saving: &Saving) -> f64 {
    let seconds = estimate.limits.iter().map(|limit| {
        let saved = saving.0.get(&limit.name[..]).copied().unwrap_or(0.0);
        limit.seconds * (1.0 - (saved / (limit.amount.max(1) as f64)).clamp(0.0, 1.0))
    });
    seconds.fold(0.0, f64::max)
}

/// Limits of what all SMs share: they are as fast with few SMs at work as with many.
pub(super) const OF_ALL_SMS: [&str; 4] = ["l2", "dram", "bus", "atomic_address"];

/// A gain is told with that time where it is at most this part of what it is without.
const MUCH_LESS: f64 = 0.8;

/// The gain of a kernel. Of launches so short that their start and latencies count, it is told with these, too: the estimate has none.
pub(super) fn gain_of_kernel(kernel: &Kernel, now: f64, then: f64, assumption: &str) -> Option<Gain> {
    let seconds = kernel.estimates.first()?.seconds;
    let mut gain = gain_of(now, then, seconds, assumption)?;
    let started = kernel.launch_count() as f64 * SECONDS_PER_LAUNCH;
    let with_start = (seconds + started) / (seconds / gain.factor + started);
    if with_start > MUCH_LESS * gain.factor {
        return Some(gain);
    }
    let start = Seconds(SECONDS_PER_LAUNCH);
    push(&mut gain.assumption, &Remark::WithStart { factor: Ratio(with_start), start });
    Some(gain)
}

/// Less is nothing that anybody changes a program for, nor could tell from chance.
const LEAST_FACTOR: f64 = 1.01;

/// From one time to another, of which the whole has `seconds`; `None` where nothing is gained.
pub(super) fn gain_of(now: f64, then: f64, seconds: f64, assumption: &str) -> Option<Gain> {
    // Nothing left would be no factor; the estimate knows no latencies.
    let factor = if then > 0.0 { now / then } else { return None };
    (factor >= LEAST_FACTOR).then(|| Gain {
        factor: digits(factor),
        seconds: digits(seconds * (1.0 - 1.0 / factor)),
        assumption: assumption.to_owned(),
    })
}

fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
