//! Writes predictions as a page without scripts: heat maps over block shapes, line charts over sizes, and the table.

use std::fmt::Write as _;

use crate::words::{bytes, seconds};
use warpline_prediction::document::{Configuration, Document, Sizes};

const STYLE: &str = include_str!("prediction.css");
/// Width and height of a line chart.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
/// Width of the labels next to it.
const RIM: f64 = 70.0;
/// Maximum number of table rows.
const MOST_ROWS: usize = 100;

/// The figure that a map shows.
struct Figure {
    title: &'static str,
    name: &'static str,
    value: fn(&Configuration) -> Option<f64>,
    shown: fn(f64) -> String,
}

const FIGURES: [Figure; 3] = [
    Figure { title: "Time at least", name: "seconds", value: |one| one.seconds, shown: seconds },
    Figure {
        title: "DRAM traffic",
        name: "dram-bytes",
        value: |one| Some((one.dram_load_bytes + one.dram_store_bytes) as f64),
        shown: |value| bytes(value as u64),
    },
    Figure {
        title: "L2 traffic",
        name: "l2-bytes",
        value: |one| Some((one.l2_load_bytes + one.l2_store_bytes) as f64),
        shown: |value| bytes(value as u64),
    },
];

/// Returns the page of all models.
pub fn html(document: &Document) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = page(&mut out, document);
    out
}

fn page(out: &mut String, document: &Document) -> std::fmt::Result {
    let kernel = escaped(&document.kernel);
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\" data-ready>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Predictions of {kernel}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>Predictions of <code>{kernel}</code></h1>\n\
         <p>Launches that were never made, from the compiler's address expressions.</p>\n"
    )?;
    for (number, one) in std::iter::once(document).chain(&document.other_models).enumerate() {
        model(out, one, number)?;
    }
    out.push_str("</main>\n</body>\n</html>\n");
    Ok(())
}

fn model(out: &mut String, document: &Document, number: usize) -> std::fmt::Result {
    writeln!(out, "<section>\n<h2>{}</h2>", escaped(&document.model))?;
    for change in &document.changes {
        writeln!(out, "<p>Changed: {}</p>", escaped(change))?;
    }
    if document.configurations.len() > 1 {
        for figure in &FIGURES {
            map(out, document, figure)?;
        }
    }
    for sizes in &document.sizes {
        line(out, sizes, number)?;
    }
    table(out, document)?;
    out.push_str("<h3>Assumptions</h3>\n<ul>\n");
    for text in &document.assumptions {
        writeln!(out, "<li>{}</li>", escaped(text))?;
    }
    for site in &document.recorded {
        let name = site.file.rsplit('/').next().unwrap_or(&site.file);
        writeln!(out, "<li>from the run: {}:{}: {}</li>", escaped(name), site.line, escaped(&site.reason))?;
    }
    out.push_str("</ul>\n</section>\n");
    Ok(())
}

/// Draws a map over block shapes, with x across, and y and z down.
fn map(out: &mut String, document: &Document, figure: &Figure) -> std::fmt::Result {
    let all = &document.configurations;
    let values: Vec<f64> = all.iter().filter_map(|one| (figure.value)(one)).filter(|value| *value > 0.0).collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    if values.is_empty() {
        return Ok(());
    }
    let mut across: Vec<u32> = all.iter().map(|one| one.block[0]).collect();
    let mut down: Vec<(u32, u32)> = all.iter().map(|one| (one.block[2], one.block[1])).collect();
    across.sort_unstable();
    across.dedup();
    down.sort_unstable();
    down.dedup();
    writeln!(out, "<h3>{} by block shape</h3>", figure.title)?;
    writeln!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title} by block shape, {model}\">\n<table class=\"map\" data-map=\"{name}\">\n\
         <caption>From {low} to {high}; the darker, the more. The shape that was run is framed.</caption>",
        title = figure.title,
        model = escaped(&document.model),
        name = figure.name,
        low = (figure.shown)(least),
        high = (figure.shown)(most)
    )?;
    out.push_str("<thead><tr><th scope=\"col\">y x z \\ x</th>");
    for x in &across {
        write!(out, "<th scope=\"col\">{x}</th>")?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for &(z, y) in &down {
        write!(out, "<tr><th scope=\"row\">{y} x {z}</th>")?;
        for &x in &across {
            let cell = all.iter().find(|one| one.block == [x, y, z]);
            let Some((one, value)) = cell.and_then(|one| Some((one, (figure.value)(one)?))) else {
                out.push_str("<td></td>");
                continue;
            };
            // There are five shades on a logarithmic scale, so that equal factors have equal differences.
            let span = (most / least).ln();
            let shade = if span > 0.0 && value > 0.0 { ((value / least).ln() / span * 4.0).round() as u32 } else { 0 };
            let run = if one.recorded { " run" } else { "" };
            write!(
                out,
                "<td class=\"shade{shade}{run}\" data-block=\"{x}x{y}x{z}\" data-value=\"{value}\">{}</td>",
                (figure.shown)(value)
            )?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    Ok(())
}

/// Draws DRAM bytes per thread over the values of a parameter, with marks where reused data no longer fits into L2.
fn line(out: &mut String, sizes: &Sizes, number: usize) -> std::fmt::Result {
    let points: Vec<(f64, f64, f64)> = sizes
        .points
        .iter()
        .map(|point| (point.value as f64, point.dram_bytes_per_thread, point.l2_reuse_oversubscription))
        .collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(()) };
    let most = points.iter().map(|point| point.1).fold(f64::MIN_POSITIVE, f64::max) * 1.1;
    let position = |value: f64| {
        let share = if last.0 > first.0 { (value - first.0) / (last.0 - first.0) } else { 0.5 };
        RIM + share * (WIDTH - 2.0 * RIM)
    };
    let height = |value: f64| HEIGHT - 30.0 - value / most * (HEIGHT - 50.0);
    let parameter = escaped(&sizes.parameter);
    let [x, y, z] = sizes.block;
    writeln!(out, "<h3>DRAM bytes per thread over {parameter}, blocks of {x}x{y}x{z}</h3>")?;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"sizes-{number}-{parameter}\">\
         <title id=\"sizes-{number}-{parameter}\">DRAM bytes per thread over {parameter}</title>"
    )?;
    let (left, right, floor) = (RIM, WIDTH - RIM, HEIGHT - 30.0);
    writeln!(out, "<path class=\"axis\" d=\"M{left} 10V{floor}H{right}\"/>")?;
    for share in [0.0, 0.5, 1.0] {
        let value = most * share;
        writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value:.1}</text>", RIM - 6.0, height(value) + 4.0)?;
    }
    let path: Vec<String> =
        points.iter().map(|point| format!("{:.1},{:.1}", position(point.0), height(point.1))).collect();
    writeln!(out, "<polyline class=\"line\" points=\"{}\"/>", path.join(" "))?;
    for (value, each, full) in &points {
        writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" data-size=\"{value}\" data-value=\"{each}\" data-full=\"{full}\"/>",
            position(*value),
            height(*each)
        )?;
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            position(*value),
            HEIGHT - 12.0
        )?;
    }
    for (small, large) in sizes.broken_between() {
        // The change lies between the two sizes.
        let at = (small.value as f64).midpoint(large.value as f64);
        writeln!(
            out,
            "<path class=\"condition\" data-condition=\"{at:.0}\" d=\"M{x:.1} 10V{floor}\"/>\
             <text class=\"condition\" x=\"{x:.1}\" y=\"9\" text-anchor=\"middle\">layer condition: {}–{}</text>",
            small.value,
            large.value,
            x = position(at)
        )?;
    }
    out.push_str("</svg>\n");
    Ok(())
}

fn table(out: &mut String, document: &Document) -> std::fmt::Result {
    write!(
        out,
        "<h3>Configurations, best first</h3>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Configurations, {}\">\n\
         <table class=\"list\">\n<thead><tr>",
        escaped(&document.model)
    )?;
    let head = ["block", "grid", "per SM", "time >=", "limiter", "L1 passes", "L2 load", "DRAM load", "DRAM store"];
    for name in head {
        write!(out, "<th scope=\"col\">{}</th>", escaped(name))?;
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    let shape = |[x, y, z]: [u32; 3]| format!("{x}x{y}x{z}");
    for one in document.configurations.iter().take(MOST_ROWS) {
        writeln!(
            out,
            "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            shape(one.block),
            match (one.recorded, one.other_work) {
                (true, _) => " (run)",
                (false, Some(_)) => " (other work)",
                (false, None) => "",
            },
            shape(one.grid),
            one.blocks_per_sm,
            time(one),
            escaped(one.limiter.as_deref().unwrap_or("?")),
            one.l1_wavefronts.map_or_else(|| "?".to_owned(), |passes| passes.to_string()),
            bytes(one.l2_load_bytes),
            bytes(one.dram_load_bytes),
            bytes(one.dram_store_bytes)
        )?;
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    Ok(())
}

/// Returns the time with its interval.
fn time(one: &Configuration) -> String {
    let Some(time) = one.seconds.map(seconds) else { return "?".to_owned() };
    let mark = if one.undecided { "~" } else { "" };
    match (one.seconds_low, one.seconds_high) {
        (Some(low), Some(high)) if low < high => format!("{mark}{time} ({} to {})", seconds(low), seconds(high)),
        _ => format!("{mark}{time}"),
    }
}

/// Escapes text of the program for use in a page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
