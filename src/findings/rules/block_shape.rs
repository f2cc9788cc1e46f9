//! Block shapes that move more data than another shape of as many threads would, by prediction: between L2 and DRAM, or between L1 and L2
//! where that is what limits the kernel.

use super::super::diagnosis::{Bytes, Choice, Diagnosis, Ratio, Shown, described};
use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::facts::launches::shape;
use super::super::facts::shapes::{Level, better};
use super::super::gain::gain_of_kernel;
use warpline_profile::model::{Kernel, Severity};

described! {
    pub(in super::super) enum Cause {
        /// More traffic than another shape.
        Traffic { block: Shown, best: Shown, factor: Ratio, moved: Bytes, least: Bytes, level: Choice } => "more-traffic-than-other-shape",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// Another shape; all addresses are known.
        ChangeShape { best: Shown, level: Choice } => "change-block-shape",
        /// The same, where some addresses are taken from the recorded launch.
        ChangeShapeAtLeast { best: Shown, level: Choice } => "change-block-shape-at-least",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let better = better(facts, kernel)?;
    facts.estimate(kernel)?;
    let (best, level) = (Shown(shape(better.block)), Choice(u8::from(better.level == Level::L2)));
    let cause = Cause::Traffic {
        block: Shown(shape(better.recorded)),
        best: best.clone(),
        factor: Ratio(better.factor()),
        moved: Bytes(better.moved.0 as u64),
        least: Bytes(better.moved.1 as u64),
        level,
    };
    let remedy = match better.at_least {
        true => Remedy::ChangeShapeAtLeast { best, level },
        false => Remedy::ChangeShape { best, level },
    };
    let bytes = match better.level {
        Level::Dram => ["dram_bytes", "best_dram_bytes", "dram_factor"],
        Level::L2 => ["l2_load_bytes", "best_l2_load_bytes", "l2_factor"],
    };
    let draft = Draft::of(Diagnosis::new(&cause, &remedy))
        .at_launch(kernel)
        .object(Some(format!("block {}", shape(better.recorded))))
        .evidence(bytes[0], better.moved.0)
        .evidence(bytes[1], better.moved.1)
        .evidence(bytes[2], better.factor())
        .evidence("best_block_x", f64::from(better.block[0]))
        .evidence("best_block_y", f64::from(better.block[1]))
        .evidence("best_block_z", f64::from(better.block[2]))
        .gain(gain_of_kernel(kernel, better.gain, 1.0, ""))
        .score((1.0 - 1.0 / better.gain) * facts.kernel_share(kernel));
    // The other shape was not run.
    Some(draft.severity(Severity::Note))
}
