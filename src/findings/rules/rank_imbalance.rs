//! Kernels on which one rank of a job works much longer than the others do.

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::words;
use crate::profile::model::{Gain, Kernel, RankSpread};

/// From this factor of the mean on a rank stands out.
const LEAST_FACTOR: f64 = 1.25;
/// Least share of the time that the slowest rank loses the others, in the mean rank's time for all kernels.
const LEAST_SHARE: f64 = 0.02;
/// Estimated time; without estimates what tells most of the work.
const TIME: &str = "estimate.picoseconds";
const WORK: [&str; 2] = ["global.sectors", "shared.wavefronts"];

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let Some(ranks) = facts.profile.run.merged.as_ref().and_then(|merged| merged.ranks.as_ref()) else {
        return Vec::new();
    };
    let present: u64 = ranks.present.iter().map(|[first, last]| u64::from(last.saturating_sub(*first)) + 1).sum();
    if present < 2 {
        return Vec::new();
    }
    let timed = facts.profile.kernels.iter().any(|kernel| kernel.over_ranks.contains_key(TIME));
    let mut drafts = Vec::new();
    for figure in if timed { &[TIME][..] } else { &WORK } {
        let all: f64 =
            facts.profile.kernels.iter().filter_map(|kernel| kernel.over_ranks.get(*figure)).map(total).sum();
        let kernels = facts.profile.kernels.iter();
        let found: Vec<Draft> = kernels.filter_map(|kernel| draft(facts, kernel, figure, present, all)).collect();
        if !found.is_empty() {
            drafts = found;
            break;
        }
    }
    drafts
}

fn total(spread: &RankSpread) -> f64 {
    spread.sum.0 as f64
}

/// `all` is the figure of all kernels and ranks.
fn draft(facts: &Facts<'_>, kernel: &Kernel, figure: &str, present: u64, all: f64) -> Option<Draft> {
    let spread = kernel.over_ranks.get(figure)?;
    // A rank that has the kernel not at all has waited for those that have it.
    let mean = total(spread) / present as f64;
    let most = spread.max as f64;
    if !(mean > 0.0 && all > 0.0) || most < LEAST_FACTOR * mean {
        return None;
    }
    let share = (most - mean) / (all / present as f64);
    if share < LEAST_SHARE {
        return None;
    }
    let (what, amount): (&str, fn(f64) -> String) = match figure {
        TIME => ("estimated time", |picoseconds| words::time(picoseconds * 1e-12)),
        "shared.wavefronts" => ("shared-memory passes", |count| words::count(count as u64)),
        _ => ("sectors of global memory", |count| words::count(count as u64)),
    };
    let factor = most / mean;
    let node = node(facts, spread.max_rank).map_or(String::new(), |node| format!(" on {node}"));
    let without = match present.saturating_sub(spread.ranks) {
        0 => String::new(),
        absent => format!("; {absent} of the {present} ranks have it not at all"),
    };
    let reason = format!(
        "rank {}{node} has {factor:.2} times the mean of {what} in this kernel ({}, mean {} of {present} ranks{without}): where ranks wait for each \
         other, all of them take as long as it does",
        spread.max_rank,
        amount(most),
        amount(mean),
    );
    let cure = "give each rank the same share of this kernel's work: divide what costs (nonzeros, particles, cells that are active) instead \
                of rows or cells, or hand work on from rank to rank while the program runs";
    let gain = (figure == TIME).then(|| Gain {
        factor: crate::profile::nine_digits(1.0 / (1.0 - (share / (1.0 + share)).min(0.99))),
        seconds: crate::profile::nine_digits((most - mean) * 1e-12),
        assumption: "ranks wait for the slowest one, and each has the mean's work then".to_owned(),
    });
    let draft = Draft::new(reason, cure)
        .at_kernel(kernel)
        .evidence("factor", factor)
        .evidence("max_rank", f64::from(spread.max_rank))
        .evidence("min_rank", f64::from(spread.min_rank))
        .evidence("max", most)
        .evidence("mean", mean)
        .evidence("ranks", present as f64)
        .evidence("ranks_with_kernel", spread.ranks as f64)
        .evidence("wasted_share", share / (1.0 + share))
        .gain(gain)
        .score(share / (1.0 + share));
    Some(draft)
}

/// The node of a rank.
fn node<'a>(facts: &Facts<'a>, rank: u32) -> Option<&'a str> {
    let nodes = &facts.profile.run.environment.nodes;
    let has = |ranks: &[[u32; 2]]| ranks.iter().any(|[first, last]| (*first..=*last).contains(&rank));
    // One node for all says nothing.
    if nodes.len() < 2 {
        return None;
    }
    nodes.iter().find(|(_, ranks)| has(ranks)).map(|(node, _)| node.as_str())
}
