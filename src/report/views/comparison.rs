//! View of the changes between two profiles, as tables whose rows link to the profile after.

use super::figures::words;
use super::links::line_target;
use super::model::{Block, Cell, Fact, Row, Table, Target, View};
use crate::comparison::shown::{Sides, Verdict, allocation, allocations, figures, lines, places, programs, state};
use warpline_comparison::document::{Both, Changes, Diff};
use warpline_comparison::{Options, compare};
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// Maximum number of figures per row.
const FIGURES: usize = 4;

/// Returns the view of a comparison.
pub fn comparison(before: &Profile, after: &Profile) -> View {
    let diff = compare(before, after, &Options::default(), None);
    let sides = Sides::new(before, after);
    let mut blocks = vec![Block::Facts(facts(&diff, before, after))];
    blocks.extend(findings(&diff, &sides));
    let kernels = diff.kernels.iter().map(|row| Changed {
        name: sides.kernel(&Both { before: row.before, after: row.after }),
        state: state(row.before, row.after),
        metrics: &row.metrics,
        target: row.after.map(Target::Kernel),
    });
    blocks.extend(table("KERNELS that changed", "kernel", kernels));
    let rows = lines(&diff, false).0.into_iter().map(|row| Changed {
        name: places(row.before.as_ref(), row.after.as_ref()),
        state: state(row.before.as_ref(), row.after.as_ref()),
        metrics: &row.metrics,
        target: row.after.as_ref().and_then(|place| line_target(&place.file, place.line)),
    });
    blocks.extend(table("LINES that changed", "line", rows));
    let rows = allocations(&diff, false).0.into_iter().map(|row| Changed {
        name: allocation(row),
        state: state(row.before, row.after),
        metrics: &row.metrics,
        target: row.after.map(Target::Allocation),
    });
    blocks.extend(table("ALLOCATIONS that changed", "allocation", rows));
    View { title: "COMPARISON".to_owned(), place: None, blocks }
}

/// A row of a table.
struct Changed<'a> {
    name: String,
    state: &'static str,
    metrics: &'a Changes,
    target: Option<Target>,
}

fn facts(diff: &Diff, before: &Profile, after: &Profile) -> Vec<Fact> {
    let fact = |label, text| Fact { label, text, target: None };
    let (one, other) = programs(before, after);
    let mut facts = vec![fact("before", one), fact("after", other)];
    for row in &diff.differences {
        let text = format!("{}: {} before, {} after", row.what, or_nothing(&row.before), or_nothing(&row.after));
        facts.push(fact("unlike", text));
    }
    if diff.is_empty() {
        facts.push(fact("changes", "none".to_owned()));
    }
    let program = changes(&diff.program, usize::MAX).into_iter();
    facts.extend(program.map(|[name, values, change]| fact("program", format!("{name} {values} ({change})"))));
    facts
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "nothing" } else { text }
}

/// Returns the most significant figures, as name, `294 912 -> 65 536`, and `4.50 x less, better`.
fn changes(metrics: &Changes, most: usize) -> Vec<[String; 3]> {
    let significant = figures(metrics, false);
    significant
        .into_iter()
        .take(most)
        .map(|figure| {
            let verdict = if figure.verdict == Verdict::Neither { "" } else { figure.verdict.word() };
            let said: Vec<&str> = [&figure.change[..], verdict].into_iter().filter(|word| !word.is_empty()).collect();
            let change = said.join(", ");
            [figure.label, format!("{} -> {}", figure.before, figure.after), change]
        })
        .collect()
}

fn findings(diff: &Diff, sides: &Sides<'_>) -> Option<Block> {
    let row = |what: &str, finding: &Finding, after: bool| Row {
        cells: vec![
            Cell::Text(what.to_owned()),
            Cell::Text(finding.severity.name().to_owned()),
            Cell::Text(finding.id.clone()),
            Cell::Text(sides.finding(finding, after).join(", ")),
        ],
        // A finding that is gone has no target in the profile after.
        target: after.then_some(Target::Finding(finding.rank)),
    };
    let changes = &diff.findings;
    let new = changes.new.iter().map(|finding| row("new", finding, true));
    let changed = changes.changed.iter().map(|both| row("changed", &both.after, true));
    let gone = changes.gone.iter().map(|finding| row("gone", finding, false));
    block("FINDINGS that changed", &["state", "severity", "finding", "where"], new.chain(changed).chain(gone).collect())
}

fn table<'a>(heading: &str, what: &'static str, rows: impl Iterator<Item = Changed<'a>>) -> Option<Block> {
    let mut all = Vec::new();
    for row in rows {
        let mut figures = changes(row.metrics, FIGURES);
        if !row.state.is_empty() {
            figures.insert(0, [row.state.to_owned(), String::new(), String::new()]);
        }
        // Each row contains the name, so that it stays visible after sorting and filtering.
        all.extend(figures.into_iter().map(|figure| Row {
            cells: figure.into_iter().chain([row.name.clone()]).map(Cell::Text).collect(),
            target: row.target.clone(),
        }));
    }
    block(heading, &["figure", "before -> after", "change", what], all)
}

fn block(heading: &str, columns: &[&'static str], rows: Vec<Row>) -> Option<Block> {
    let columns = columns.iter().map(|name| words(name)).collect();
    (!rows.is_empty()).then(|| Block::Table(Table { heading: heading.to_owned(), columns, rows, sorted: None }))
}
