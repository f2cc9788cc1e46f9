//! Double precision on a GPU that has few units for it, or where nothing asks for it (CUDA C++ Programming Guide, "Arithmetic
//! Instructions").

use super::super::diagnosis::{Choice, Count, Diagnosis, Ratio, Seconds, Share, described};
use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::facts::precision::{Doubles, doubles};
use super::super::gain::Saving;
use super::super::thresholds::arithmetic::{FEW_DOUBLE_UNITS, LEAST_BUSY, LEAST_BUSY_OF_MANY, MOSTLY_FUNCTIONS};
use warpline_profile::model::{Frame, Kernel, Severity};

described! {
    pub(in super::super) enum Cause {
        /// The kernel's data is single precision: constants, functions or variables promote it.
        Promotion { operations: Count, share: Share, whose: Choice, ratio: Ratio, seconds: Seconds } => "promoted-to-double",
        /// The kernel's data is double precision.
        Doubles { operations: Count, share: Share, whose: Choice, ratio: Ratio, seconds: Seconds } => "double-arithmetic",
    }
}

described! {
    pub(in super::super) enum Remedy {
        FloatLiterals => "float-literals-and-functions",
        UseFloat => "use-float",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let rates = facts.rates?;
    let ratio = rates.fp32? / rates.fp64?;
    let estimate = facts.estimate(kernel)?;
    let limit = estimate.limits.iter().find(|limit| limit.name == "fp64")?;
    let slowest = estimate.limits.first()?.seconds;
    let has_few = ratio >= FEW_DOUBLE_UNITS;
    let least_busy = if has_few { LEAST_BUSY } else { LEAST_BUSY_OF_MANY };
    if slowest <= 0.0 || limit.seconds / slowest < least_busy {
        return None;
    }
    let doubles = doubles(facts, kernel).filter(|doubles| has_few || doubles.are_promoted)?;
    let saving = Saving::of("fp64", limit.amount as f64);
    let single = estimate.limits.iter().find(|limit| limit.name == "fp32").map_or(0.0, |limit| limit.seconds);
    let instead = single + limit.seconds / ratio;
    let Doubles { worst, .. } = doubles;
    let frame = Frame { function: String::new(), file: worst.file.clone(), line: worst.line, column: 0 };
    let draft = Draft::of(classify(&doubles, ratio, limit.seconds))
        .at_frame(Some(&frame))
        .of_kernel(kernel)
        .evidence("fp64_operations", doubles.all as f64)
        .evidence("fp64_seconds", limit.seconds)
        .evidence("fp32_per_fp64", ratio)
        .gain(facts.gain_for(kernel, &saving, instead, ""))
        .score(facts.waste(kernel, &saving, doubles.on_worst));
    // Where memory takes longer, the units keep up.
    Some(if draft.gain.is_none() { draft.severity(Severity::Note) } else { draft })
}

fn classify(doubles: &Doubles<'_>, ratio: f64, seconds: f64) -> Diagnosis {
    let (operations, ratio, seconds) = (Count(doubles.all), Ratio(ratio.round()), Seconds(seconds));
    let (share, whose) = match doubles.of_functions >= MOSTLY_FUNCTIONS {
        true => (Share(doubles.of_functions), Choice(1)),
        false => (Share(doubles.on_worst), Choice(0)),
    };
    if doubles.are_promoted {
        Diagnosis::new(&Cause::Promotion { operations, share, whose, ratio, seconds }, &Remedy::FloatLiterals)
    } else {
        Diagnosis::new(&Cause::Doubles { operations, share, whose, ratio, seconds }, &Remedy::UseFloat)
    }
}
