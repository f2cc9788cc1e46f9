//! Sentences of the `trust` block, equal in every format.

use crate::words::{at, plain_name, short};
use warpline_profile::model::Basis;
use warpline_profile::trust::{Assumption, Trust, is_count};

/// Maximum number of rows that a sentence lists.
const MOST_NAMED: usize = 3;

/// A named sentence.
pub(crate) struct Sentence {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// Returns one sentence for each basis of figures, and one each for uncounted operations, assumptions and missing
/// launches.
pub(crate) fn sentences(trust: &Trust) -> Vec<Sentence> {
    let words = [("Counted", Basis::Counted), ("Modelled", Basis::Modelled), ("Estimated", Basis::Estimated)];
    let mut all: Vec<Sentence> =
        words.into_iter().filter_map(|(name, basis)| Some(Sentence { name, text: groups(trust, basis)? })).collect();
    let mut list = |name, rows: Vec<String>| {
        if !rows.is_empty() {
            let more = rows.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!("; and {more} more") } else { String::new() };
            let named: Vec<String> = rows.into_iter().take(MOST_NAMED).collect();
            all.push(Sentence { name, text: format!("{}{more}", named.join("; ")) });
        }
    };
    list(
        "Not counted",
        trust
            .not_counted
            .iter()
            .map(|row| {
                let place =
                    if row.file.is_empty() { String::new() } else { format!(" at {}", at(&row.file, row.line)) };
                format!("{} in {}{place} (affects {})", row.what, short(plain_name(&row.function)), row.affects.name())
            })
            .collect(),
    );
    list(
        "Missing",
        trust
            .missing
            .iter()
            .map(|row| {
                let launches = if row.launches == 1 { "launch" } else { "launches" };
                let kernel = if row.kernel.is_empty() {
                    String::new()
                } else {
                    format!(" of {}", short(plain_name(&row.kernel)))
                };
                format!("{} {launches}{kernel} ({}: {})", row.launches, row.what.replace('_', " "), row.reason)
            })
            .collect(),
    );
    all
}

/// Returns a sentence with the assumed parameters; `None` if there are none.
pub(crate) fn assumptions(trust: &Trust) -> Option<String> {
    let one = |row: &Assumption| format!("{} = {}", row.parameter, row.value);
    let all: Vec<String> = trust.assumed.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns the groups with a basis; those with equal reasons are combined.
fn groups(trust: &Trust, basis: Basis) -> Option<String> {
    let mut texts: Vec<(Vec<&str>, String)> = Vec::new();
    for (group, certainty) in trust.figures.iter().filter(|(_, certainty)| certainty.basis == basis) {
        let reasons = certainty.reasons.join("; ");
        let text = match (basis, certainty.exact, reasons.is_empty()) {
            (Basis::Counted, true, _) => " (exact)".to_owned(),
            (Basis::Counted, false, _) => format!(" (not exact: {reasons})"),
            (_, _, true) => String::new(),
            _ => format!(" ({reasons})"),
        };
        match texts.iter_mut().find(|(_, known)| *known == text) {
            Some((names, _)) => names.push(group.name()),
            None => texts.push((vec![group.name()], text)),
        }
    }
    let texts: Vec<String> = texts.into_iter().map(|(names, text)| format!("{}{text}", names.join(", "))).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Describes why the counts of a run are not exact; `None` if they are.
pub(crate) fn deviations(trust: &Trust) -> Option<String> {
    let mut reasons: Vec<&str> = Vec::new();
    let of_counts = trust.figures.iter().filter(|(group, certainty)| is_count(**group, certainty));
    for reason in of_counts.flat_map(|(_, certainty)| &certainty.reasons) {
        if !reasons.contains(&&reason[..]) {
            reasons.push(reason);
        }
    }
    (!reasons.is_empty()).then(|| format!("counts are not exact: {}", reasons.join("; ")))
}
