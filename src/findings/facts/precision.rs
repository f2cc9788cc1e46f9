//! Double-precision operations of a kernel, and whether its data requires them.

use super::super::prelude::*;
use super::super::thresholds::arithmetic::*;
use warpline_profile::model::Line;

/// Double-precision operations of a kernel.
pub struct Doubles<'a> {
    /// Number of operations of active lanes.
    pub all: u64,
    /// Share of the operations that belong to no line, because mathematical functions execute them.
    pub of_functions: f64,
    /// Line with the most operations.
    pub worst: &'a Line,
    /// Share of the operations on that line.
    pub on_worst: f64,
    /// Whether the kernel moves floats and has no double parameters, so that constants, functions or variables cause
    /// the double precision.
    pub are_promoted: bool,
}

/// Returns the double-precision operations of a kernel; `None` if no line has any.
pub fn doubles<'a>(facts: &Facts<'a>, kernel: &Kernel) -> Option<Doubles<'a>> {
    let of_line = |line: &Line| line.instructions.get("fp64").map_or(0, |count| count.lanes);
    let lines = facts.profile.lines.iter().filter(|line| line.kernel == kernel.id && line.line != 0);
    let on_lines = lines.clone().map(of_line).total();
    let worst = lines.max_by_key(|line| (of_line(line), std::cmp::Reverse(line.line)))?;
    let all = kernel.instructions.get("fp64").map_or(0, |count| count.lanes);
    let moved = |doubles: bool| -> u64 {
        let those = facts.accesses_of(kernel.id, "global").filter(|access| has_doubles(access) == Some(doubles));
        those.map(|access| access.sums.bytes).total()
    };
    Some(Doubles {
        all,
        of_functions: share(all.saturating_sub(on_lines), all),
        worst,
        on_worst: share(of_line(worst), all),
        are_promoted: (moved(true) as f64) < MOST_DOUBLES_MOVED * moved(false) as f64 && !wants_doubles(&kernel.name),
    })
}

/// Returns whether a kernel has a parameter of type double, or only integer data, for which single precision may be
/// insufficient.
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

/// Returns whether an access moves doubles rather than floats; `None` for whole structures and narrow elements.
fn has_doubles(access: &Access<'_>) -> Option<bool> {
    let whole = access.operand.filter(|operand| operand.structure_bytes == access.bytes);
    match whole.and_then(|operand| operand.structure.as_deref()) {
        Some(name) if name.starts_with("double") => Some(true),
        Some(name) if name.starts_with("float") => Some(false),
        Some(_) => None,
        None if access.bytes < 4 => None,
        None => Some(access.bytes.is_multiple_of(8)),
    }
}

#[cfg(test)]
mod tests {
    use super::wants_doubles;

    #[test]
    fn parameters_show_whether_doubles_are_wanted() {
        assert!(wants_doubles("keys(int*, double, double, long)") && wants_doubles("keys(unsigned int const*, int*)"));
        assert!(!wants_doubles("tone(float4*, Look, int)") && !wants_doubles("tone(float const*, int*)"));
        assert!(!wants_doubles("step(State, int)") && !wants_doubles("step()"));
    }
}
