//! Writes views as GitHub Markdown.

use std::fmt::Write as _;

use super::model::{Block, Cell, Source, Table, View};
use crate::markdown::{code, escaped};
use crate::words::short_path;

/// Returns the view with at most `top` rows per table.
pub fn markdown(view: &View, top: usize) -> String {
    let mut out = format!("## {}\n\n", escaped(&view.title));
    for block in &view.blocks {
        match block {
            Block::Facts(facts) => {
                for fact in facts {
                    _ = writeln!(out, "- **{}**: {}", escaped(fact.label), escaped(&fact.text));
                }
                out.push('\n');
            }
            Block::Prose(prose) => _ = writeln!(out, "{}\n", escaped(prose)),
            Block::Source(source) => write_source(&mut out, source),
            Block::Table(table) => write_table(&mut out, table, top),
        }
    }
    out
}

/// Writes source with a fence that no source line can close.
fn write_source(out: &mut String, source: &Source) {
    let longest =
        source.lines.iter().flat_map(|line| line.text.split(|character| character != '`')).map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    _ = writeln!(out, "{}\n\n{fence}cuda", code(short_path(&source.file)));
    for line in &source.lines {
        let mark = if line.marked { '>' } else { ' ' };
        _ = writeln!(out, "{mark} {:>5} | {}", line.number, line.text);
    }
    _ = writeln!(out, "{fence}\n");
}

fn write_table(out: &mut String, table: &Table, top: usize) {
    _ = writeln!(out, "### {}\n", escaped(&table.heading));
    let names: Vec<String> = table.columns.iter().map(|column| escaped(column.name)).collect();
    let rules: Vec<&str> = (0..table.columns.len())
        .map(|column| {
            let words = |row: &super::model::Row| row.cells.get(column).is_some_and(|cell| !cell.is_figure());
            if table.rows.iter().any(words) { "---" } else { "--:" }
        })
        .collect();
    _ = writeln!(out, "| {} |\n|{}|", names.join(" | "), rules.join("|"));
    for row in table.rows.iter().take(top) {
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| match cell {
                Cell::Text(text) if text.is_empty() => String::new(),
                Cell::Text(text) => code(text),
                figure => figure.text(),
            })
            .collect();
        _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if table.rows.len() > top {
        _ = writeln!(out, "\n… and {} more.", table.rows.len() - top);
    }
    out.push('\n');
}
