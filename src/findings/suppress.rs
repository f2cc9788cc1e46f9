//! Findings that a user has reviewed and suppressed.

use warpline_profile::model::{Finding, FindingLine, also_on};
use warpline_profile::{IGNORE_COMMENT, Profile};

use super::list::RULES;

/// A suppression of an id, of an id at a position, or of all findings at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    id: Option<String>,
    place: Option<SuppressionTarget>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SuppressionTarget {
    /// End of a path, and a line.
    Line(String, u32),
    /// Part of a kernel's name, or end of a path.
    Name(String),
}

/// Reasons why a text is not a valid suppression.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SuppressionError {
    /// No rule has this id.
    #[error("{}", super::list::unknown(.0))]
    UnknownId(String),
    /// The text is neither an id nor a position.
    #[error("`{0}`: expected ID, ID@FILE:LINE, ID@KERNEL or @FILE:LINE")]
    Nothing(String),
}

impl std::str::FromStr for Suppression {
    type Err = SuppressionError;

    fn from_str(text: &str) -> Result<Suppression, SuppressionError> {
        let (id, place) = match text.split_once('@') {
            Some((id, place)) => (id.trim(), place.trim()),
            None => (text.trim(), ""),
        };
        if id.is_empty() && place.is_empty() {
            return Err(SuppressionError::Nothing(text.to_owned()));
        }
        if !id.is_empty() && !RULES.iter().any(|rule| rule.id == id) {
            return Err(SuppressionError::UnknownId(id.to_owned()));
        }
        let line = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let place = match line {
            Some((file, line)) => Some(SuppressionTarget::Line(file.to_owned(), line)),
            None => (!place.is_empty()).then(|| SuppressionTarget::Name(place.to_owned())),
        };
        Ok(Suppression { id: (!id.is_empty()).then(|| id.to_owned()), place })
    }
}

impl std::fmt::Display for Suppression {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.id.as_deref().unwrap_or_default())?;
        match &self.place {
            None => Ok(()),
            Some(SuppressionTarget::Line(file, line)) => write!(formatter, "@{file}:{line}"),
            Some(SuppressionTarget::Name(name)) => write!(formatter, "@{name}"),
        }
    }
}

impl Suppression {
    /// Returns whether the suppression applies to this finding of a profile.
    pub fn covers(&self, finding: &Finding, profile: &Profile) -> bool {
        let kernel = || {
            let id = finding.kernel?;
            profile.kernels.iter().find(|kernel| kernel.id == id).map(|kernel| &kernel.name[..])
        };
        let at_place = match &self.place {
            None => true,
            Some(SuppressionTarget::Line(file, line)) => {
                let inside = finding.inside_library.as_ref().map(|frame| (&frame.file, frame.line));
                let mut places = [(&finding.file, finding.line)].into_iter().chain(inside);
                places.any(|(path, at)| ends_with(path, file) && at == *line)
            }
            Some(SuppressionTarget::Name(name)) => {
                ends_with(&finding.file, name) || kernel().is_some_and(|kernel| kernel.contains(name.as_str()))
            }
        };
        at_place && self.id.as_ref().is_none_or(|id| *id == finding.id)
    }
}

/// Returns whether a path ends with these components.
pub fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| end.starts_with('/') || rest.is_empty() || rest.ends_with('/'))
}

/// Numbers of suppressed findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Findings that comments in the source suppress.
    pub by_comment: usize,
    /// Findings that options suppress.
    pub by_request: usize,
}

/// Removes the findings that comments in the source (`// warpline: ignore`, or `// warpline: ignore strided-access
/// spill`) or `suppressions` cover, and ranks the remaining findings again. A comment is on the finding's line, or
/// alone on the line above it.
pub fn suppress(profile: &mut Profile, suppressions: &[Suppression]) -> Ignored {
    let mut ignored = Ignored::default();
    let all = std::mem::take(&mut profile.findings);
    let mut kept: Vec<Finding> = Vec::with_capacity(all.len());
    for finding in all {
        let requested = |finding: &Finding| suppressions.iter().any(|suppression| suppression.covers(finding, profile));
        if let Some(left) = without(&finding, |one| by_comment(one, profile) || requested(one)) {
            kept.push(left);
        } else if by_comment(&finding, profile) {
            ignored.by_comment += 1;
        } else {
            ignored.by_request += 1;
        }
    }
    for (rank, finding) in (1..).zip(&mut kept) {
        finding.rank = rank;
    }
    profile.findings = kept;
    ignored
}

/// Returns the finding without the suppressed lines; `None` if all lines are suppressed.
fn without(finding: &Finding, is_covered: impl Fn(&Finding) -> bool) -> Option<Finding> {
    let own = FindingLine { line: finding.line, column: finding.column };
    let at = |place: &FindingLine| Finding { line: place.line, column: place.column, ..finding.clone() };
    let all = std::iter::once(own).chain(finding.lines.iter().copied());
    let mut left = all.filter(|place| !is_covered(&at(place)));
    let first = left.next()?;
    let lines: Vec<FindingLine> = left.collect();
    if first == own && lines.len() == finding.lines.len() {
        return Some(finding.clone());
    }
    let reason = finding.reason.replacen(&also_on(&finding.lines), &also_on(&lines), 1);
    Some(Finding { reason, lines, ..at(&first) })
}

fn by_comment(finding: &Finding, profile: &Profile) -> bool {
    let Some(lines) = profile.sources.get(&finding.file) else { return false };
    let covers = |line: u32, alone: bool| {
        let Some(text) = lines.get(&line) else { return false };
        let Some((before, after)) = text.split_once(IGNORE_COMMENT) else { return false };
        let comment = ["//", "/*"].iter().filter_map(|mark| before.rfind(mark)).max();
        let Some(comment) = comment else { return false };
        if alone && !before[..comment].trim().is_empty() {
            return false;
        }
        let mut ids = after
            .split(|c: char| c.is_whitespace() || c == ',')
            .map(str::trim)
            .filter(|word| !word.is_empty() && *word != "*/");
        let first = ids.next();
        // Words that are not ids belong to the reason. A word that resembles an id suppresses nothing.
        let is_id = |word: &str| RULES.iter().any(|rule| rule.id == word);
        match first {
            Some(word) if is_id(word) => {
                word == finding.id || ids.take_while(|word| is_id(word)).any(|word| word == finding.id)
            }
            Some(word) if word.contains('-') && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-') => {
                false
            }
            _ => true,
        }
    };
    covers(finding.line, false) || finding.line > 1 && covers(finding.line - 1, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_finding_are_silenced_one_by_one() {
        let lines = vec![FindingLine { line: 9, column: 1 }, FindingLine { line: 12, column: 2 }];
        let reason = format!("far apart{}", also_on(&lines));
        let finding = Finding { line: 7, column: 3, reason, lines, ..Finding::default() };
        let left = |covered: &[u32]| without(&finding, |one| covered.contains(&one.line));
        assert_eq!(left(&[]).as_ref(), Some(&finding));
        let other = left(&[7]).unwrap();
        assert_eq!((other.line, other.column, &other.reason[..]), (9, 1, "far apart; the same on line 12"));
        let first = left(&[9, 12]).unwrap();
        assert_eq!((first.line, &first.reason[..], first.lines.len()), (7, "far apart", 0));
        assert_eq!(left(&[7, 9, 12]), None);
    }

    #[test]
    fn suppressions_are_read() {
        let read = |text: &str| text.parse::<Suppression>();
        assert!(read("strided-access").is_ok() && read("strided-access@a.cu:7").is_ok() && read("@a.cu:7").is_ok());
        assert_eq!(read("strided-acess"), Err(SuppressionError::UnknownId("strided-acess".into())));
        assert_eq!(read("@"), Err(SuppressionError::Nothing("@".into())));
        assert!(ends_with("/x/a.cu", "a.cu") && ends_with("/x/a.cu", "x/a.cu") && !ends_with("/x/ba.cu", "a.cu"));
    }
}
