//! Block shapes that, according to the prediction, cause more traffic between L2 and DRAM than another shape with the
//! same number of threads.

use super::super::facts::launches::shape;
use super::super::facts::shapes::better;
use super::super::gain::gain_of_kernel;
use super::super::prelude::*;

described! {
    enum Cause {
        Traffic { block: Shown, best: Shown, factor: Ratio, moved: Bytes, least: Bytes } => "more-traffic-than-other-shape",
    }
    enum Remedy {
        ChangeShape { best: Shown } => "change-block-shape",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let better = better(facts, kernel)?;
    facts.estimate(kernel)?;
    let best = Shown(shape(better.block));
    let cause = Cause::Traffic {
        block: Shown(shape(better.recorded)),
        best: best.clone(),
        factor: Ratio(better.factor()),
        moved: Bytes(better.moved.0 as u64),
        least: Bytes(better.moved.1 as u64),
    };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::ChangeShape { best }))
        .at_launch(kernel)
        .object(Some(format!("block {}", shape(better.recorded))))
        .evidence("dram_bytes", better.moved.0)
        .evidence("best_dram_bytes", better.moved.1)
        .evidence("dram_factor", better.factor())
        .evidence("best_block_x", f64::from(better.block[0]))
        .evidence("best_block_y", f64::from(better.block[1]))
        .evidence("best_block_z", f64::from(better.block[2]))
        .gain(gain_of_kernel(kernel, better.gain, 1.0))
        .score((1.0 - 1.0 / better.gain) * facts.kernel_share(kernel));
    // The other shape was not measured.
    Some(draft.severity(Severity::Note))
}
