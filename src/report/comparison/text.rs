//! Writes a comparison for people, within the width of the terminal.

use super::estimates;
use super::shown::{self, Shown, Sides, Verdict, advice, arrow, figures, in_words, places, programs, state, words};
use crate::words::{cut, paragraph};
use warpline_comparison::document::{Both, Changes, Diff, FindingChange, Position, Value};
use warpline_comparison::{BESIDE_OTHERS, unit};
use warpline_profile::Profile;
use warpline_profile::model::{Finding, Severity};

/// Options of the text.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// Whether to use colours (ANSI).
    pub color: bool,
    /// Maximum number of rows per table.
    pub top: usize,
    /// Whether to show all rows and figures.
    pub all: bool,
    /// Width of the terminal in columns.
    pub width: usize,
}

/// Minimum line width; narrower terminals wrap lines.
const LEAST_WIDTH: usize = 60;
/// Maximum line width, because longer lines are hard to read.
const MOST_WIDTH: usize = 140;
/// Width of a value in columns.
const VALUE: usize = 10;
/// Width of a change and of its verdict in columns.
const CHANGE: usize = 12;

/// Returns the comparison of the two profiles.
pub fn text(diff: &Diff, before: &Profile, after: &Profile, options: &DiffOptions) -> String {
    let width = options.width.clamp(LEAST_WIDTH, MOST_WIDTH);
    let mut page = Page { out: String::new(), options: *options, width, sides: Sides::new(before, after) };
    page.head(diff);
    page.findings(diff);
    page.kernels(diff);
    page.lines(diff);
    page.branches(diff);
    page.allocations(diff);
    page.limits(diff);
    page.end(diff);
    page.out
}

struct Page<'a> {
    out: String,
    options: DiffOptions,
    width: usize,
    sides: Sides<'a>,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.options.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn heading(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let text = self.paint("1", text);
        self.line(&text);
    }

    /// Writes words in lines of the page's width, each after an indent. The first line may have another indent.
    fn words(&mut self, first: &str, indent: usize, text: &str) {
        self.out.push_str(&paragraph(&format!("{first:<indent$}"), text, self.width));
    }

    fn head(&mut self, diff: &Diff) {
        let (before, after) = programs(self.sides.before, self.sides.after);
        self.heading("Warpline: comparison of two profiles");
        self.words("  before", 10, &before);
        self.words("  after", 10, &after);
        if !diff.comparable {
            self.heading("NOT COMPARABLE");
            self.words("", 2, "The profiles were not made alike; what follows may be due to that alone.");
            for difference in &diff.differences {
                let side = |text: &str| if text.is_empty() { "not reported".to_owned() } else { text.to_owned() };
                let (before, after) = (side(&difference.before), side(&difference.after));
                let text =
                    if before == after { format!("{before}, both") } else { format!("{before} before, {after} after") };
                self.words(&format!("  {}", words(&difference.what)), 20, &text);
            }
        }
        self.whole_runs(diff);
        if diff.is_empty() {
            self.out.push('\n');
            return;
        }
        self.heading("PROGRAM");
        let found = &diff.findings;
        let findings = [(found.gone.len(), "gone"), (found.new.len(), "new"), (found.changed.len(), "changed")];
        let findings: Vec<String> =
            findings.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        if !findings.is_empty() {
            self.line(&format!("  findings: {}", findings.join(", ")));
        }
        let mut shown = figures(&diff.program, self.options.all);
        for figure in shown.iter_mut().filter(|figure| figure.label == "size") {
            figure.label = "allocated".to_owned();
        }
        if shown.is_empty() && findings.is_empty() {
            self.line("  the sums are the same; the changes are within them");
        }
        self.figures(2, &shown, usize::MAX);
    }

    /// Writes estimates of whole runs, if a budget recorded only some launches of a side.
    fn whole_runs(&mut self, diff: &Diff) {
        let Some(whole) = &diff.whole_run else { return };
        self.heading("WHOLE RUNS, estimated");
        self.words("", 2, &estimates::recorded(whole));
        for row in estimates::estimates(whole, self.options.all) {
            self.line(&format!("  {:<28} {:>20} {:>20}  {}", row.label, row.before, row.after, row.verdict));
        }
    }

    /// Writes the figures of a row as a table.
    fn figures(&mut self, indent: usize, shown: &[Shown], most: usize) {
        let most = if self.options.all { usize::MAX } else { most };
        let label = self.width - indent - 2 * VALUE - CHANGE - 14;
        for figure in shown.iter().take(most) {
            let verdict = match figure.verdict {
                Verdict::Better => self.paint("32", Verdict::Better.word()),
                Verdict::Worse => self.paint("31", Verdict::Worse.word()),
                Verdict::Neither => String::new(),
            };
            // The gap is limited even in wide terminals.
            let label = label.min(40);
            let Shown { before, after, change, .. } = figure;
            let name: String = figure.label.chars().take(label).collect();
            self.line(&format!(
                "{:indent$}{name:<label$} {before:>VALUE$} -> {after:>VALUE$}  {change:<CHANGE$} {verdict}",
                ""
            ));
        }
    }

    /// Writes the figures of a row that exists on one side only, in one or more lines.
    fn only(&mut self, indent: usize, changes: &Changes, most: usize) {
        let value = |[before, after]: [Option<Value>; 2]| after.or(before);
        let mut ranked: Vec<(usize, &String)> =
            changes.keys().filter_map(|name| Some((warpline_comparison::rank(name)?, name))).collect();
        ranked.sort();
        let each = ranked.into_iter().filter_map(|(_, name)| {
            let value = value(changes[name])?;
            (value.number() != 0.0).then(|| format!("{} {}", words(name), in_words(value, unit(name))))
        });
        let text: Vec<String> = each.take(if self.options.all { usize::MAX } else { most }).collect();
        if !text.is_empty() {
            self.words("", indent, &text.join(", "));
        }
    }

    /// Writes the text of a line; both versions if it was edited.
    fn source(&mut self, before: Option<&Position>, after: Option<&Position>) {
        let rows = match (before, after) {
            (Some(one), Some(other)) if one.text != other.text => vec![("-", &one.text), ("+", &other.text)],
            (None, Some(position)) => vec![("+", &position.text)],
            (Some(position), None) => vec![("-", &position.text)],
            (_, Some(position)) => vec![("|", &position.text)],
            (None, None) => Vec::new(),
        };
        for (sign, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
            let room = self.width - 8;
            let text = cut(&text.replace('\t', "    "), room);
            let code = match sign {
                "-" => "31",
                "+" => "32",
                _ => "2",
            };
            let row = self.paint(code, &format!("{sign} {text}"));
            self.line(&format!("      {row}"));
        }
    }

    fn title(&mut self, state: &str, name: &str, place: &str) {
        let state = if state.is_empty() { String::new() } else { format!("{state}: ") };
        let place = if place == "?" { "" } else { place };
        let length = |text: &str| text.chars().count();
        let fits = 4 + length(&state) + length(name) + length(place) <= self.width;
        let room = self.width - 2 - length(&state);
        let painted = self.paint("1", &cut(name, room));
        if fits {
            self.line(&format!("  {state}{painted}  {place}"));
        } else {
            self.line(&format!("  {state}{painted}"));
            self.words("", 6, place);
        }
    }

    fn more(&mut self, rows: usize) {
        let top = self.options.top;
        if rows > top {
            let text = self.paint("2", &format!("  and {} more (--top N, --all)", rows - top));
            self.line(&text);
        }
    }

    fn caches_alone(&mut self, rows: usize) {
        if rows > 0 {
            let text = self.paint("2", &format!("  and {rows} of which caches and DRAM alone differ (--all)"));
            self.line(&text);
        }
    }

    fn findings(&mut self, diff: &Diff) {
        let found = &diff.findings;
        if found.new.is_empty() && found.gone.is_empty() && found.changed.is_empty() {
            return;
        }
        self.heading("FINDINGS");
        let top = self.options.top;
        for finding in found.gone.iter().take(top) {
            self.finding("gone", "32", finding, false);
            self.words("", 6, &finding.reason);
        }
        self.more(found.gone.len());
        for finding in found.new.iter().take(top) {
            self.finding("new", if finding.severity == Severity::Note { "33" } else { "31" }, finding, true);
            self.words("", 6, &advice(finding));
        }
        self.more(found.new.len());
        for change in found.changed.iter().take(top) {
            self.finding("changed", "33", &change.after, true);
            self.words("", 6, &evidence(change));
        }
        self.more(found.changed.len());
    }

    fn finding(&mut self, state: &str, code: &str, finding: &Finding, is_after: bool) {
        let state = self.paint(code, &format!("{state:<8}"));
        let what = self.paint("1", &finding.id);
        let about = self.sides.finding(finding, is_after).join(", ");
        let severity = finding.severity.name();
        if 21 + finding.id.chars().count() + 2 + about.chars().count() <= self.width {
            self.line(&format!("  {state} {severity:<8} {what}  {about}"));
        } else {
            self.line(&format!("  {state} {severity:<8} {what}"));
            self.words("", 6, &about);
        }
    }

    fn kernels(&mut self, diff: &Diff) {
        if diff.kernels.is_empty() {
            return;
        }
        self.heading("KERNELS");
        for row in diff.kernels.iter().take(self.options.top) {
            let ids = Both { before: row.before, after: row.after };
            let name = self.sides.kernel(&ids);
            let place = places(row.position.before.as_ref(), row.position.after.as_ref());
            self.title(state(row.before, row.after), &name, &place);
            if row.before.is_some() && row.after.is_some() {
                self.figures(4, &figures(&row.metrics, self.options.all), 8);
            } else {
                self.only(4, &row.metrics, 6);
            }
        }
        self.more(diff.kernels.len());
    }

    /// Writes a line or branch of a kernel: position, text and differences. `(all, most)` selects the figures.
    fn line_of_code(
        &mut self,
        kernel: &Both<u32>,
        (before, after): (Option<&Position>, Option<&Position>),
        metrics: &Changes,
        (all, most): (bool, usize),
    ) {
        let place = places(before, after);
        let kernel = format!("in {}", self.sides.kernel(kernel));
        self.title(state(before, after), &place, &kernel);
        self.source(before, after);
        if before.is_some() && after.is_some() {
            self.figures(6, &figures(metrics, all), most);
        } else {
            self.only(6, metrics, most);
        }
    }

    fn lines(&mut self, diff: &Diff) {
        let (rows, hidden) = shown::lines(diff, self.options.all);
        if rows.is_empty() && hidden == 0 {
            return;
        }
        self.heading("LINES");
        for row in rows.iter().take(self.options.top) {
            let all = self.options.all;
            self.line_of_code(&row.kernel, (row.before.as_ref(), row.after.as_ref()), &row.metrics, (all, 4));
        }
        self.more(rows.len());
        self.caches_alone(hidden);
    }

    fn branches(&mut self, diff: &Diff) {
        let rows: Vec<_> = diff.branches.iter().filter(|row| row.is_significant()).collect();
        if rows.is_empty() {
            return;
        }
        self.heading("BRANCHES");
        for row in rows.iter().take(self.options.top) {
            self.line_of_code(&row.kernel, (row.before.as_ref(), row.after.as_ref()), &row.metrics, (true, 3));
        }
        self.more(rows.len());
    }

    fn allocations(&mut self, diff: &Diff) {
        let (rows, hidden) = shown::allocations(diff, self.options.all);
        if rows.is_empty() && hidden == 0 {
            return;
        }
        self.heading("ALLOCATIONS");
        for row in rows.iter().take(self.options.top) {
            let name = shown::allocation(row);
            let kind = arrow(row.kind.before.clone(), row.kind.after.clone());
            let place = places(row.position.before.as_ref(), row.position.after.as_ref());
            let place = if place == "?" { kind } else { format!("{kind}  {place}") };
            self.title(state(row.before, row.after), &name, &place);
            if row.before.is_some() && row.after.is_some() {
                self.figures(4, &figures(&row.metrics, self.options.all), 5);
            } else {
                self.only(4, &row.metrics, 5);
            }
        }
        self.more(rows.len());
        self.caches_alone(hidden);
    }

    fn limits(&mut self, diff: &Diff) {
        let Some(limits) = &diff.limits else { return };
        let (checked, broken) = (limits.checked, limits.broken.len());
        let title = if broken == 0 {
            format!("LIMITS: all hold ({checked} checked)")
        } else {
            format!("LIMITS: {broken} of {checked} broken")
        };
        self.heading(&title);
        for row in &limits.broken {
            self.words("  broken", 10, &shown::broken(row));
        }
        for limit in &limits.unmatched {
            self.words("  unused", 10, &format!("{limit}: nothing in the profiles matches it"));
        }
    }

    fn end(&mut self, diff: &Diff) {
        let same = shown::unchanged(&diff.unchanged);
        let text = match (diff.is_empty(), same.is_empty()) {
            (true, true) => "Nothing changed: both profiles are empty.".to_owned(),
            (true, false) => format!("Nothing changed: {same} are the same in both."),
            (false, true) => return,
            (false, false) => format!("The same in both, and left out: {same}."),
        };
        if !diff.is_empty() || diff.limits.is_some() {
            self.out.push('\n');
        }
        self.words("", 0, &text);
    }
}

/// Describes the changes in a finding's severity and evidence.
pub(super) fn evidence(change: &FindingChange) -> String {
    let FindingChange { before, after } = change;
    let mut parts = Vec::new();
    if before.severity != after.severity {
        // Shares that depend on other kernels make the finding neither better nor worse.
        let is_own = |(name, value): (&String, &f64)| {
            !BESIDE_OTHERS.contains(&&name[..]) && after.evidence.get(name) != Some(value)
        };
        let why = match before.evidence.iter().any(is_own) {
            true if before.severity > after.severity => "better",
            true => "worse",
            false => "another part of the program's time",
        };
        parts.push(format!("{} before, {} now ({why})", before.severity.name(), after.severity.name()));
    }
    let gone = before.evidence.keys().filter(|name| !after.evidence.contains_key(*name));
    for name in after.evidence.keys().chain(gone) {
        let number = |finding: &Finding| finding.evidence.get(name).copied();
        let (one, other) = (number(before), number(after));
        let text = |value: Option<f64>| value.map_or("-".to_owned(), number_of);
        if one != other {
            parts.push(format!("{} {} -> {}", words(name), text(one), text(other)));
        }
    }
    parts.join(", ")
}

/// Formats evidence, whose unit is unknown here.
fn number_of(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        if value >= 0.0 { crate::words::count(value as u64) } else { format!("{value:.0}") }
    } else if value.abs() >= 0.01 && value.abs() < 1e6 {
        format!("{value:.2}")
    } else {
        format!("{value:.2e}")
    }
}
