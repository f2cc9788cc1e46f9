//! Block shapes that move more data than another shape of as many threads would, by prediction: between L2 and DRAM, or between L1 and L2
//! where that is what limits the kernel.

mod predicted;

pub(in crate::findings) use predicted::Better;
pub(super) use predicted::{Level, better};

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::gain::gain_of_kernel;
use super::super::words;
use super::partial_warps::{launch_line, shape};
use crate::profile::model::{Kernel, Severity};

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let better = better(facts, kernel)?;
    let (traffic, known) = match better.level {
        Level::Dram => ("the DRAM traffic", "the addresses that the compiler told"),
        Level::L2 if better.at_least => {
            ("the loads from L2", "the addresses that the compiler told, the others as they were")
        }
        Level::L2 => ("the loads from L2", "the addresses that the compiler told"),
    };
    let reason = format!(
        "blocks of {} threads fit this kernel worse than {} would: {:.1} times {traffic} ({} instead of {}), predicted from {known}",
        shape(better.recorded),
        shape(better.block),
        better.factor(),
        words::bytes(better.moved.0 as u64),
        words::bytes(better.moved.1 as u64),
    );
    let cure = format!(
        "launch blocks of {} and as many of them as cover the same indices; `warpline predict --kernel` tells what all shapes would do, \
         and `--check` runs some",
        shape(better.block)
    );
    facts.estimate(kernel)?;
    let mut assumption = match better.level {
        Level::Dram => {
            "caches that are empty when the kernel starts, and the instructions and registers of the launch as it was"
        }
        Level::L2 => "DRAM traffic, instructions and registers of the launch as it was",
    }
    .to_owned();
    if better.at_least {
        assumption.push_str("; at least, as accesses whose addresses are not known are counted as they were");
    }
    let draft = Draft::new(reason, cure).at_frame(launch_line(kernel)).of_kernel(kernel);
    let draft = if draft.line == 0 { draft.at_kernel(kernel) } else { draft };
    let bytes = match better.level {
        Level::Dram => ["dram_bytes", "best_dram_bytes", "dram_factor"],
        Level::L2 => ["l2_load_bytes", "best_l2_load_bytes", "l2_factor"],
    };
    let draft = draft
        .object(Some(format!("block {}", shape(better.recorded))))
        .evidence(bytes[0], better.moved.0)
        .evidence(bytes[1], better.moved.1)
        .evidence(bytes[2], better.factor())
        .evidence("best_block_x", f64::from(better.block[0]))
        .evidence("best_block_y", f64::from(better.block[1]))
        .evidence("best_block_z", f64::from(better.block[2]))
        .gain(gain_of_kernel(kernel, better.gain, 1.0, &assumption))
        .score((1.0 - 1.0 / better.gain) * facts.kernel_share(kernel));
    // Another shape was never run.
    Some(draft.severity(Severity::Note))
}
