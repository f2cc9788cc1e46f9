//! Kernels on which one rank of a job works much longer than the other ranks.

use super::super::prelude::*;
use super::super::thresholds::launches::*;
use super::super::words;
use warpline_profile::model::RankSpread;

/// Figure with the estimated time. Without estimates, another figure represents most of the work.
const TIME: &str = "estimate.picoseconds";
const WORK: [&str; 2] = ["global.sectors", "shared.wavefronts"];

described! {
    enum Cause {
        SlowRank {
            rank: Shown, node: Option<Name>, factor: Ratio, figure: Shown, most: Shown, mean: Shown, ranks: Count, absent: Option<Count>,
        } => "rank-above-mean",
    }
    enum Remedy {
        Balance => "balance-work",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let Some(ranks) = facts.profile.run.merged.as_ref().and_then(|merged| merged.ranks.as_ref()) else {
        return Vec::new();
    };
    let size = |[first, last]: &[u32; 2]| u64::from(last.saturating_sub(*first)) + 1;
    let present = ranks.present.iter().map(size).total();
    if present < 2 {
        return Vec::new();
    }
    let kernels = || facts.profile.kernels.iter();
    let is_timed = kernels().any(|kernel| kernel.over_ranks.contains_key(TIME));
    let figures = if is_timed { &[TIME][..] } else { &WORK };
    let found = figures.iter().map(|figure| {
        let all: f64 = kernels().filter_map(|kernel| kernel.over_ranks.get(*figure)).map(total).sum();
        kernels().filter_map(|kernel| draft(facts, kernel, figure, present, all)).collect::<Vec<Draft>>()
    });
    found.into_iter().find(|drafts| !drafts.is_empty()).unwrap_or_default()
}

fn total(spread: &RankSpread) -> f64 {
    spread.sum.0 as f64
}

/// Creates the finding for a kernel. `all` is the sum of the figure over all kernels and ranks.
fn draft(facts: &Facts<'_>, kernel: &Kernel, figure: &str, present: u64, all: f64) -> Option<Draft> {
    let spread = kernel.over_ranks.get(figure)?;
    // A rank that does not execute the kernel waits for the ranks that execute it.
    let mean = total(spread) / present as f64;
    let most = spread.max as f64;
    if !(mean > 0.0 && all > 0.0) || most < LEAST_RANK_FACTOR * mean {
        return None;
    }
    let share = (most - mean) / (all / present as f64);
    if share < LEAST_RANK_SHARE {
        return None;
    }
    let (what, amount): (&str, fn(f64) -> String) = match figure {
        TIME => ("estimated time", |picoseconds| words::time(picoseconds * 1e-12)),
        "shared.wavefronts" => ("shared-memory wavefronts", |count| words::count(count as u64)),
        _ => ("sectors of global memory", |count| words::count(count as u64)),
    };
    let factor = most / mean;
    let cause = Cause::SlowRank {
        rank: Shown(spread.max_rank.to_string()),
        node: node(facts, spread.max_rank).map(|node| Name(node.to_owned())),
        factor: Ratio(factor),
        figure: Shown(what.to_owned()),
        most: Shown(amount(most)),
        mean: Shown(amount(mean)),
        ranks: Count(present),
        absent: present.checked_sub(spread.ranks).filter(|&absent| absent > 0).map(Count),
    };
    let gain = (figure == TIME).then(|| Gain {
        factor: warpline_profile::nine_digits(1.0 / (1.0 - (share / (1.0 + share)).min(0.99))),
        seconds: warpline_profile::nine_digits((most - mean) * 1e-12),
        assumption: String::new(),
    });
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::Balance))
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

/// Returns the node of a rank. If there is only one node, its name is omitted.
fn node<'a>(facts: &Facts<'a>, rank: u32) -> Option<&'a str> {
    let nodes = &facts.profile.run.environment.nodes;
    let has = |ranks: &[[u32; 2]]| ranks.iter().any(|[first, last]| (*first..=*last).contains(&rank));
    nodes.iter().filter(|_| nodes.len() > 1).find(|(_, ranks)| has(ranks)).map(|(node, _)| node.as_str())
}
