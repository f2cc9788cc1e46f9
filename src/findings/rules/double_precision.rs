//! Double precision on a GPU that has few units for it.

use super::super::draft::Draft;
use super::super::facts::Facts;
use super::super::facts::access::{Access, share};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Kernel, Severity};

/// Single-precision results per double-precision one from which on the GPU has few units.
const FEW: f64 = 8.0;
/// Least share of the kernel's time that the units are busy.
const LEAST_BUSY: f64 = 0.3;
/// The same where the GPU has many units: only double precision that nobody wanted and everything waits for is worth a word.
const LEAST_BUSY_OF_MANY: f64 = 0.9;
/// Share of the operations that functions of a library make, at least, where these are what is told.
const MOSTLY: f64 = 0.5;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().filter_map(|kernel| draft(facts, kernel)).collect()
}

fn draft(facts: &Facts<'_>, kernel: &Kernel) -> Option<Draft> {
    let rates = facts.rates?;
    let ratio = rates.fp32? / rates.fp64?;
    let estimate = facts.estimate(kernel)?;
    let limit = estimate.limits.iter().find(|limit| limit.name == "fp64")?;
    let slowest = estimate.limits.first()?.seconds;
    let has_few = ratio >= FEW;
    let least_busy = if has_few { LEAST_BUSY } else { LEAST_BUSY_OF_MANY };
    if slowest <= 0.0 || limit.seconds / slowest < least_busy {
        return None;
    }
    let lines = facts.profile.lines.iter().filter(|line| line.kernel == kernel.id && line.line != 0);
    let doubles = |line: &&crate::profile::model::Line| line.instructions.get("fp64").map_or(0, |count| count.lanes);
    // What is on no line is a library's, as that of `pow`, which the line calls.
    let on_lines = lines.clone().map(|line| doubles(&line)).fold(0, u64::saturating_add);
    let worst = lines.max_by_key(|line| (doubles(line), std::cmp::Reverse(line.line)))?;
    // Doubles that nobody loads or stores come of constants and functions.
    let moved = |doubles: bool| -> u64 {
        let global = facts.accesses_of(kernel.id, "global");
        global
            .filter(|access| has_doubles(access) == Some(doubles))
            .map(|access| access.sums.bytes)
            .fold(0, u64::saturating_add)
    };
    let mixed = moved(true) < moved(false) / 4 && !wants_doubles(&kernel.name);
    if !has_few && !mixed {
        return None;
    }
    let all: u64 = kernel.instructions.get("fp64").map_or(0, |count| count.lanes);
    let of_functions = share(all.saturating_sub(on_lines), all);
    let where_they_are = if of_functions >= MOSTLY {
        format!("{} of them in mathematical functions that lines such as this one call", words::percent(of_functions))
    } else {
        format!("{} of them on this line", words::percent(share(doubles(&worst), all)))
    };
    let reason = format!(
        "{} double-precision operations, {where_they_are}, and the GPU makes {ratio:.0} single-precision results in the time of one: \
         their units alone need {}{}",
        words::count(all),
        words::time(limit.seconds),
        if mixed {
            "; what the kernel loads and stores has 4 bytes each, so that constants, functions or variables make it double"
        } else {
            ""
        },
    );
    let cure = if mixed {
        "write constants with an f (0.5f), call the functions for float (sinf, sqrtf), and declare variables as float where its seven \
         digits are enough, so that nothing is promoted to double"
    } else {
        "use float where its seven digits are enough, or run on a GPU with full double-precision rate"
    };
    let saving = Saving::of("fp64", limit.amount as f64);
    let single = estimate.limits.iter().find(|limit| limit.name == "fp32").map_or(0.0, |limit| limit.seconds);
    let instead = single + limit.seconds / ratio;
    let assumption = if of_functions >= MOSTLY {
        "the same arithmetic in single precision, on its own units; more where the functions for float are shorter"
    } else {
        "the same arithmetic in single precision, on its own units"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(Some(&crate::profile::model::Frame {
            function: String::new(),
            file: worst.file.clone(),
            line: worst.line,
            column: 0,
        }))
        .of_kernel(kernel)
        .evidence("fp64_operations", all as f64)
        .evidence("fp64_seconds", limit.seconds)
        .evidence("fp32_per_fp64", ratio)
        .gain(facts.gain_for(kernel, &saving, instead, assumption))
        .score(facts.waste(kernel, &saving, share(doubles(&worst), all)));
    // Where memory takes longer, the units keep up.
    Some(if draft.gain.is_none() { draft.severity(Severity::Note) } else { draft })
}

/// Whether a kernel is handed doubles, or no data but integers, of which nobody says that the digits of a float would do.
fn wants_doubles(name: &str) -> bool {
    let types = name.split_once('(').map_or("", |(_, types)| types).trim_end_matches(')');
    let each = || types.split(',').map(str::trim);
    let is_integer = |of: &str| {
        let plain = ["const", "volatile", "unsigned", "signed", "__restrict__"]
            .iter()
            .fold(of.trim_end_matches('*').to_owned(), |of, word| of.replace(word, ""));
        matches!(plain.trim(), "" | "char" | "short" | "int" | "long" | "long long" | "bool")
    };
    let mut pointers = each().filter(|of| of.ends_with('*')).peekable();
    each().any(|of| of == "double") || pointers.peek().is_some() && pointers.all(is_integer)
}

/// Whether an access moves doubles rather than floats; `None` where it moves structures as a whole, of which nobody knows.
fn has_doubles(access: &Access<'_>) -> Option<bool> {
    let whole = access.operand.filter(|operand| operand.structure_bytes == access.bytes);
    match whole.and_then(|operand| operand.structure.as_deref()) {
        Some(name) if name.starts_with("double") => Some(true),
        Some(name) if name.starts_with("float") => Some(false),
        Some(_) => None,
        // Bytes and pairs of them are neither.
        None if access.bytes < 4 => None,
        None => Some(access.bytes.is_multiple_of(8)),
    }
}

#[cfg(test)]
mod tests {
    use super::wants_doubles;

    #[test]
    fn doubles_are_wanted_where_they_are_handed() {
        assert!(wants_doubles("keys(int*, double, double, long)") && wants_doubles("keys(unsigned int const*, int*)"));
        assert!(!wants_doubles("tone(float4*, Look, int)") && !wants_doubles("tone(float const*, int*)"));
        assert!(!wants_doubles("step(State, int)") && !wants_doubles("step()"));
    }
}
