//! Gains of remedies, computed with the bottleneck estimate.

use std::collections::BTreeMap;

use super::facts::address::{TermsAndOffset, terms_and_offset};
use super::phrase::{Phrase, push};
use super::prelude::*;
use super::words;
use warpline_profile::SECONDS_PER_LAUNCH;

/// Limits of resources that all SMs share. Their speed does not depend on the number of active SMs.
pub(super) const OF_ALL_SMS: [&str; 4] = ["l2", "dram", "bus", "atomic_address"];
/// Maximum ratio of the gain with launch start costs to the gain without them, for the report to state both. Policy.
const MUCH_LESS: f64 = 0.8;
/// Minimum factor of a gain. Policy: smaller gains cannot be measured.
const LEAST_FACTOR: f64 = 1.01;

/// Amounts that a kernel needs less, by name of the limit and in its unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Saving(BTreeMap<&'static str, f64>);

impl Saving {
    /// Creates the saving of an amount of one limit.
    pub(super) fn new(limit: &'static str, amount: f64) -> Saving {
        Saving(BTreeMap::from([(limit, amount)]))
    }

    pub(super) fn and(mut self, other: Saving) -> Saving {
        for (limit, amount) in other.0 {
            *self.0.entry(limit).or_default() += amount;
        }
        self
    }

    /// Returns the largest amount.
    pub(super) fn most(&self) -> f64 {
        self.0.values().copied().fold(0.0, f64::max)
    }

    /// Returns the saving, scaled by a factor.
    pub(super) fn times(mut self, part: f64) -> Saving {
        self.0.values_mut().for_each(|amount| *amount *= part);
        self
    }

    /// Returns the saving in L1 if the accesses made no requests.
    pub(super) fn without_requests(accesses: &[&Access<'_>]) -> Saving {
        let sum = |value: fn(&Sums) -> u64| total(accesses, value) as f64;
        Saving(BTreeMap::from([
            ("l1_tag", sum(|sums| sums.stages.tag)),
            ("l1_data", sum(|sums| sums.stages.data)),
            ("l1_lanes", sum(|sums| sums.stages.words.saturating_mul(32))),
        ]))
    }

    /// Returns the saving if the accesses made no requests, including their traffic below L1.
    pub(super) fn without_traffic(accesses: &[&Access<'_>]) -> Saving {
        let bytes = |value: fn(&Sums) -> u64| total(accesses, value).saturating_mul(SECTOR_BYTES) as f64;
        Saving::without_requests(accesses)
            .and(Saving::new("l2", bytes(|sums| sums.l2_lookups)))
            .and(Saving::new("dram", bytes(Sums::dram)))
    }

    /// Returns the saving if the accesses touched only the sectors that their bytes fill, and their words were in
    /// different banks. Accesses to one structure share sectors: the first access loads a sector, and the others hit.
    /// Therefore, the unused bytes are computed over all these accesses and their siblings.
    pub(super) fn by_coalescing(accesses: &[&Access<'_>], facts: &Facts<'_>) -> Saving {
        let sum = |value: fn(&Sums) -> u64| total(accesses, value) as f64;
        let siblings = siblings(accesses, facts);
        let beyond = |sectors: fn(&Sums) -> u64, bytes: u64| {
            unused(accesses, sectors, bytes).min(unused(&siblings, sectors, bytes)) as f64
        };
        Saving(BTreeMap::from([
            ("l1_tag", sum(|sums| sums.stages.tag.saturating_sub(sums.stages.tag.min(sums.requests)))),
            ("l1_data", sum(|sums| sums.stages.data.saturating_sub(sums.stages.ideal_data))),
            ("l2", beyond(|sums| sums.l2_lookups, facts.l2_lookup_bytes())),
            ("dram", beyond(Sums::dram, SECTOR_BYTES)),
        ]))
    }

    /// Returns the seconds of the limit whose time shrinks most, independent of the other limits.
    fn seconds(&self, estimate: &Estimate) -> f64 {
        let each = estimate.limits.iter().filter_map(|limit| {
            let saved = self.0.get(&limit.name[..])?;
            Some(limit.seconds * (saved / (limit.amount.max(1) as f64)).clamp(0.0, 1.0))
        });
        each.fold(0.0, f64::max)
    }

    /// Returns the seconds of the slowest limit after the saving.
    fn slowest(&self, estimate: &Estimate) -> f64 {
        let seconds = estimate.limits.iter().map(|limit| {
            let saved = self.0.get(&limit.name[..]).copied().unwrap_or(0.0);
            limit.seconds * (1.0 - (saved / (limit.amount.max(1) as f64)).clamp(0.0, 1.0))
        });
        seconds.fold(0.0, f64::max)
    }
}

/// Returns the accesses, and their siblings: accesses with the same operation to the same data at other offsets of a
/// record, whose length is the stride. Sector bytes that siblings use are not wasted.
fn siblings<'f, 'a>(accesses: &[&'f Access<'a>], facts: &'f Facts<'a>) -> Vec<&'f Access<'a>> {
    let all_terms: Vec<Option<TermsAndOffset>> = accesses.iter().map(|access| terms_and_offset(access)).collect();
    let shares_record = |one: &Access<'a>, access: &Access<'a>, own: &Option<TermsAndOffset>| {
        let (Some((terms, at)), Some((own, own_at))) = (terms_and_offset(one), own) else { return false };
        let stride = access.pattern.stride_bytes.map_or(0, i64::unsigned_abs);
        terms == *own && at.abs_diff(*own_at) < stride
    };
    let is_sibling = |one: &&Access<'a>| {
        accesses.iter().zip(&all_terms).any(|(access, own)| {
            (access.kernel.id, access.op, access.allocation) == (one.kernel.id, one.op, one.allocation)
                && access.allocation.is_some()
                && shares_record(one, access, own)
        })
    };
    let others = facts.accesses.iter().filter(|one| !accesses.iter().any(|own| std::ptr::eq(*own, *one)));
    accesses.iter().copied().chain(others.filter(is_sibling)).collect()
}

/// Returns the bytes of sectors that accesses load or store beyond their data. Loads that hit sectors of other accesses
/// cause no traffic below L1, so they do not explain sectors of stores. An element that several accesses load counts
/// once.
fn unused(accesses: &[&Access<'_>], sectors: fn(&Sums) -> u64, bytes: u64) -> u64 {
    let of = |loads: bool| {
        let those: Vec<&Access<'_>> = accesses.iter().copied().filter(|access| access.is_load() == loads).collect();
        let mut elements: BTreeMap<_, u64> = BTreeMap::new();
        for (number, access) in those.iter().enumerate() {
            let terms = terms_and_offset(access);
            let alone = terms.is_none().then_some(number);
            let most = elements.entry((access.allocation, terms, alone)).or_default();
            *most = (*most).max(access.sums.ideal_sectors);
        }
        let ideal = elements.into_values().total().saturating_mul(SECTOR_BYTES);
        total(&those, sectors).saturating_mul(bytes).saturating_sub(ideal)
    };
    of(true).saturating_add(of(false))
}

/// Returns the sum of a figure over accesses.
pub(super) fn total(accesses: &[&Access<'_>], value: fn(&Sums) -> u64) -> u64 {
    accesses.iter().map(|access| value(&access.sums)).total()
}

impl Facts<'_> {
    /// Returns the share of the time of all kernels that the saving wastes in one limit. Other limits are ignored,
    /// because they may be remedied as well. Without an estimate, the share is computed from requests.
    pub(super) fn waste(&self, kernel: &Kernel, saving: &Saving, otherwise: f64) -> f64 {
        match kernel.estimates.first() {
            Some(estimate) if self.kernel_seconds > 0.0 => saving.seconds(estimate) / self.kernel_seconds,
            _ => otherwise * self.kernel_share(kernel),
        }
    }

    /// Returns the program's gain if this many assumed seconds outside of kernels were saved.
    pub(super) fn program_gain(&self, seconds: f64) -> Option<Gain> {
        let total = self.kernel_seconds + self.copy_seconds;
        gain_of(total, total - seconds, total)
    }

    /// Returns the kernel's gain with the saving.
    pub(super) fn gain(&self, kernel: &Kernel, saving: &Saving) -> Option<Gain> {
        self.gain_for(kernel, saving, 0.0)
    }

    /// Returns the kernel's gain with the saving, including the savings in other kernels.
    pub(super) fn gain_with_others(
        &self,
        kernel: &Kernel,
        saving: &Saving,
        others: &[(&Kernel, &Saving)],
    ) -> Option<Gain> {
        let mut gain = self.gain(kernel, saving)?;
        let more = others.iter().filter_map(|(kernel, saving)| Some((kernel, self.gain(kernel, saving)?.seconds)));
        let (names, seconds): (Vec<String>, Vec<f64>) =
            more.map(|(kernel, seconds)| (words::kernel(kernel), seconds)).unzip();
        if !names.is_empty() {
            let time = Seconds(seconds.iter().sum());
            push(&mut gain.assumption, &Phrase::OtherKernels { time, kernels: Names(names) });
        }
        Some(gain)
    }

    /// Returns the kernel's gain if the replacement takes `instead` seconds in parallel with all limits.
    pub(super) fn gain_for(&self, kernel: &Kernel, saving: &Saving, instead: f64) -> Option<Gain> {
        let estimate = kernel.estimates.first()?;
        gain_of_kernel(kernel, Saving::default().slowest(estimate), saving.slowest(estimate).max(instead))
    }

    /// Returns the factor of this gain if a part of the saving already exists.
    pub(super) fn gain_besides(&self, kernel: &Kernel, already: &Saving, saving: &Saving, instead: f64) -> f64 {
        let Some(estimate) = kernel.estimates.first() else { return 1.0 };
        let then = saving.slowest(estimate).max(instead);
        if then > 0.0 { already.slowest(estimate) / then } else { 1.0 }
    }
}

/// Returns the gain of a kernel. If launches are so short that start costs and latencies matter, the gain is also
/// stated with these costs, because the estimate does not contain them.
pub(super) fn gain_of_kernel(kernel: &Kernel, now: f64, then: f64) -> Option<Gain> {
    let seconds = kernel.estimates.first()?.seconds;
    let mut gain = gain_of(now, then, seconds)?;
    let started = kernel.launch_count() as f64 * SECONDS_PER_LAUNCH;
    let with_start = (seconds + started) / (seconds / gain.factor + started);
    if with_start <= MUCH_LESS * gain.factor {
        let start = Seconds(SECONDS_PER_LAUNCH);
        push(&mut gain.assumption, &Phrase::WithStart { factor: Ratio(with_start), start });
    }
    Some(gain)
}

/// Returns the gain from `now` to `then`, for a total of `seconds`; `None` if there is no gain.
pub(super) fn gain_of(now: f64, then: f64, seconds: f64) -> Option<Gain> {
    // A remaining time of zero has no factor, because the estimate contains no latencies.
    let factor = if then > 0.0 { now / then } else { return None };
    let digits = |value: f64| format!("{value:.3e}").parse().unwrap_or(value);
    (factor >= LEAST_FACTOR).then(|| Gain {
        factor: digits(factor),
        seconds: digits(seconds * (1.0 - 1.0 / factor)),
        assumption: String::new(),
    })
}
