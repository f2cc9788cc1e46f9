//! Draws a chart for terminals: an overview of the values of all commits, then the commits with changes.

use super::{change, commit, title};
use crate::DiffOptions;
use crate::comparison::shown::in_words;
use warpline_comparison::document::Value;
use warpline_comparison::history::{History, Point, Series};
use warpline_comparison::unit;

/// Characters for the heights of a column.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Width of a bar in columns.
const BAR: usize = 24;

/// Returns the chart. If `options.all` is true, commits without changes are included.
pub fn text(history: &History, options: &DiffOptions) -> String {
    let mut out = String::new();
    for series in &history.series {
        one(&mut out, history, series, options);
    }
    out
}

fn one(out: &mut String, history: &History, series: &Series, options: &DiffOptions) {
    let bold = |text: &str| if options.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() };
    out.push_str(&bold(&title(history, series)));
    out.push('\n');
    let numbers: Vec<f64> = series.points.iter().filter_map(|point| point.value.map(Value::number)).collect();
    let most = numbers.iter().copied().fold(0.0, f64::max);
    let width = options.width.clamp(40, 140) - 4;
    for columns in series.points.chunks(width) {
        let row: String = columns.iter().map(|point| step(point.value, most)).collect();
        out.push_str(&format!("  {row}\n"));
    }
    let mut quiet = 0;
    let mut before: Option<Value> = None;
    for (index, point) in series.points.iter().enumerate() {
        let first = index == 0;
        if first || point.changed || options.all {
            same(out, &mut quiet);
            row(out, history, point, before.filter(|_| !first), most, options);
        } else {
            quiet += 1;
        }
        if first || point.changed {
            before = point.value;
        }
    }
    same(out, &mut quiet);
    let changes = series.points.iter().filter(|point| point.changed).count();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    out.push_str(&format!(
        "  {}, {}\n\n",
        plural(series.points.len(), "recording"),
        if changes == 0 { "no change".to_owned() } else { plural(changes, "change") }
    ));
}

fn step(value: Option<Value>, most: f64) -> char {
    let Some(number) = value.map(Value::number) else { return ' ' };
    let share = if most > 0.0 { (number / most).clamp(0.0, 1.0) } else { 0.0 };
    STEPS[(share * (STEPS.len() - 1) as f64).round() as usize]
}

/// Writes the number of commits without changes.
fn same(out: &mut String, quiet: &mut usize) {
    if *quiet > 0 {
        out.push_str(&format!("  {:10}  … {quiet} more with this value\n", ""));
        *quiet = 0;
    }
}

fn row(out: &mut String, history: &History, point: &Point, before: Option<Value>, most: f64, options: &DiffOptions) {
    let shown = point.value.map_or("none".to_owned(), |value| in_words(value, unit(&history.metric)));
    let share = point.value.map_or(0.0, |value| if most > 0.0 { (value.number() / most).clamp(0.0, 1.0) } else { 0.0 });
    let bar = "█".repeat((share * BAR as f64).round() as usize);
    let date = point.date.get(..10).unwrap_or_default();
    let mut line = format!("  {:10}  {date:10}  {bar:BAR$} {shown:>12}", commit(point));
    if point.changed {
        let (text, good) = change(&history.metric, before, point.value);
        let (code, word) = match good {
            Some(true) => ("32", " better"),
            Some(false) => ("31", " worse"),
            None => ("0", ""),
        };
        let text = format!("{text}{word}");
        line.push_str("  ");
        line.push_str(&if options.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text });
    }
    out.push_str(line.trim_end());
    out.push('\n');
}
