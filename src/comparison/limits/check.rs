//! Checks limits against the rows of a comparison.

use super::file::{FigureLimit, FindingLimit, FindingSelector, LimitSet};
use crate::document::{Both, BrokenLimit, Diff, Limits, Value};
use crate::figures::{Better, Figures, Subject, better};
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// A row of a comparison with all its figures, including equal ones.
#[derive(Clone, Debug)]
pub struct Row {
    pub subject: Subject,
    /// Name in messages.
    pub name: Both<String>,
    /// Texts that patterns are matched against.
    pub texts: Vec<String>,
    pub figures: Both<Figures>,
}

/// Checks all limits.
pub fn check(limits: &LimitSet, rows: &[Row], diff: &Diff, after: &Profile) -> Limits {
    let mut result = Limits::default();
    for limit in &limits.figures {
        let before = result.checked;
        rows.iter().filter(|row| is_meant(limit, row)).for_each(|row| check_figure(limit, row, &mut result));
        if result.checked == before {
            result.unmatched.push(limit.name.clone());
        }
    }
    for limit in &limits.findings {
        check_findings(limit, diff, after, &mut result);
    }
    result
}

fn is_meant(limit: &FigureLimit, row: &Row) -> bool {
    limit.subject == row.subject
        && limit.pattern.as_ref().is_none_or(|pattern| row.texts.iter().any(|text| pattern.is_match(text)))
}

fn check_figure(limit: &FigureLimit, row: &Row, result: &mut Limits) {
    // A removed row breaks no limit.
    let Some(after) = &row.figures.after else { return };
    let value = |figures: &Figures| figures.get(&limit.metric);
    let before = row.figures.before.as_ref().map(value);
    let Some(now) = value(after) else {
        // A figure that the row had before and that is now absent counts as checked.
        result.checked += u64::from(before.flatten().is_some());
        return;
    };
    // An absent count is treated as 0; an absent ratio has no value.
    let was = before.and_then(|value| value.or(matches!(now, Value::Count(_)).then_some(Value::Count(0))));
    let more = better(&limit.metric) == Better::More;
    let mut compare = |kind: &str, allowed: f64| {
        result.checked += 1;
        let broken = if more { now.number() < allowed } else { now.number() > allowed };
        if broken {
            result.broken.push(BrokenLimit {
                limit: limit.name.clone(),
                kind: kind.to_owned(),
                subject: row.name.any().cloned().unwrap_or_default(),
                metric: limit.metric.clone(),
                before: was,
                after: Some(now),
                allowed: Some(allowed),
            });
        }
    };
    if let (Some(percent), Some(was)) = (limit.soft, was) {
        let share = percent / 100.0;
        compare("soft", was.number() * if more { 1.0 - share } else { 1.0 + share });
    }
    if let Some(hard) = limit.hard {
        compare("hard", hard);
    }
}

fn check_findings(limit: &FindingLimit, diff: &Diff, after: &Profile, result: &mut Limits) {
    let meant = |finding: &&Finding| match &limit.which {
        FindingSelector::Id(id) => *id == finding.id,
        FindingSelector::Severity(severity) => finding.severity >= *severity,
    };
    let now = after.findings.iter().filter(meant).count() as u64;
    let new = diff.findings.new.iter().filter(meant).count() as u64;
    let gone = diff.findings.gone.iter().filter(meant).count() as u64;
    // Findings may change their severity. The previous number follows from the numbers of current, new and removed
    // findings.
    let was = now.saturating_add(gone).saturating_sub(new);
    for (kind, most, count) in [("hard", limit.hard, now), ("new", limit.new, new)] {
        let Some(most) = most else { continue };
        result.checked += 1;
        if count > most {
            result.broken.push(BrokenLimit {
                limit: limit.name.clone(),
                kind: kind.to_owned(),
                subject: "the program".to_owned(),
                metric: if kind == "new" { "new findings" } else { "findings" }.to_owned(),
                before: Some(Value::Count(if kind == "new" { 0 } else { was })),
                after: Some(Value::Count(count)),
                allowed: Some(most as f64),
            });
        }
    }
}
