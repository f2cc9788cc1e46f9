//! Tools that read profiles. They call the functions behind the formats of the command line.

use regex::Regex;

use super::{Answer, Shared};
use crate::arguments::{
    AllocationArguments, DiffArguments, ExplainArguments, FindingsArguments, KernelArguments, SourceArguments,
};
use crate::error::Refusal;
use crate::uri;
use warpline_comparison::{self as comparison, Options};
use warpline_findings as findings_of;
use warpline_profile::Profile;
use warpline_profile::model::Severity;
use warpline_report::{self as report, DiffOptions, Filter, LinePlace, Shown, TextOptions, views};

/// Maximum number of rows of a table, in addition to the limit of an answer.
const ROWS: usize = 50;
/// Width of text in columns.
const WIDTH: usize = 120;

/// Returns the findings as lines of JSON, with rank 1 first.
pub(crate) fn findings(shared: &Shared, arguments: &FindingsArguments) -> Result<Answer, Refusal> {
    let least = match arguments.severity.as_deref() {
        None | Some("note") => Severity::Note,
        Some("warning") => Severity::Warning,
        Some("error") => Severity::Error,
        Some(other) => return Err(Refusal::argument("severity", other, "severities are error, warning and note")),
    };
    let profile = shared.profiles.read(&shared.roots, &arguments.profile)?;
    let shown = filtered(&profile, &Filter { kernel: pattern(arguments.kernel.as_deref())?, ..Filter::default() })?;
    let rows = report::brief_findings(&shown).filter(|finding| finding.severity >= least);
    let lines = rows.map(|finding| serde_json::to_string(&finding)).collect::<Result<Vec<_>, _>>();
    let lines = lines.map_err(|error| Refusal::Failed(format!("a finding is no JSON: {error}")))?;
    let text = if lines.is_empty() { "no findings".to_owned() } else { lines.join("\n") };
    about(shared, &arguments.profile, text)
}

/// Returns annotated source, or all data of a line.
pub(crate) fn source(shared: &Shared, arguments: &SourceArguments) -> Result<Answer, Refusal> {
    let profile = shared.profiles.read(&shared.roots, &arguments.profile)?;
    let text = match (&arguments.file, arguments.line) {
        (None, Some(line)) => {
            return Err(Refusal::argument("line", line.to_string(), "a line needs `file`, the end of its path"));
        }
        (Some(file), Some(line)) => {
            let place = LinePlace { file: file.clone(), line };
            let filter = Filter { line: Some(place), top: ROWS, ..Filter::default() };
            filtered(&profile, &filter)?;
            markdown(&report::answers(&profile, &filter))
        }
        (file, None) => {
            let filter = Filter { source: file.clone(), top: ROWS, ..Filter::default() };
            let options = TextOptions { color: false, top: ROWS, all: false, width: WIDTH, shown: Shown::Source };
            report::text(&filtered(&profile, &filter)?, &options)
        }
    };
    about(shared, &arguments.profile, text)
}

/// Returns all data of a kernel, or the list of kernels.
pub(crate) fn kernel(shared: &Shared, arguments: &KernelArguments) -> Result<Answer, Refusal> {
    let profile = shared.profiles.read(&shared.roots, &arguments.profile)?;
    let filter = Filter { kernel: pattern(arguments.kernel.as_deref())?, top: ROWS, ..Filter::default() };
    let kept = filtered(&profile, &filter)?;
    let text = match &report::answers(&profile, &filter)[..] {
        [] => table("KERNELS", views::kernels(&kept)),
        found => markdown(found),
    };
    about(shared, &arguments.profile, text)
}

/// Returns all data of the allocations with a name, or the list of allocations.
pub(crate) fn allocation(shared: &Shared, arguments: &AllocationArguments) -> Result<Answer, Refusal> {
    let profile = shared.profiles.read(&shared.roots, &arguments.profile)?;
    let text = match &arguments.name {
        None => table("ALLOCATIONS", views::allocations(&profile)),
        Some(name) => {
            let filter = Filter { allocation: Some(name.clone()), top: ROWS, ..Filter::default() };
            filtered(&profile, &filter)?;
            markdown(&report::answers(&profile, &filter))
        }
    };
    about(shared, &arguments.profile, text)
}

/// Returns the differences between two profiles.
pub(crate) fn diff(shared: &Shared, arguments: &DiffArguments) -> Result<Answer, Refusal> {
    let before = shared.profiles.read(&shared.roots, &arguments.before)?;
    let after = shared.profiles.read(&shared.roots, &arguments.after)?;
    let diff = comparison::compare(&before, &after, &Options::default(), None);
    let options = DiffOptions { color: false, top: ROWS, all: false, width: WIDTH };
    about(shared, &arguments.after, report::diff_markdown(&diff, &before, &after, &options))
}

/// Returns the page of a finding, or the list of findings.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Answer, Refusal> {
    let Some(id) = &arguments.id else {
        let rows: Vec<String> = findings_of::pages().map(|page| format!("{}: {}", page.id, page.summary())).collect();
        return Ok(Answer::new(rows.join("\n")));
    };
    let page = findings_of::pages().find(|page| page.id == *id);
    let page = page.ok_or_else(|| {
        let id: String = id.chars().take(80).collect();
        Refusal::NothingMatched(findings_of::unknown(&id))
    })?;
    Ok(Answer::new(page.text.to_owned()))
}

fn pattern(text: Option<&str>) -> Result<Option<Regex>, Refusal> {
    let parsed =
        text.map(|text| Regex::new(text).map_err(|error| Refusal::argument("kernel", text, error.to_string())));
    parsed.transpose()
}

fn filtered(profile: &Profile, filter: &Filter) -> Result<Profile, Refusal> {
    report::apply(profile, filter).ok_or_else(|| Refusal::NothingMatched(report::unmatched(profile, filter)))
}

fn markdown(found: &[views::View]) -> String {
    found.iter().map(|view| views::markdown(view, ROWS)).collect::<Vec<_>>().join("\n")
}

/// Returns a list as a separate view.
fn table(title: &str, table: views::Table) -> String {
    markdown(&[views::View { title: title.to_owned(), place: None, blocks: vec![views::Block::Table(table)] }])
}

/// Returns an answer about a profile, with its URI.
fn about(shared: &Shared, name: &str, text: String) -> Result<Answer, Refusal> {
    let path = shared.profiles.path(&shared.roots, name)?;
    Ok(Answer { text, profile: Some(uri::of_path(&shared.roots.shown(&path))) })
}
