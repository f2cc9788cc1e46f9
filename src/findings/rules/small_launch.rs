//! Launches with so few blocks that most SMs have none.

use super::super::diagnosis::{Choice, Count, Diagnosis, Share, described};
use super::super::draft::Draft;
use super::super::facts::launches::{Launches, Structure, is_next_to_nothing, is_together, shape};
use super::super::facts::{Facts, warps_of_block};
use super::super::thresholds::launches::{
    IDLE_WEIGHT, LEAST_IDLE, LEAST_IDLE_OF_STEPS, LEAST_KERNEL_SHARE, LEAST_LAUNCH_SECONDS, MANY_LAUNCHES,
};
use warpline_profile::model::{Kernel, Severity};
use warpline_profile::{SECONDS_PER_LAUNCH, library_call};

described! {
    pub(in super::super) enum Cause {
        /// Launches that write different memory.
        Independent { launches: Count, blocks: Count, sms: Count, share: Share } => "independent-launches",
        /// A last step in one block.
        LastStep { blocks: Count, sms: Count, share: Share } => "last-step",
        /// A grid-stride loop with few blocks.
        GridStride { blocks: Count, sms: Count, share: Share } => "few-blocks-of-grid-stride-loop",
        /// A block-stride loop with few blocks.
        BlockStride { blocks: Count, sms: Count, share: Share } => "few-blocks-of-block-stride-loop",
        /// A small grid.
        Few { blocks: Count, sms: Count, share: Share } => "few-blocks",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// One launch.
        AddGridDimension => "add-grid-dimension",
        /// The last block of the kernel before does it.
        LastBlock => "last-block-of-previous-kernel",
        /// As many blocks as there are SMs, at least.
        MoreBlocks => "launch-more-blocks",
        /// Several blocks for what one does.
        SplitBlockWork => "split-block-work",
        /// A larger problem, or more blocks.
        FillGpu { smaller: Choice } => "fill-gpu",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let launches = facts.profile.kernels.iter().filter_map(|kernel| Launches::new(facts, kernel));
    launches.filter(is_small).filter_map(|launches| draft(&launches)).collect()
}

fn is_small(launches: &Launches<'_>) -> bool {
    let &Launches { idle, each, structure, .. } = launches;
    let is_free = structure == Structure::GridStride && idle >= LEAST_IDLE_OF_STEPS && each >= LEAST_LAUNCH_SECONDS;
    launches.of_time >= LEAST_KERNEL_SHARE && !launches.are_starts() && (idle >= LEAST_IDLE || is_free)
}

/// Returns whether the change is worth its trouble: what takes less than its start is the size of a test, or as small as it should be.
fn is_worthwhile(launches: &Launches<'_>) -> bool {
    let &Launches { kernel, count, each, structure, .. } = launches;
    // A library takes as many blocks as the data needs.
    let is_few_calls = library_call(kernel).is_some() && count < MANY_LAUNCHES;
    !is_few_calls
        && match structure {
            Structure::Independent(_) => true,
            // A launch that another kernel could do is one less.
            Structure::LastStep => !is_next_to_nothing(kernel),
            _ => !is_next_to_nothing(kernel) && each >= SECONDS_PER_LAUNCH,
        }
}

fn diagnosis(launches: &Launches<'_>) -> Diagnosis {
    let (blocks, sms, share) = (Count(launches.blocks), Count(launches.sms), Share(launches.of_time));
    match launches.structure {
        Structure::Independent(_) => Diagnosis::new(
            &Cause::Independent { launches: Count(launches.count), blocks, sms, share },
            &Remedy::AddGridDimension,
        ),
        Structure::LastStep => Diagnosis::new(&Cause::LastStep { blocks, sms, share }, &Remedy::LastBlock),
        Structure::GridStride => Diagnosis::new(&Cause::GridStride { blocks, sms, share }, &Remedy::MoreBlocks),
        Structure::BlockStride => Diagnosis::new(&Cause::BlockStride { blocks, sms, share }, &Remedy::SplitBlockWork),
        Structure::Dependent | Structure::InPlace | Structure::Other => {
            let smaller = Choice(u8::from(!has_divisible_blocks(launches.kernel)));
            Diagnosis::new(&Cause::Few { blocks, sms, share }, &Remedy::FillGpu { smaller })
        }
    }
}

fn has_divisible_blocks(kernel: &Kernel) -> bool {
    warps_of_block(kernel) > 1 && !is_together(kernel)
}

fn draft(launches: &Launches<'_>) -> Option<Draft> {
    let &Launches { idle, of_time, each, structure, .. } = launches;
    if !is_worthwhile(launches) {
        return None;
    }
    let draft = Draft::of(diagnosis(launches))
        .at_launch(launches.kernel)
        .object(Some(format!("grid {}", shape(launches.grid))))
        .evidence("blocks", launches.blocks as f64)
        .evidence("sms", launches.sms as f64)
        .evidence("share_of_time", of_time)
        .gain(launches.gain_of_more_sms())
        .score(idle * of_time * IDLE_WEIGHT);
    let is_sure = match structure {
        Structure::Independent(_) => draft.gain.is_some(),
        Structure::GridStride | Structure::BlockStride => each >= LEAST_LAUNCH_SECONDS,
        _ => false,
    };
    Some(if is_sure { draft } else { draft.severity(Severity::Note) })
}
