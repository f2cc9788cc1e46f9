//! Registers that ptxas spills to local memory in code without instrumentation.

use super::super::prelude::*;
use super::super::thresholds::local_memory::*;

described! {
    enum Cause {
        RegisterMaximum { spilled: Bytes, registers: Option<Count> } => "register-maximum-reached",
        RegisterLimit { spilled: Bytes, registers: Option<Count> } => "register-limit-reached",
    }
    enum Remedy {
        ReduceLiveValues => "fewer-live-values",
        AllowRegisters => "allow-more-registers",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter(|kernel| kernel.spill_bytes > 0).map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Draft {
    let registers = kernel.launches.first().map_or(0, |launch| launch.registers);
    let (spilled, known) = (Bytes(kernel.spill_bytes.into()), (registers > 0).then_some(Count(registers.into())));
    let diagnosis = if registers >= MOST_REGISTERS {
        Diagnosis::new(&Cause::RegisterMaximum { spilled, registers: known }, &Remedy::ReduceLiveValues)
    } else {
        Diagnosis::new(&Cause::RegisterLimit { spilled, registers: known }, &Remedy::AllowRegisters)
    };
    let share = facts.kernel_share(kernel);
    let draft = Draft::new(diagnosis)
        .at_kernel(kernel)
        .evidence("spill_bytes", kernel.spill_bytes.into())
        .evidence("registers", registers.into());
    if kernel.spill_bytes >= LEAST_SPILL_BYTES && share >= LEAST_SPILL_SHARE {
        // Spills in a loop cost more than the number of bytes indicates, and the positions of the spills are unknown.
        return Draft { score: SCORE_OF_SPILLS * share, ..draft.severity(Severity::Warning) };
    }
    draft
}
