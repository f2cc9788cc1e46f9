//! Allocations whose elements a run rounds to a smaller type.

use std::collections::BTreeSet;
use std::sync::Arc;

use tempfile::TempPath;
use warpline_toolchain::interrupt::{self, Removal};

use super::child::Child;
use super::plan::Plan;
use crate::cli::models::chosen::Chosen;
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_analyzer::analysis::Analysis;
use warpline_analyzer::simulation::Settings;
use warpline_format::rounding::{Results, RoundedType, WhatIfType};

/// Maximum number of names in a message.
const MOST_NAMES: usize = 12;

/// Parses the values of `--what-if-type`.
pub(super) fn parse(values: &[String]) -> Result<Vec<WhatIfType>, Failure> {
    let types = || RoundedType::ALL.map(RoundedType::name).join(", ");
    let parse = |text: &String| {
        let (name, ty) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some(WhatIfType { name: name.to_owned(), to: RoundedType::from_name(ty)? })
    };
    let checked = |text: &String| {
        let message = || format!("--what-if-type takes ALLOCATION=TYPE with a type of {}, not `{text}`", types());
        parse(text).ok_or_else(|| Failure::new(exit_code::USAGE, message()))
    };
    values.iter().map(checked).collect()
}

/// Returns the requests as text, for the assumptions of the profile.
pub(super) fn assumption(wanted: &[WhatIfType]) -> Option<String> {
    let texts: Vec<String> = wanted.iter().map(|one| format!("{}={}", one.name, one.to.name())).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Returns the model with smaller elements of the allocations, whose traffic is simulated in addition. The allocations
/// are known after the run.
pub(super) fn smaller(model: &Chosen, wanted: &[WhatIfType]) -> Option<Chosen> {
    if wanted.is_empty() || model.simulation.hierarchy.wave_lanes == 64 {
        return None;
    }
    let simulation = Settings { narrowed: Some(Arc::default()), reuse: None, pages: None, ..model.simulation.clone() };
    Some(Chosen { key: format!("{} with smaller elements", model.key), simulation, ..model.clone() })
}

/// The results of a run without rounding, if they are compared. The file is removed at the end.
pub(super) struct Reference(Option<Kept>);

struct Kept {
    file: TempPath,
    _removal: Removal,
    code: u8,
}

impl Reference {
    /// Runs the program without rounding, if the plan compares results.
    pub(super) fn make(plan: &Plan) -> Result<Reference, Failure> {
        if !plan.compares_results {
            return Ok(Reference(None));
        }
        let folder = std::env::temp_dir();
        let file = tempfile::Builder::new().prefix("warpline.").suffix(".results").tempfile_in(&folder);
        let file = file.map_err(|error| {
            let message = format!("{}: no temporary file for the results: {error}", folder.display());
            Failure::new(exit_code::RUN_NOT_PROFILED, message)
        })?;
        let removal = interrupt::removes(file.path());
        let file = file.into_temp_path();
        output::say(format_args!("note: the program runs twice, first without rounding and without output"));
        let code = Child::run_reference(plan, file.to_string_lossy().into_owned())?.code();
        Ok(Reference(Some(Kept { file, _removal: removal, code })))
    }

    /// Returns what the rounded run does with its results.
    pub(super) fn results(&self) -> Results {
        self.0.as_ref().map_or(Results::Ignored, |kept| Results::Compared(kept.file.to_string_lossy().into_owned()))
    }

    /// Returns a note if the run without rounding failed.
    pub(super) fn note(&self) -> Option<String> {
        let code = self.0.as_ref().map(|kept| kept.code).filter(|code| *code != 0)?;
        Some(format!("--what-if-results: the run without rounding ended with exit code {code}"))
    }
}

/// Returns an error if no allocation matches a request. With several processes, another one may have the allocation.
pub(super) fn unknown_name(wanted: &[WhatIfType], analysis: &Analysis, plan: &Plan) -> Option<String> {
    let names = || analysis.allocations.values().filter_map(|data| data.event.name.as_deref());
    let unknown = wanted.iter().filter(|one| !names().any(|name| one.matches(name)));
    let unknown: Vec<String> = unknown.map(|one| format!("{}={}", one.name, one.to.name())).collect();
    (!unknown.is_empty() && !plan.children).then(|| {
        let output = plan.output.display();
        let wanted = unknown.join(", ");
        format!("--what-if-type {wanted}: no allocation matches, so {output} lacks its errors; a note lists the names")
    })
}

/// Returns notes on requests that no allocation matches, and on matching allocations whose elements are not rounded.
pub(super) fn notes(wanted: &[WhatIfType], analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    for one in wanted {
        let named = || analysis.allocations.iter().filter_map(|(row, data)| Some((row, data.event.name.as_deref()?)));
        let matching = || named().filter(|(_, name)| one.matches(name));
        if matching().next().is_none() {
            let names: BTreeSet<&str> = named().map(|(_, name)| name).collect();
            let known = match names.len() {
                0 => "no allocation has a name".to_owned(),
                count if count > MOST_NAMES => {
                    let first: Vec<&str> = names.into_iter().take(MOST_NAMES).collect();
                    format!("the names are {}, and {} more", first.join(", "), count - MOST_NAMES)
                }
                _ => format!("the names are {}", names.into_iter().collect::<Vec<_>>().join(", ")),
            };
            notes.push(format!("--what-if-type {}={}: no allocation matches; {known}", one.name, one.to.name()));
        }
        let untouched = matching().filter(|(row, _)| !analysis.roundings.allocations.contains_key(row));
        for name in untouched.map(|(_, name)| name).collect::<BTreeSet<_>>() {
            notes.push(format!(
                "--what-if-type {name}={}: not rounded, because no kernel accesses it as elements of a wider floating-point type",
                one.to.name()
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_name_an_allocation_and_a_type() {
        let parsed = |text: &str| parse(&[text.to_owned()]).map(|wanted| wanted[0].clone());
        assert_eq!(
            parsed("d_x=half").expect("a request"),
            WhatIfType { name: "d_x".to_owned(), to: RoundedType::Half }
        );
        assert_eq!(assumption(&[parsed("d_*=e4m3").expect("a request")]).as_deref(), Some("d_*=e4m3"));
        for wrong in ["d_x", "=half", "d_x=", "d_x=double", "d_x=half=half"] {
            let failure = parsed(wrong).expect_err(wrong);
            assert!(failure.message.contains("half, bfloat16, e4m3, e5m2, float"), "{}", failure.message);
        }
    }
}
