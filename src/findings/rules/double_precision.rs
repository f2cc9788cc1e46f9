//! Double precision on a GPU with few double-precision units, or double precision that the data does not require (CUDA
//! C++ Programming Guide, "Arithmetic Instructions").

use super::super::facts::precision::{Doubles, doubles};
use super::super::prelude::*;
use super::super::thresholds::arithmetic::*;

described! {
    enum Cause {
        Promotion => "promoted-to-double",
        Doubles => "double-arithmetic",
    }
    enum Remedy {
        FloatLiterals => "float-literals-and-functions",
        UseFloat => "use-float",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
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
    let saving = Saving::new("fp64", limit.amount as f64);
    let single = estimate.limits.iter().find(|limit| limit.name == "fp32").map_or(0.0, |limit| limit.seconds);
    let instead = single + limit.seconds / ratio;
    let Doubles { worst, .. } = doubles;
    let frame = Frame { function: String::new(), file: worst.file.clone(), line: worst.line, column: 0 };
    let draft = Draft::new(classify(&doubles, ratio, limit.seconds))
        .at_frame(Some(&frame))
        .of_kernel(kernel)
        .evidence("fp64_operations", doubles.all as f64)
        .evidence("fp64_seconds", limit.seconds)
        .evidence("fp32_per_fp64", ratio)
        .gain(facts.gain_for(kernel, &saving, instead))
        .score(facts.waste(kernel, &saving, doubles.on_worst));
    // If memory is slower, the time of the units is hidden.
    let is_hidden = draft.gain.is_none();
    Some(draft.note_if(is_hidden))
}

fn classify(doubles: &Doubles<'_>, ratio: f64, seconds: f64) -> Diagnosis {
    let mut diagnosis = match doubles.are_promoted {
        true => Diagnosis::new(&Cause::Promotion, &Remedy::FloatLiterals),
        false => Diagnosis::new(&Cause::Doubles, &Remedy::UseFloat),
    };
    let is_of_functions = doubles.of_functions >= MOSTLY_FUNCTIONS;
    let figures = &mut diagnosis.figures;
    figures.set("operations", Count(doubles.all));
    figures.set("share", Share(if is_of_functions { doubles.of_functions } else { doubles.on_worst }));
    figures.set("whose", Choice(u8::from(is_of_functions)));
    figures.set("ratio", Ratio(ratio.round()));
    figures.set("seconds", Seconds(seconds));
    diagnosis
}
