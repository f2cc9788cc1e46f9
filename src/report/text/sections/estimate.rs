//! Writes the limiter of each kernel, from the known rates.

use std::fmt::Write as _;

use super::kernels::more;
use crate::words::figures::seconds;
use crate::words::names;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{Estimate, Kernel, Limit};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let Some(model) = profile.run.models.first() else { return };
    let mut rows: Vec<(&Kernel, &Estimate)> = profile
        .kernels
        .iter()
        .filter_map(|kernel| Some((kernel, kernel.estimates.iter().find(|estimate| estimate.model == *model)?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let heading =
        format!("ESTIMATE of what limits each kernel on {model}: its work on each part, over the part's rate");
    _ = writeln!(out, "{}", style.heading(&heading));
    let head =
        format!("  {:<18} {:>9}  {:<27}  {:<36}  kernel", "limited by", "at least", "next", "with ideal requests");
    _ = writeln!(out, "{}", style.faint(&head));
    rows.sort_by(|one, other| other.1.seconds.total_cmp(&one.1.seconds).then(one.0.id.cmp(&other.0.id)));
    for (kernel, estimate) in rows.iter().take(top) {
        let place = usize::from(limiter(estimate) != "not known");
        let next = estimate.limits.get(place).map_or("-".to_owned(), figure);
        _ = writeln!(
            out,
            "  {:<18} {:>9}  {next:<27}  {:<36}  {}",
            limiter(estimate),
            seconds(estimate.seconds),
            ideal(estimate),
            style.strong(&names::label(profile, kernel))
        );
    }
    more(out, rows.len(), top, "kernels", style);
    let mut notes =
        "an estimate: all parts overlap, nothing waits for latencies; instructions as in LLVM IR".to_owned();
    let unknown: std::collections::BTreeSet<&str> =
        rows.iter().flat_map(|(_, estimate)| &estimate.unknown).map(|part| name(part)).collect();
    if !unknown.is_empty() {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        _ = write!(notes, ";\n   not in it, the model has no rate: {}", unknown.join(", "));
    }
    _ = writeln!(out, "{}", style.faint(&format!("  ({notes})")));
    out.push('\n');
}

/// Returns the limiter, if enough rates are known.
pub(crate) fn limiter(estimate: &Estimate) -> String {
    let known = |part: &str| estimate.limits.iter().any(|limit| limit.name == part);
    // For models without L1 stages, their passes are not counted. The limiter is also unknown if host memory is used,
    // because its bus is slower than any other unit.
    let bus = estimate.unknown.iter().any(|part| part == "bus");
    if bus || !known("instructions") && !known("l1_data") {
        return "not known".to_owned();
    }
    name(&estimate.limiter).to_owned()
}

fn figure(limit: &Limit) -> String {
    format!("{} {}", name(&limit.name), seconds(limit.seconds))
}

fn ideal(estimate: &Estimate) -> String {
    let ideal = &estimate.ideal;
    if ideal.gain < 1.005 {
        return "the same".to_owned();
    }
    format!("{} ({:.1} x, {})", seconds(ideal.seconds), ideal.gain, name(&ideal.limiter))
}

/// Returns the displayed name of a limit.
pub(crate) fn name(limit: &str) -> &str {
    match limit {
        "instructions" => "instruction issue",
        "fp32" => "fp32 units",
        "fp64" => "fp64 units",
        "special" => "special functions",
        "tensor_fp16" => "tensor cores (fp16)",
        "tensor_fp16_sums" => "tensor cores (fp16 sums)",
        "tensor_tf32" => "tensor cores (tf32)",
        "tensor_fp8" => "tensor cores (fp8)",
        "tensor_int8" => "tensor cores (int8)",
        "tensor_fp64" => "tensor cores (fp64)",
        "l1_data" => "L1 data banks",
        "l1_tag" => "L1 tags",
        "l1_lanes" => "load/store units",
        "shared" => "shared memory",
        "constant" => "constant cache",
        "l2" => "L2 bandwidth",
        "dram" => "DRAM bandwidth",
        "bus" => "host memory bus",
        "atomic_address" => "colliding atomics",
        "shared_atomics" => "shared atomics",
        other => other,
    }
}
