//! Adds estimates of launches.

use super::metrics::{under, whole};
use super::open;
use warpline_profile::model::{Estimate, EstimateExact, Limit, Wide};
use warpline_profile::nine_digits;

/// Adds times and amounts of launches. Another unit may then be the slowest, which [`settle`] determines. Times are
/// added in femtoseconds, so that the order does not matter.
pub(in crate::merge) fn add(sum: &mut Estimate, more: &Estimate) {
    let mut ours = sum.exact.take().unwrap_or_else(|| exact(sum));
    let add = |to: &mut std::collections::BTreeMap<String, Wide>, name: &str, time: Wide| {
        under(to, name, |sum| *sum = sum.plus(time));
    };
    match &more.exact {
        Some(theirs) => {
            ours.femtoseconds = ours.femtoseconds.plus(theirs.femtoseconds);
            theirs.limits.iter().for_each(|(name, time)| add(&mut ours.limits, name, *time));
            theirs.ideal.iter().for_each(|(name, time)| add(&mut ours.ideal, name, *time));
        }
        None => {
            ours.femtoseconds = ours.femtoseconds.plus(femtoseconds(more.seconds));
            more.limits.iter().for_each(|limit| add(&mut ours.limits, &limit.name, femtoseconds(limit.seconds)));
            add(&mut ours.ideal, &more.ideal.limiter, femtoseconds(more.ideal.seconds));
        }
    }
    (sum.exact, sum.seconds) = (Some(ours), open::LATER);
    sum.launches = sum.launches.saturating_add(more.launches);
    let (bytes, added) = (&mut sum.bytes, &more.bytes);
    bytes.l1 = bytes.l1.saturating_add(added.l1);
    bytes.l2 = bytes.l2.saturating_add(added.l2);
    bytes.dram = bytes.dram.saturating_add(added.dram);
    bytes.bus = bytes.bus.saturating_add(added.bus);
    for limit in &more.limits {
        match sum.limits.iter_mut().find(|one| one.name == limit.name) {
            Some(Limit { amount, .. }) => *amount = amount.saturating_add(limit.amount),
            None => sum.limits.push(limit.clone()),
        }
    }
    for name in &more.unknown {
        if !sum.unknown.contains(name) {
            sum.unknown.push(name.clone());
        }
    }
}

/// Computes the values that follow from an estimate's sums.
pub(in crate::merge) fn settle(sum: &mut Estimate) {
    let Some(exact) = sum.exact.as_ref().filter(|_| open::is_open(sum.seconds)) else { return };
    sum.seconds = seconds(exact.femtoseconds);
    let time = |name: &str| exact.limits.get(name).copied().unwrap_or_default();
    for limit in &mut sum.limits {
        limit.seconds = seconds(time(&limit.name));
    }
    sum.limits.sort_by(|one, other| time(&other.name).cmp(&time(&one.name)).then_with(|| one.name.cmp(&other.name)));
    if let Some(slowest) = sum.limits.first() {
        sum.limiter.clone_from(&slowest.name);
    }
    sum.unknown.sort();
    sum.unknown.dedup();
    let ideal = &mut sum.ideal;
    // Selects the limit with the longest time; among equal ones, the first by name.
    let longest = exact.ideal.iter().max_by(|one, other| one.1.cmp(other.1).then_with(|| other.0.cmp(one.0)));
    if let Some((limiter, _)) = longest {
        ideal.limiter.clone_from(limiter);
    }
    ideal.seconds = seconds(exact.ideal.values().fold(Wide(0), |sum, time| sum.plus(*time)));
    ideal.gain = nine_digits(if ideal.seconds > 0.0 { sum.seconds / ideal.seconds } else { 1.0 });
}

fn femtoseconds(seconds: f64) -> Wide {
    Wide(whole(seconds * 1e15))
}

/// Returns the times of a run's estimate in whole femtoseconds.
fn exact(estimate: &Estimate) -> EstimateExact {
    let limits = estimate.limits.iter().map(|limit| (limit.name.clone(), femtoseconds(limit.seconds)));
    EstimateExact {
        femtoseconds: femtoseconds(estimate.seconds),
        limits: limits.collect(),
        ideal: [(estimate.ideal.limiter.clone(), femtoseconds(estimate.ideal.seconds))].into(),
    }
}

fn seconds(femtoseconds: Wide) -> f64 {
    nine_digits(femtoseconds.0 as f64 / 1e15)
}
