//! Grids whose last wave of blocks fills few of the GPU's SMs, so that the other SMs are idle (Nsight Compute, "Tail
//! Effect" in the section on launch statistics).

use super::super::facts::launches::shape;
use super::super::gain::{OF_ALL_SMS, gain_of_kernel};
use super::super::prelude::*;
use super::super::thresholds::launches::*;

described! {
    enum Cause {
        PartialWave { blocks: Count, block: Shown, waves: Count, wave: Count, last: Count, empty: Share } => "partial-last-wave",
    }
    enum Remedy {
        WholeWaves => "whole-waves",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let launch = kernel.launches.first()?;
    let blocks: u64 = launch.grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let sms = u64::from(facts.rates?.sms);
    let wave = sms.saturating_mul(launch.resident_blocks.into());
    let estimate = facts.estimate(kernel)?;
    let limit = estimate.limits.iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    let of_time = facts.kernel_share(kernel);
    if wave == 0 || blocks <= wave || OF_ALL_SMS.contains(&&limit.name[..]) || of_time < LEAST_KERNEL_SHARE {
        return None;
    }
    let (waves, last) = (blocks.div_ceil(wave), (blocks - 1) % wave + 1);
    // Blocks that share an SM in the last wave run faster. Only the additional time of the SM with the most blocks is
    // certainly lost.
    let idle_of = |slots: u64| 1.0 - blocks as f64 / (blocks.div_ceil(slots) as f64 * slots as f64);
    let (empty, lost) = (idle_of(wave), idle_of(sms));
    if empty < LEAST_TAIL || lost < LEAST_LOST {
        return None;
    }
    let cause = Cause::PartialWave {
        blocks: Count(blocks),
        block: Shown(shape(launch.block)),
        waves: Count(waves),
        wave: Count(wave),
        last: Count(last),
        empty: Share(empty),
    };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::WholeWaves))
        .at_launch(kernel)
        .object(Some(format!("grid {}", shape(launch.grid))))
        .evidence("blocks", blocks as f64)
        .evidence("blocks_per_wave", wave as f64)
        .evidence("waves", waves as f64)
        .evidence("empty_share", empty)
        .gain(gain_of_kernel(kernel, 1.0, 1.0 - lost))
        .score(empty * of_time);
    // The estimate contains neither the duration of blocks nor kernels that run concurrently.
    Some(draft.severity(Severity::Note))
}
