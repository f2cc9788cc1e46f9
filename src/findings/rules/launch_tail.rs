//! Grids whose last wave of blocks fills few of the GPU's SMs: the rest waits for it (Nsight Compute, "Tail Effect" of its section
//! on launch statistics).

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::gain::{OF_ALL_SMS, gain_of_kernel};
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::profile::model::{Kernel, Severity};

/// Least share of a kernel's time in which the last wave leaves SMs idle, were all blocks of one length.
const LEAST_TAIL: f64 = 0.2;
/// Least share of the time in which an SM has nothing to do, since another has a block more.
const LEAST_LOST: f64 = 0.1;
/// Least share of the kernel in the time of all.
const LEAST_SHARE: f64 = 0.1;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let launch = kernel.launches.first()?;
    let blocks: u64 = launch.grid.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul);
    let wave = u64::from(facts.rates?.sms) * u64::from(launch.resident_blocks);
    let estimate = facts.estimate(kernel)?;
    let limit = estimate.limits.iter().max_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    if wave == 0 || blocks <= wave || OF_ALL_SMS.contains(&&limit.name[..]) || facts.kernel_share(kernel) < LEAST_SHARE
    {
        return None;
    }
    let (waves, last) = (blocks.div_ceil(wave), (blocks - 1) % wave + 1);
    let tail = 1.0 - blocks as f64 / (waves * wave) as f64;
    if tail < LEAST_TAIL {
        return None;
    }
    // Blocks that share an SM in the last wave are done sooner: what one SM does more than the others is what is lost for sure.
    let sms = u64::from(facts.rates?.sms);
    let busiest = blocks.div_ceil(sms) * sms;
    let lost = 1.0 - blocks as f64 / busiest as f64;
    if lost < LEAST_LOST {
        return None;
    }
    let reason = format!(
        "{} of {} threads make {waves} waves of {wave} that the GPU holds at a time, and the last wave has {last}: if all blocks take \
         as long, {} of the GPU's room for blocks stays empty",
        words::several(blocks, "block", "blocks"),
        shape(launch.block),
        words::percent(tail),
    );
    let cure = "choose the number of blocks as a multiple of what the GPU holds (cudaOccupancyMaxActiveBlocksPerMultiprocessor times its SMs) \
                and let each walk over its share of the data, or use smaller blocks, whose last wave is shorter";
    let gain = gain_of_kernel(
        kernel,
        1.0,
        1.0 - lost,
        "blocks of one length, as many on each SM, and SMs that are as fast with few blocks as with many",
    );
    let draft = Draft::new(reason, cure).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let draft = draft
        .object(Some(format!("grid {}", shape(launch.grid))))
        .evidence("blocks", blocks as f64)
        .evidence("blocks_per_wave", wave as f64)
        .evidence("waves", waves as f64)
        .evidence("empty_share", tail)
        .gain(gain)
        .score(tail * facts.kernel_share(kernel));
    // The estimate knows neither how long blocks take nor what else runs meanwhile.
    Some(draft.severity(Severity::Note))
}
