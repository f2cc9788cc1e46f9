//! The file of limits. `docs/comparison.md` describes it.

use std::path::{Path, PathBuf};

use regex::Regex;
use toml::{Table, Value};

use crate::figures::{Subject, names};
use warpline_findings as findings;
use warpline_profile::model::Severity;

/// Reasons why a limits file is invalid.
#[derive(Debug, thiserror::Error)]
pub enum LimitsError {
    /// The file is not valid TOML.
    #[error("{path}: {error}")]
    Syntax {
        /// File.
        path: PathBuf,
        /// The cause, with its line.
        error: Box<toml::de::Error>,
    },
    /// A key or value is invalid.
    #[error("{path}: {place}: {what}")]
    Wrong {
        /// File.
        path: PathBuf,
        /// Path of tables and keys to it.
        place: String,
        /// Cause and suggested correction.
        what: String,
    },
}

/// All limits of a file, by name.
#[derive(Clone, Debug, Default)]
pub struct LimitSet {
    pub(super) figures: Vec<FigureLimit>,
    pub(super) findings: Vec<FindingLimit>,
}

/// A limit of a figure.
#[derive(Clone, Debug)]
pub(super) struct FigureLimit {
    /// Name as in the file.
    pub(super) name: String,
    pub(super) subject: Subject,
    /// Pattern for kernels, lines or allocations; `None` for the program.
    pub(super) pattern: Option<Regex>,
    pub(super) metric: String,
    /// Maximum deterioration in per cent.
    pub(super) soft: Option<f64>,
    /// Worst allowed value.
    pub(super) hard: Option<f64>,
}

/// A limit on the number of findings.
#[derive(Clone, Debug)]
pub(super) struct FindingLimit {
    /// Name as in the file.
    pub(super) name: String,
    pub(super) which: FindingSelector,
    /// Maximum number of findings in the profile after.
    pub(super) hard: Option<u64>,
    /// Maximum number of new findings.
    pub(super) new: Option<u64>,
}

/// The findings that a limit applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FindingSelector {
    /// Findings with an id.
    Id(String),
    /// Findings with at least this severity.
    Severity(Severity),
}

/// Tables of the file.
const TABLES: [(&str, Subject); 4] = [
    ("program", Subject::Program),
    ("kernels", Subject::Kernel),
    ("lines", Subject::Line),
    ("allocations", Subject::Allocation),
];

const NO_TABLE: &str = "it must be a table, as { soft = 5 } (percent) or { hard = 1000 }";

/// Reads the text of a file of limits; `path` is for messages.
///
/// # Errors
/// Returns a [`LimitsError`] with position and cause.
pub fn parse(text: &str, path: &Path) -> Result<LimitSet, LimitsError> {
    let table: Table =
        toml::from_str(text).map_err(|error| LimitsError::Syntax { path: path.to_owned(), error: Box::new(error) })?;
    let wrong = |(place, what): (String, String)| LimitsError::Wrong { path: path.to_owned(), place, what };
    read(&table).map_err(wrong)
}

/// A position and a cause.
type Wrong = (String, String);

fn read(file: &Table) -> Result<LimitSet, Wrong> {
    let mut limits = LimitSet::default();
    for (key, value) in file {
        let table = value.as_table().ok_or_else(|| (quoted(key), "it must be a table".to_owned()))?;
        if key == "findings" {
            for (which, value) in table {
                limits.findings.push(finding_limit(which, value)?);
            }
            continue;
        }
        let Some((_, subject)) = TABLES.iter().find(|(name, _)| name == key) else {
            let known = TABLES.iter().map(|(name, _)| *name).chain(["findings"]);
            return Err((quoted(key), format!("there is no such table; {}", nearest(key, known))));
        };
        if *subject == Subject::Program {
            figure_limits(&mut limits.figures, key, *subject, None, table)?;
            continue;
        }
        for (pattern, value) in table {
            let place = format!("{key}.{}", quoted(pattern));
            let regex = Regex::new(pattern)
                .map_err(|error| (place.clone(), format!("it is no regular expression: {error}")))?;
            let example = "it must be a table of figures, as { \"estimate.seconds\" = { soft = 5 } }";
            let table = value.as_table().ok_or_else(|| (place.clone(), example.to_owned()))?;
            figure_limits(&mut limits.figures, &place, *subject, Some(&regex), table)?;
        }
    }
    Ok(limits)
}

/// Reads limits of figures. Names of figures contain dots: `"global.sectors"` and `global.sectors` are equivalent.
fn figure_limits(
    limits: &mut Vec<FigureLimit>,
    place: &str,
    subject: Subject,
    pattern: Option<&Regex>,
    table: &Table,
) -> Result<(), Wrong> {
    let mut open: Vec<(String, &Value)> = table.iter().map(|(key, value)| (key.clone(), value)).rev().collect();
    while let Some((metric, value)) = open.pop() {
        let name = format!("{place}.{metric}");
        let Some(table) = value.as_table() else {
            return Err((name, NO_TABLE.to_owned()));
        };
        let is_limit = table.is_empty() || table.values().any(|value| !value.is_table());
        if !is_limit {
            open.extend(table.iter().map(|(key, value)| (format!("{metric}.{key}"), value)).rev());
            continue;
        }
        let known = names(subject);
        if !known.contains(&metric) {
            if let Some(inner) = table.keys().map(|key| format!("{metric}.{key}")).find(|inner| known.contains(inner)) {
                return Err((format!("{place}.{inner}"), NO_TABLE.to_owned()));
            }
            let what = format!("there is no such figure here; {}", nearest(&metric, known.iter().map(String::as_str)));
            return Err((name, what));
        }
        let (mut soft, mut hard) = (None, None);
        for (key, value) in table {
            let number = number(value)
                .filter(|number| *number >= 0.0)
                .ok_or_else(|| (format!("{name}.{key}"), "it must be a number, 0 or more".to_owned()))?;
            match key.as_str() {
                "soft" => soft = Some(number),
                "hard" => hard = Some(number),
                _ => {
                    let what =
                        "a figure has the limits `soft` (percent worse than before) and `hard` (the worst value)";
                    return Err((format!("{name}.{}", quoted(key)), what.to_owned()));
                }
            }
        }
        if soft.is_none() && hard.is_none() {
            return Err((name, "it has neither `soft` nor `hard`".to_owned()));
        }
        limits.push(FigureLimit { name, subject, pattern: pattern.cloned(), metric, soft, hard });
    }
    Ok(())
}

fn finding_limit(which: &str, value: &Value) -> Result<FindingLimit, Wrong> {
    let name = format!("findings.{}", quoted(which));
    let table = value
        .as_table()
        .ok_or_else(|| (name.clone(), "it must be a table, as { new = 0 } or { hard = 3 }".to_owned()))?;
    let (mut hard, mut new) = (None, None);
    for (key, value) in table {
        let number = value
            .as_integer()
            .and_then(|number| u64::try_from(number).ok())
            .ok_or_else(|| (format!("{name}.{key}"), "it must be a whole number, 0 or more".to_owned()))?;
        match key.as_str() {
            "hard" => hard = Some(number),
            "new" => new = Some(number),
            _ => {
                let what = "findings have the limits `new` (maximum number of new findings) and `hard` (maximum number of findings)";
                return Err((format!("{name}.{}", quoted(key)), what.to_owned()));
            }
        }
    }
    if hard.is_none() && new.is_none() {
        return Err((name, "it has neither `new` nor `hard`".to_owned()));
    }
    let severity = [Severity::Note, Severity::Warning, Severity::Error].into_iter().find(|one| one.name() == which);
    let which = match severity {
        Some(severity) => FindingSelector::Severity(severity),
        None if findings::pages().any(|page| page.id == which) => FindingSelector::Id(which.to_owned()),
        None => {
            let known = findings::pages().map(|page| page.id).chain(["error", "warning", "note"]);
            return Err((name, format!("it is neither a finding nor a severity; {}", nearest(which, known))));
        }
    };
    Ok(FindingLimit { name, which, hard, new })
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64))?;
    number.is_finite().then_some(number)
}

/// Returns a key in TOML syntax.
fn quoted(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if plain { key.to_owned() } else { format!("{key:?}") }
}

/// Returns the most similar known name.
fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<(usize, &str)> = known.map(|name| (distance(given, name), name)).collect();
    near.sort_unstable();
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    format!("nearest are {}", names.join(", "))
}

/// Returns the edit distance of two names. A part of a longer name has a small distance.
fn distance(one: &str, other: &str) -> usize {
    if other.contains(one) && !one.is_empty() {
        return 0;
    }
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (number, letter) in one.chars().take(100).enumerate() {
        let mut diagonal = row[0];
        row[0] = number + 1;
        for at in 0..other.len() {
            let changed = diagonal + usize::from(letter != other[at]);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, Path::new("limits.toml")).unwrap_err().to_string()
    }

    #[test]
    fn figures_are_named_with_and_without_quotes() {
        let text = "[program]\nestimate.seconds = { soft = 5 }\n[kernels.\"^transpose\"]\n\
                    \"global.sectors\" = { soft = 0, hard = 1e6 }\nshared.wavefronts.hard = 10\n\
                    [findings]\nbank-conflict.new = 0\nwarning = { hard = 2 }\n";
        let limits = parse(text, Path::new("limits.toml")).unwrap();
        let figures: Vec<_> =
            limits.figures.iter().map(|limit| (limit.name.as_str(), limit.soft, limit.hard)).collect();
        assert_eq!(
            figures,
            [
                ("kernels.\"^transpose\".global.sectors", Some(0.0), Some(1e6)),
                ("kernels.\"^transpose\".shared.wavefronts", None, Some(10.0)),
                ("program.estimate.seconds", Some(5.0), None),
            ]
        );
        assert_eq!(limits.findings[0].which, FindingSelector::Id("bank-conflict".to_owned()));
        assert_eq!(limits.findings[1].which, FindingSelector::Severity(Severity::Warning));
    }

    #[test]
    fn what_has_no_meaning_is_reported_with_its_place_and_a_cure() {
        for (text, wanted) in [
            ("[kernel.x]\n", "limits.toml: kernel: there is no such table; nearest are `kernels`"),
            (
                "[program]\nseconds = { soft = 5 }",
                "program.seconds: there is no such figure here; nearest are `copies.seconds`, `estimate.seconds`",
            ),
            ("[kernels.x]\nglobal.sector = { soft = 5 }", "nearest are `global.sectors`"),
            ("[kernels.x]\nglobal.sectors = { soft = \"5\" }", "global.sectors.soft: it must be a number"),
            ("[kernels.x]\nglobal.sectors = { sofd = 5 }", "limits `soft` (percent worse than before) and `hard`"),
            ("[kernels.x]\nglobal.sectors = 5", "it must be a table, as { soft = 5 }"),
            ("[kernels.x]\nglobal.sectors = {}", "it has neither"),
            ("[kernels.\"(\"]\nglobal.sectors = { soft = 5 }", "kernels.\"(\": it is no regular expression"),
            ("[kernels]\nx = 5", "kernels.x: it must be a table of figures"),
            ("[findings]\nbank-conflict = { new = -1 }", "findings.bank-conflict.new: it must be a whole number"),
            ("[findings]\nbank-conflict = { soft = 1 }", "`new` (maximum number of new findings)"),
            (
                "[findings]\nbank-conflicts = { new = 1 }",
                "neither a finding nor a severity; nearest are `bank-conflict`",
            ),
            ("program = 5", "program: it must be a table"),
            ("x = [", "limits.toml: TOML parse error at line 1"),
        ] {
            let error = error(text);
            assert!(error.contains(wanted), "{text}\n{error}");
        }
    }
}
