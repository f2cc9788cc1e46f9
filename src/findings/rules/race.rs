//! Conflicts between warps that nothing orders, as far as they were looked for (`src/races`).

use super::super::context::Context;
use super::super::draft::Draft;
use crate::profile::model::Severity;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let warnings = context.profile.conflicts.iter().filter(|conflict| conflict.severity == "warning");
    let each = warnings.map(|conflict| {
        let places: Vec<String> =
            conflict.accesses.iter().map(|access| format!("the {} on line {}", access.op, access.frame.line)).collect();
        let named = conflict.variable.clone().map(|name| format!("`{name}`"));
        let target = named.or_else(|| context.allocation_name(conflict.allocation));
        let between = if conflict.scope == "block" { "warps of a block" } else { "blocks" };
        let reason = format!(
            "{between} reach the same bytes of {} through {}, and nothing orders them: the result depends on which comes first",
            target.unwrap_or_else(|| "memory".to_owned()),
            places.join(" and "),
        );
        let cure = if conflict.scope == "block" {
            "put __syncthreads() between them, or make the update atomic"
        } else {
            "make the update atomic, give each block its own part, or split the kernel"
        };
        let frame = conflict.accesses.first().map(|access| &access.frame);
        let draft = Draft::new(reason, cure).at_frame(frame).score(1.0).severity(Severity::Warning);
        let draft = Draft { kernel: Some(conflict.kernel), allocation: conflict.allocation, ..draft };
        draft.object(conflict.variable.clone()).evidence("times", conflict.count as f64)
    });
    each.collect()
}
