//! Launches with so few blocks that most SMs have no block.

use super::super::facts::launches::{Launches, Structure, is_next_to_nothing, is_together, shape};
use super::super::prelude::*;
use super::super::thresholds::launches::*;
use warpline_profile::SECONDS_PER_LAUNCH;

described! {
    enum Cause {
        Independent => "independent-launches",
        LastStep => "last-step",
        GridStride => "few-blocks-of-grid-stride-loop",
        Few => "few-blocks",
    }
    enum Remedy {
        AddGridDimension => "add-grid-dimension",
        LastBlock => "last-block-of-previous-kernel",
        MoreBlocks => "launch-more-blocks",
        FillGpu { smaller: Choice } => "fill-gpu",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let launches = facts.profile.kernels.iter().filter_map(|kernel| Launches::new(facts, kernel));
    launches.filter(is_small).filter_map(|launches| draft(&launches)).collect()
}

fn is_small(launches: &Launches<'_>) -> bool {
    let &Launches { idle, each, structure, .. } = launches;
    let is_free = structure == Structure::GridStride && idle >= LEAST_IDLE_OF_STEPS && each >= LEAST_LAUNCH_SECONDS;
    launches.of_time >= LEAST_KERNEL_SHARE && !launches.are_starts() && (idle >= LEAST_IDLE || is_free)
}

/// Returns whether the change has a benefit. A launch that takes less time than its start is a small test, or does not
/// have enough work for more blocks.
fn is_worthwhile(launches: &Launches<'_>) -> bool {
    let &Launches { kernel, count, each, structure, .. } = launches;
    // A library chooses the number of blocks that the data needs.
    let is_few_calls = library_call(kernel).is_some() && count < MANY_LAUNCHES;
    !is_few_calls
        && match structure {
            Structure::Independent(_) => true,
            // If another kernel can do the work, one launch is saved.
            Structure::LastStep => !is_next_to_nothing(kernel),
            _ => !is_next_to_nothing(kernel) && each >= SECONDS_PER_LAUNCH,
        }
}

fn diagnosis(launches: &Launches<'_>) -> Diagnosis {
    let mut diagnosis = match launches.structure {
        Structure::Independent(_) => Diagnosis::new(&Cause::Independent, &Remedy::AddGridDimension),
        Structure::LastStep => Diagnosis::new(&Cause::LastStep, &Remedy::LastBlock),
        Structure::GridStride => Diagnosis::new(&Cause::GridStride, &Remedy::MoreBlocks),
        Structure::Dependent | Structure::Other => {
            let smaller = Choice(u8::from(!has_divisible_blocks(launches.kernel)));
            Diagnosis::new(&Cause::Few, &Remedy::FillGpu { smaller })
        }
    };
    let figures = &mut diagnosis.figures;
    figures.set("launches", Count(launches.count));
    figures.set("blocks", Count(launches.blocks));
    figures.set("sms", Count(launches.sms));
    figures.set("share", Share(launches.of_time));
    diagnosis
}

fn has_divisible_blocks(kernel: &Kernel) -> bool {
    warps_of_block(kernel) > 1 && !is_together(kernel)
}

fn draft(launches: &Launches<'_>) -> Option<Draft> {
    let &Launches { idle, of_time, each, structure, .. } = launches;
    if !is_worthwhile(launches) {
        return None;
    }
    let draft = Draft::new(diagnosis(launches))
        .at_launch(launches.kernel)
        .object(Some(format!("grid {}", shape(launches.grid))))
        .evidence("blocks", launches.blocks as f64)
        .evidence("sms", launches.sms as f64)
        .evidence("share_of_time", of_time)
        .gain(launches.gain_of_more_sms())
        .score(idle * of_time * IDLE_WEIGHT);
    let is_sure = match structure {
        Structure::Independent(_) => draft.gain.is_some(),
        Structure::GridStride => each >= LEAST_LAUNCH_SECONDS,
        _ => false,
    };
    Some(draft.note_if(!is_sure))
}
