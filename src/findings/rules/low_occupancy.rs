//! Kernels whose blocks reserve shared memory that they do not use, so that few blocks fit on an SM (CUDA C++ Best
//! Practices Guide, "Occupancy").

use super::super::facts::occupancy::{UnusedShared, unused_shared};
use super::super::prelude::*;
use super::super::thresholds::launches::*;

described! {
    enum Cause {
        UnusedShared {
            requested: Bytes, stored: Bytes, blocks: Count, possible: Count, now: Share, then: Share,
        } => "unused-shared-memory",
    }
    enum Remedy {
        RequestLess { stored: Bytes } => "request-less-shared-memory",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn is_limiting(shared: &UnusedShared) -> bool {
    shared.stored as f64 <= MOST_USED_SHARED * shared.requested as f64
        && shared.possible / shared.blocks.max(1) >= LEAST_MORE_BLOCKS
        && shared.occupancy(shared.blocks) <= MOST_OCCUPANCY
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let of_time = facts.kernel_share(kernel);
    let shared = unused_shared(facts, kernel).filter(|shared| of_time >= LEAST_KERNEL_SHARE && is_limiting(shared))?;
    let (now, then) = (shared.occupancy(shared.blocks), shared.occupancy(shared.possible));
    let cause = Cause::UnusedShared {
        requested: Bytes(shared.requested),
        stored: Bytes(shared.stored),
        blocks: Count(shared.blocks.into()),
        possible: Count(shared.possible.into()),
        now: Share(now),
        then: Share(then),
    };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::RequestLess { stored: Bytes(shared.stored) }))
        .at_launch(kernel)
        .evidence("requested_shared_bytes", shared.requested as f64)
        .evidence("stored_shared_bytes", shared.stored as f64)
        .evidence("occupancy", now)
        .evidence("possible_occupancy", then);
    // The estimate contains no latencies, so the latencies that more warps would hide are unknown.
    Some(draft.score(OCCUPANCY_WEIGHT * of_time * (1.0 - now / then.max(now))).severity(Severity::Warning))
}
