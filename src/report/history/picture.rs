//! Draws each series as a picture (SVG), alone or in a page without scripts and external resources.

use std::fmt::Write as _;

use super::{change, commit, title};
use crate::comparison::shown::in_words;
use warpline_comparison::document::Value;
use warpline_comparison::history::{History, Series};
use warpline_comparison::unit;

/// Width of a series' picture.
const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 220.0;
/// Space for the scale and the title.
const LEFT: f64 = 90.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 30.0;

/// Draws all series, one below the other.
pub fn svg(history: &History) -> String {
    let height = HEIGHT * history.series.len().max(1) as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    for (number, series) in history.series.iter().enumerate() {
        draw(&mut out, history, series, HEIGHT * number as f64);
    }
    out.push_str("</svg>\n");
    out
}

/// Returns a page of all series, with tables of the changes.
pub fn html(history: &History) -> String {
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    );
    _ = writeln!(
        out,
        "<title>{}</title>\n<style>body{{font:14px sans-serif;margin:2em auto;max-width:60em}}td,th{{padding:2px 12px;text-align:left}}\
         td.n{{text-align:right}}</style></head><body>\n<h1>{}</h1>",
        escaped(&history.metric),
        escaped(&history.metric)
    );
    for series in &history.series {
        _ = writeln!(out, "<h2>{}</h2>", escaped(&title(history, series)));
        let alone = History { series: vec![series.clone()], ..history.clone() };
        out.push_str(&svg(&alone));
        out.push_str("<table><tr><th>commit</th><th>date</th><th>value</th><th>change</th></tr>\n");
        let mut before: Option<Value> = None;
        for (index, point) in series.points.iter().enumerate() {
            if index > 0 && !point.changed {
                continue;
            }
            let shown = point.value.map_or("none".to_owned(), |value| in_words(value, unit(&history.metric)));
            let text = if point.changed { change(&history.metric, before, point.value).0 } else { String::new() };
            _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
                escaped(commit(point)),
                escaped(&point.date),
                escaped(&shown),
                escaped(&text)
            );
            before = point.value;
        }
        out.push_str("</table>\n");
    }
    out.push_str("</body></html>\n");
    out
}

fn draw(out: &mut String, history: &History, series: &Series, top: f64) {
    let most = series.points.iter().filter_map(|point| point.value.map(Value::number)).fold(0.0, f64::max);
    let room = HEIGHT - TOP - BOTTOM;
    let last = series.points.len().saturating_sub(1).max(1) as f64;
    let x = |index: usize| LEFT + (WIDTH - LEFT - 20.0) * index as f64 / last;
    let y = |number: f64| top + TOP + room * (1.0 - if most > 0.0 { number / most } else { 0.0 });
    _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
        top + 20.0,
        escaped(&title(history, series))
    );
    for share in [0.0, 0.5, 1.0] {
        let value = most * share;
        let shown = in_words(
            if value.fract() == 0.0 { Value::Count(value as u64) } else { Value::Ratio(value) },
            unit(&history.metric),
        );
        let at = y(value);
        _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ccc\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            WIDTH - 20.0,
            LEFT - 8.0,
            at + 4.0,
            escaped(&shown)
        );
    }
    let mut path = String::new();
    let mut before: Option<f64> = None;
    for (index, point) in series.points.iter().enumerate() {
        let number = point.value.map(Value::number);
        match (before, number) {
            // A value applies until the next commit that changes it.
            (Some(_), Some(number)) => _ = write!(path, "H{:.1}V{:.1}", x(index), y(number)),
            (None, Some(number)) => _ = write!(path, "M{:.1} {:.1}", x(index), y(number)),
            (_, None) => {}
        }
        before = number;
    }
    _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#2563eb\" stroke-width=\"2\"/>");
    let mut was: Option<Value> = None;
    for (index, point) in series.points.iter().enumerate() {
        if let Some(value) = point.value.filter(|_| point.changed || index == 0) {
            let (text, good) = change(&history.metric, was, Some(value));
            let color = match good.filter(|_| index > 0) {
                Some(true) => "#15803d",
                Some(false) => "#b91c1c",
                None => "#2563eb",
            };
            let shown = in_words(value, unit(&history.metric));
            let about = if index > 0 { format!("{shown}, {text}") } else { shown };
            _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{color}\"><title>{}: {}</title></circle>",
                x(index),
                y(value.number()),
                escaped(commit(point)),
                escaped(&about)
            );
            if index > 0 {
                _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\">{}</text>",
                    x(index),
                    top + HEIGHT - 10.0,
                    escaped(&commit(point).chars().take(7).collect::<String>())
                );
            }
        }
        if index == 0 || point.changed {
            was = point.value;
        }
    }
}

/// Escapes text for use in markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}
