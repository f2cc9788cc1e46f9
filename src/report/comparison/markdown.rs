//! Writes a comparison for code reviews, with tables and source lines in GitHub's Markdown.

use std::fmt::Write as _;

use super::estimates;
use super::shown::{
    self, Shown, Sides, Verdict, advice, arrow, broken, figures, in_words, places, programs, state, unchanged, words,
};
use super::text::{DiffOptions, evidence};
use crate::markdown::{code, escaped};
use warpline_comparison::document::{Both, Changes, Diff, Position, Value};
use warpline_comparison::{rank, unit};
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// Returns the comparison of the two profiles.
pub fn markdown(diff: &Diff, before: &Profile, after: &Profile, options: &DiffOptions) -> String {
    let mut page = Page { out: String::new(), options: *options, sides: Sides::new(before, after) };
    let (one, other) = programs(before, after);
    _ = writeln!(page.out, "## Warpline: {} → {}\n", code(&one), code(&other));
    page.comparable(diff);
    page.limits(diff);
    page.whole_runs(diff);
    if !diff.is_empty() {
        page.program(diff);
        page.findings(diff);
        page.kernels(diff);
        page.lines(diff);
        page.branches(diff);
        page.allocations(diff);
    }
    let same = unchanged(&diff.unchanged);
    match (diff.is_empty(), same.is_empty()) {
        (true, true) => page.out.push_str("Nothing changed: both profiles are empty.\n"),
        (true, false) => _ = writeln!(page.out, "**Nothing changed**: {same} are the same in both."),
        (false, true) => {}
        (false, false) => _ = writeln!(page.out, "The same in both, and left out: {same}."),
    }
    page.out
}

struct Page<'a> {
    out: String,
    options: DiffOptions,
    sides: Sides<'a>,
}

impl Page<'_> {
    fn comparable(&mut self, diff: &Diff) {
        if diff.comparable {
            return;
        }
        self.out.push_str(
            "> **Not comparable**: the profiles were not made alike; what follows may be due to that alone.\n>\n",
        );
        self.out.push_str("> | | before | after |\n> |---|---|---|\n");
        for difference in &diff.differences {
            let what = escaped(&words(&difference.what));
            _ = writeln!(self.out, "> | {what} | {} | {} |", escaped(&difference.before), escaped(&difference.after));
        }
        self.out.push('\n');
    }

    /// Writes estimates of whole runs, if a budget recorded only some launches of a side.
    fn whole_runs(&mut self, diff: &Diff) {
        let Some(whole) = &diff.whole_run else { return };
        _ = writeln!(self.out, "### Whole runs, estimated\n\n{}\n", escaped(&estimates::recorded(whole)));
        self.out.push_str("| | before | after | |\n|---|--:|--:|---|\n");
        for row in estimates::estimates(whole, false) {
            _ = writeln!(self.out, "| {} | {} | {} | {} |", row.label, row.before, row.after, row.verdict);
        }
        self.out.push('\n');
    }

    fn limits(&mut self, diff: &Diff) {
        let Some(limits) = &diff.limits else { return };
        if limits.broken.is_empty() {
            _ = writeln!(self.out, "**Limits**: all hold ({} checked).\n", limits.checked);
        } else {
            _ = writeln!(self.out, "**Limits**: {} of {} broken.\n", limits.broken.len(), limits.checked);
            for row in &limits.broken {
                _ = writeln!(self.out, "- :x: {}", escaped(&broken(row)));
            }
            self.out.push('\n');
        }
        for limit in &limits.unmatched {
            _ = writeln!(self.out, "- unused: {}: nothing in the profiles matches it", code(limit));
        }
        if !limits.unmatched.is_empty() {
            self.out.push('\n');
        }
    }

    fn program(&mut self, diff: &Diff) {
        let mut shown = figures(&diff.program, self.options.all);
        for figure in shown.iter_mut().filter(|figure| figure.label == "size") {
            figure.label = "allocated".to_owned();
        }
        if !shown.is_empty() {
            self.out.push_str("### Program\n\n");
            self.table(&shown, usize::MAX);
        }
    }

    fn table(&mut self, shown: &[Shown], most: usize) {
        if shown.is_empty() {
            return;
        }
        self.out.push_str("| figure | before | after | change | |\n|---|---:|---:|---:|---|\n");
        for figure in shown.iter().take(if self.options.all { usize::MAX } else { most }) {
            let verdict = match figure.verdict {
                Verdict::Better => ":green_circle: better",
                Verdict::Worse => ":red_circle: worse",
                Verdict::Neither => "",
            };
            let Shown { label, before, after, change, .. } = figure;
            _ = writeln!(self.out, "| {} | {before} | {after} | {change} | {verdict} |", escaped(label));
        }
        self.out.push('\n');
    }

    fn only(&mut self, changes: &Changes, most: usize) {
        let mut ranked: Vec<(usize, &String)> = changes.keys().filter_map(|name| Some((rank(name)?, name))).collect();
        ranked.sort();
        let value = |[before, after]: [Option<Value>; 2]| after.or(before);
        let each = ranked.into_iter().filter_map(|(_, name)| {
            let value = value(changes[name]).filter(|value| value.number() != 0.0)?;
            Some(format!("{} {}", words(name), in_words(value, unit(name))))
        });
        let text: Vec<String> = each.take(most).collect();
        if !text.is_empty() {
            _ = writeln!(self.out, "{}\n", escaped(&text.join(", ")));
        }
    }

    fn more(&mut self, rows: usize) {
        if rows > self.options.top {
            _ = writeln!(self.out, "And {} more.\n", rows - self.options.top);
        }
    }

    fn caches_alone(&mut self, rows: usize) {
        if rows > 0 {
            _ = writeln!(self.out, "And {rows} of which caches and DRAM alone differ.\n");
        }
    }

    fn findings(&mut self, diff: &Diff) {
        let found = &diff.findings;
        if found.new.is_empty() && found.gone.is_empty() && found.changed.is_empty() {
            return;
        }
        self.out.push_str("### Findings\n\n");
        let top = self.options.top.min(1 << 30);
        for finding in found.gone.iter().take(top) {
            let text = escaped(&finding.reason);
            self.finding(":green_circle: gone", finding, false, &text);
        }
        for finding in found.new.iter().take(top) {
            let text = escaped(&advice(finding));
            self.finding(":red_circle: new", finding, true, &text);
        }
        for change in found.changed.iter().take(top) {
            let text = escaped(&evidence(change));
            self.finding("changed", &change.after, true, &text);
        }
        self.out.push('\n');
        let hidden = |rows: usize| rows.saturating_sub(top);
        self.more(top + hidden(found.gone.len()) + hidden(found.new.len()) + hidden(found.changed.len()));
    }

    fn finding(&mut self, state: &str, finding: &Finding, is_after: bool, text: &str) {
        let about: Vec<String> = self.sides.finding(finding, is_after).iter().map(|text| code(text)).collect();
        let (id, severity) = (code(&finding.id), finding.severity.name());
        _ = writeln!(self.out, "- **{state}** {id} ({severity}) {}: {text}", about.join(", "));
    }

    fn heading(&mut self, state: &str, name: &str, place: &str) {
        let place = if place == "?" { String::new() } else { format!(", {}", code(place)) };
        let state = if state.is_empty() { String::new() } else { format!("{state}: ") };
        _ = writeln!(self.out, "#### {state}{}{place}\n", code(name));
    }

    fn kernels(&mut self, diff: &Diff) {
        if diff.kernels.is_empty() {
            return;
        }
        self.out.push_str("### Kernels\n\n");
        for row in diff.kernels.iter().take(self.options.top) {
            let name = self.sides.kernel(&Both { before: row.before, after: row.after });
            let place = places(row.position.before.as_ref(), row.position.after.as_ref());
            self.heading(state(row.before, row.after), &name, &place);
            if row.before.is_some() && row.after.is_some() {
                self.table(&figures(&row.metrics, self.options.all), 8);
            } else {
                self.only(&row.metrics, 6);
            }
        }
        self.more(diff.kernels.len());
    }

    fn source(&mut self, before: Option<&Position>, after: Option<&Position>) {
        let (before, after) = (before.map_or("", |one| &one.text), after.map_or("", |one| &one.text));
        if before.is_empty() && after.is_empty() {
            return;
        }
        // The fence must be longer than any run of backquotes in the program's lines.
        let fence = "`".repeat(3.max(1 + longest_run(before).max(longest_run(after))));
        _ = writeln!(self.out, "{fence}diff");
        if before == after {
            _ = writeln!(self.out, "  {after}");
        } else {
            for (sign, text) in [("-", before), ("+", after)].iter().filter(|(_, text)| !text.is_empty()) {
                _ = writeln!(self.out, "{sign} {text}");
            }
        }
        _ = writeln!(self.out, "{fence}\n");
    }

    /// Writes a line or branch of a kernel: position, text and differences. `(all, most)` selects the figures.
    fn line_of_code(
        &mut self,
        kernel: &Both<u32>,
        (before, after): (Option<&Position>, Option<&Position>),
        metrics: &Changes,
        (all, most): (bool, usize),
    ) {
        let kernel = self.sides.kernel(kernel);
        self.heading(state(before, after), &places(before, after), &kernel);
        self.source(before, after);
        if before.is_some() && after.is_some() {
            self.table(&figures(metrics, all), most);
        } else {
            self.only(metrics, most);
        }
    }

    fn lines(&mut self, diff: &Diff) {
        let (rows, hidden) = shown::lines(diff, self.options.all);
        if rows.is_empty() && hidden == 0 {
            return;
        }
        self.out.push_str("### Lines\n\n");
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
        self.out.push_str("### Branches\n\n");
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
        self.out.push_str("### Allocations\n\n");
        for row in rows.iter().take(self.options.top) {
            let name = shown::allocation(row);
            let kind = arrow(row.kind.before.clone(), row.kind.after.clone());
            let place = places(row.position.before.as_ref(), row.position.after.as_ref());
            let place = if place == "?" { kind } else { format!("{kind} {place}") };
            self.heading(state(row.before, row.after), &name, &place);
            if row.before.is_some() && row.after.is_some() {
                self.table(&figures(&row.metrics, self.options.all), 5);
            } else {
                self.only(&row.metrics, 5);
            }
        }
        self.more(rows.len());
        self.caches_alone(hidden);
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_program_ends_its_block() {
        assert_eq!(longest_run("a ``` b ` c"), 3);
    }
}
