//! Writes predictions as a table, with the best configuration first.

use std::fmt::Write as _;

use crate::words::wrap::paragraph;
use crate::words::{bytes, count, percent, seconds};
use warpline_prediction::document::{Configuration, Document};

/// Maximum number of sites listed below the table.
const MOST_SITES: usize = 10;

/// The names of the columns.
const HEAD: [&str; 12] = [
    "rank",
    "block",
    "grid",
    "per SM",
    "time >=",
    "limiter",
    "L1 passes",
    "L2 load",
    "L2 store",
    "DRAM load",
    "DRAM store",
    "affine",
];

/// Columns that are removed if a terminal is too narrow, in the order of removal.
const LEAVE: [&str; 6] = ["L2 store", "L1 passes", "grid", "per SM", "DRAM store", "affine"];
/// Blanks between two columns.
const GAP: usize = 2;

/// Returns the tables of all models, with `top` configurations of each and the recorded one. If `width` is given, lines
/// are limited to that many columns.
pub fn text(document: &Document, top: usize, width: Option<usize>) -> String {
    let mut out = String::new();
    for (number, one) in std::iter::once(document).chain(&document.other_models).enumerate() {
        if number > 0 {
            out.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write(&mut out, one, top, width);
    }
    out
}

fn write(out: &mut String, document: &Document, top: usize, width: Option<usize>) -> std::fmt::Result {
    let item = |first: &str, text: &str| match width {
        Some(width) => paragraph(first, text, width),
        None => format!("{first}{text}\n"),
    };
    writeln!(out, "{}", document.kernel)?;
    let all = document.configurations.len();
    writeln!(
        out,
        "predicted for {}, {all} configuration{}, best first",
        document.model,
        if all == 1 { "" } else { "s" }
    )?;
    writeln!(out)?;
    write_table(out, document, top, width)?;
    if document.configurations.iter().any(|one| one.recorded) {
        writeln!(out, "* as it was run")?;
    }
    if let Some((one, share)) = document.configurations.iter().find_map(|one| Some((one, one.other_work?))) {
        let text = format!(
            "not the work of {} (blocks of {}: {} of it), so no rival of the others: {}",
            whose_work(document),
            shape(one.block),
            percent(share),
            match document.compared_with {
                Some(one) if document.configurations.iter().all(|own| own.grid == one.grid) =>
                    "each shape needs a grid of its own, so request one at a time",
                _ =>
                    "the program makes some parameter of the shape, which keeps its value here, or the grid does not fit it; set their values with \
                     --set and --grid",
            }
        );
        out.push_str(&item("! ", &text));
    }
    if let Some(alike) = as_fast_as_the_first(document) {
        writeln!(
            out,
            "{alike} configurations take as long as the first one, to three digits: they are in the order of their traffic"
        )?;
    }
    write_decisions(out, document, &item)?;
    writeln!(out)?;
    write_sizes(out, document)?;
    for change in &document.changes {
        out.push_str(&item("changed: ", change));
    }
    for assumption in &document.assumptions {
        out.push_str(&item("assumed: ", assumption));
    }
    write_left_out(out, document)
}

/// Writes the rows of the best configurations and of the recorded one.
fn write_table(out: &mut String, document: &Document, top: usize, width: Option<usize>) -> std::fmt::Result {
    let shown = document.configurations.iter().zip(1..).filter(|(one, rank)| *rank <= top || one.recorded);
    let rows: Vec<Vec<String>> = shown.map(|(one, rank)| cells(one, rank)).collect();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).chain([HEAD[column].len()]).max().unwrap_or(0))
        .collect();
    let mut columns: Vec<usize> = (0..HEAD.len()).collect();
    for name in LEAVE {
        let wide: usize = columns.iter().map(|&column| widths[column] + GAP).sum::<usize>().saturating_sub(GAP);
        if width.is_some_and(|width| wide > width) {
            columns.retain(|&column| HEAD[column] != name);
        }
    }
    let line = |cells: &[&str]| {
        let padded = columns.iter().map(|&column| match (column, cells[column], widths[column]) {
            (1 | 2 | 5, cell, width) => format!("{cell:<width$}"),
            (_, cell, width) => format!("{cell:>width$}"),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", line(&HEAD))?;
    for row in &rows {
        writeln!(out, "{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()))?;
    }
    Ok(())
}

/// Writes the figures for each value of `--over`.
fn write_sizes(out: &mut String, document: &Document) -> std::fmt::Result {
    for sizes in &document.sizes {
        let [x, y, z] = sizes.block;
        writeln!(
            out,
            "blocks of {x}x{y}x{z} over {}: DRAM bytes per thread, time, L2 filled between two uses, lost of what is loaded again",
            sizes.parameter
        )?;
        for size in &sizes.points {
            let broken = sizes.broken_between().find(|(_, large)| large.value == size.value);
            writeln!(
                out,
                "  {:>10}  {:>10.2}  {:>10}  {:>8.2}  {:>7}{}",
                size.value,
                size.dram_bytes_per_thread,
                size.seconds.map_or_else(|| "?".to_owned(), seconds),
                size.l2_reuse_oversubscription,
                percent(size.l2_reuse_lost),
                broken
                    .map_or_else(String::new, |(small, _)| format!("  a layer condition breaks above {}", small.value)),
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes which figures are from the run, and which shapes are not predicted.
fn write_left_out(out: &mut String, document: &Document) -> std::fmt::Result {
    for site in document.recorded.iter().take(MOST_SITES) {
        let name = site.file.rsplit('/').next().unwrap_or(&site.file);
        writeln!(out, "from the run: {name}:{}: {}", site.line, site.reason)?;
    }
    if document.recorded.len() > MOST_SITES {
        writeln!(out, "from the run: {} more, see --format json", document.recorded.len() - MOST_SITES)?;
    }
    for refused in document.refused.iter().take(3) {
        let [x, y, z] = refused.block;
        writeln!(out, "left out: {x}x{y}x{z}: {}", refused.reason)?;
    }
    if document.refused.len() > 3 {
        writeln!(out, "left out: {} more, see --format json", document.refused.len() - 3)?;
    }
    Ok(())
}

/// Writes which configurations only a measurement can order, and which of them are worth one.
fn write_decisions(out: &mut String, document: &Document, item: &dyn Fn(&str, &str) -> String) -> std::fmt::Result {
    let all = &document.configurations;
    let undecided = all.iter().filter(|one| one.undecided).count();
    if undecided > 1 {
        let hint = if document.worth_measuring.is_some() { "" } else { "; --budget N names the ones to measure" };
        let text = format!(
            "the intervals of {undecided} times overlap that of the first one: a measurement has to decide{hint}"
        );
        out.push_str(&item("~ ", &text));
    }
    if let Some(worth) = &document.worth_measuring {
        let shapes: Vec<String> =
            worth.configurations.iter().filter_map(|&at| all.get(at)).map(|one| shape(one.block)).collect();
        let rest = match worth.left_out {
            0 => String::new(),
            left => format!("; {left} more undecided"),
        };
        out.push_str(&item("worth measuring: ", &format!("{}{rest}", shapes.join(", "))));
    }
    Ok(())
}

/// Returns the number of configurations with the same time as the best one, including it, if there are others.
fn as_fast_as_the_first(document: &Document) -> Option<usize> {
    let seconds = document.configurations.first()?.rounded_seconds()?;
    let alike = document.configurations.iter().filter(|one| one.rounded_seconds() == Some(seconds)).count();
    (alike > 1).then_some(alike)
}

/// Describes the launch that `other_work` refers to.
fn whose_work(document: &Document) -> String {
    document.compared_with.map_or_else(
        || "the launch as it was".to_owned(),
        |one| format!("blocks of {} in a grid of {}", shape(one.block), shape(one.grid)),
    )
}

fn mark(one: &Configuration) -> &'static str {
    match (one.recorded, one.other_work) {
        (true, _) => "*",
        (false, Some(_)) => "!",
        (false, None) => "",
    }
}

fn shape([x, y, z]: [u32; 3]) -> String {
    if z == 1 { format!("{x}x{y}") } else { format!("{x}x{y}x{z}") }
}

/// Formats bytes with their uncertainty in per cent.
fn uncertain(number: u64, uncertainty: f64) -> String {
    format!("{} ±{:.0} %", bytes(number), (100.0 * uncertainty).ceil())
}

/// Returns the time, marked if its interval overlaps that of the first configuration.
fn time(one: &Configuration) -> String {
    let mark = if one.undecided { "~" } else { "" };
    one.seconds.map_or_else(|| "?".to_owned(), |time| format!("{mark}{}", seconds(time)))
}

fn cells(one: &Configuration, rank: usize) -> Vec<String> {
    let known = one.affine_share + one.computed_share;
    vec![
        rank.to_string(),
        format!("{}{}", shape(one.block), mark(one)),
        shape(one.grid),
        one.blocks_per_sm.to_string(),
        time(one),
        one.limiter.clone().unwrap_or_else(|| "?".to_owned()),
        one.l1_wavefronts.map_or_else(|| "?".to_owned(), count),
        uncertain(one.l2_load_bytes, one.l2_load_uncertainty),
        bytes(one.l2_store_bytes),
        uncertain(one.dram_load_bytes, one.dram_load_uncertainty),
        bytes(one.dram_store_bytes),
        if one.computed_share > 0.0 && known > one.affine_share {
            format!("{} + {}", percent(one.affine_share), percent(one.computed_share))
        } else {
            percent(one.affine_share)
        },
    ]
}
