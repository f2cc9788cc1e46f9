//! Registers that ptxas spills to local memory, of the code without hooks.

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::words;
use crate::profile::model::{Kernel, Severity};

/// From so many bytes per thread on it is worth a change.
const MANY: u32 = 64;
/// Registers that a thread can have.
const MOST_REGISTERS: u32 = 255;
/// Least share of the kernel in the time of all.
const LEAST_SHARE: f64 = 0.05;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter(|kernel| kernel.spill_bytes > 0).map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Draft {
    let registers = kernel.launches.first().map_or(0, |launch| launch.registers);
    let reason = format!(
        "ptxas keeps {} per thread of what does not fit into {registers} registers in local memory (stores and loads together, each counted \
         once); no other figure shows this traffic",
        words::bytes(kernel.spill_bytes.into()),
    );
    let cure = if kernel.is_triton() {
        "give a block more warps (num_warps), make the tiles smaller, or have fewer stages of the pipeline (num_stages)"
    } else if registers >= MOST_REGISTERS {
        "let a thread keep fewer values at a time, as it has all the registers that it can have: smaller unroll factors, split kernels, several \
         threads for what one does, shared memory for what is rarely used"
    } else {
        "allow more registers (__launch_bounds__, -maxrregcount), or let a thread keep fewer values at a time: smaller unroll factors, \
                split kernels, shared memory for what is rarely used"
    };
    let share = facts.kernel_share(kernel);
    let draft = Draft::new(reason, cure)
        .at_kernel(kernel)
        .evidence("spill_bytes", kernel.spill_bytes.into())
        .evidence("registers", registers.into());
    if kernel.spill_bytes >= MANY && share >= LEAST_SHARE {
        // What is spilled in a loop weighs more than the bytes say; nobody knows which is.
        return Draft { score: 0.05 * share, ..draft.severity(Severity::Warning) };
    }
    draft
}
