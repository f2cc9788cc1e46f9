//! Checks whether a recording was created in the same way as the judged profile.

use std::collections::BTreeSet;

use super::case::Case;
use crate::differences;
use crate::document::Difference;
use warpline_profile::Profile;
use warpline_profile::store::Record;

/// Names of differences that the user accepts.
#[derive(Clone, Debug, Default)]
pub struct Accepted(BTreeSet<String>);

impl Accepted {
    /// Creates an `Accepted` for these names.
    pub fn new(names: impl IntoIterator<Item = String>) -> Accepted {
        Accepted(names.into_iter().collect())
    }

    fn leave(&self, differences: Vec<Difference>) -> Vec<Difference> {
        differences.into_iter().filter(|difference| !self.0.contains(&difference.what)).collect()
    }
}

/// Compares the data in the record. This excludes most unsuitable recordings without reading their profiles.
pub(super) fn of_record(record: &Record, case: &Case, accepted: &Accepted) -> Vec<Difference> {
    let run = &case.profile.run;
    let mut found = Vec::new();
    let mut tell = |what: &str, before: String, after: String| {
        if before != after {
            found.push(Difference { what: what.to_owned(), before, after });
        }
    };
    tell("model", record.models.join(","), run.models.join(","));
    let architectures = |all: &[u32]| all.iter().map(|one| format!("sm_{one}")).collect::<Vec<_>>().join(",");
    if !record.architectures.is_empty() && !run.architectures.is_empty() {
        tell("architecture", architectures(&record.architectures), architectures(&run.architectures));
    }
    tell("compiler", record.compiler.clone().unwrap_or_default(), case.compiler.clone().unwrap_or_default());
    if !record.complete {
        tell("complete", "incomplete".to_owned(), String::new());
    }
    accepted.leave(found)
}

/// Returns all differences in how two profiles were created.
pub(super) fn of_profile(before: &Profile, after: &Profile, accepted: &Accepted) -> Vec<Difference> {
    let (one, other) = (&before.run, &after.run);
    let mut found = differences(before, after);
    let file = |program: &[String]| {
        let path = program.first().map_or("", String::as_str);
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    let arguments = |program: &[String]| program.get(1..).unwrap_or_default().join(" ");
    for (what, one, other) in [
        ("program", file(&one.program), file(&other.program)),
        ("arguments", arguments(&one.program), arguments(&other.program)),
    ] {
        if one != other {
            found.push(Difference { what: what.to_owned(), before: one, after: other });
        }
    }
    accepted.leave(found)
}
