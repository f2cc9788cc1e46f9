//! Writes views as text of a given width.

use std::fmt::Write as _;

use super::model::{Block, Cell, Fact, Source, Table, View};
use crate::words::{Style, bar, cut, paragraph};

/// Width of a label, and width between columns of a table.
const LABEL: usize = 9;
const GAP: usize = 2;

/// Returns the view with at most `top` rows per table.
pub fn text(view: &View, top: usize, width: usize, color: bool) -> String {
    let style = Style { color };
    let mut out = format!("{}\n", style.heading(&view.title));
    for block in &view.blocks {
        match block {
            Block::Facts(facts) => write_facts(&mut out, facts, width),
            Block::Prose(prose) => {
                out.push('\n');
                out.push_str(&paragraph("  ", prose, width));
            }
            Block::Source(source) => write_source(&mut out, source, style, width),
            Block::Table(table) => {
                out.push('\n');
                write_table(&mut out, table, top, style, width);
            }
        }
    }
    out
}

fn write_facts(out: &mut String, facts: &[Fact], width: usize) {
    for fact in facts {
        out.push_str(&paragraph(&format!("  {:<LABEL$} ", fact.label), &fact.text, width));
    }
}

fn write_source(out: &mut String, source: &Source, style: Style, width: usize) {
    out.push('\n');
    let cold = source.lines.iter().all(|line| line.heat == 0.0);
    let mut last = None;
    for line in &source.lines {
        if last.is_some_and(|last| line.number > last + 1) {
            _ = writeln!(out, "  {:>19} …", "");
        }
        last = Some(line.number);
        let mark = if line.marked { ">" } else { " " };
        let heat = match line.heat {
            // The source has no figures.
            _ if cold => String::new(),
            heat if heat > 0.0 => bar(heat),
            _ => " ".repeat(10),
        };
        let text = cut(&format!("{mark} {heat} {:>6} | {}", line.number, line.text), width.saturating_sub(2));
        _ = writeln!(out, "  {}", if line.marked { style.strong(&text) } else { text });
    }
}

/// Writes as many columns as fit.
fn write_table(out: &mut String, table: &Table, top: usize, style: Style, width: usize) {
    _ = writeln!(out, "{}", style.heading(&table.heading));
    let rows = table.rows.len().min(top);
    let columns = table.layout(0..rows, width.saturating_sub(2), GAP, None, false);
    let head = columns.iter().map(|(column, _)| table.columns[*column].name.to_owned()).collect();
    _ = writeln!(out, "{}", style.faint(&line(table, &columns, head)));
    for row in &table.rows[..rows] {
        let cells = columns.iter().map(|(column, _)| row.cells.get(*column).map_or(String::new(), Cell::text));
        _ = writeln!(out, "{}", line(table, &columns, cells.collect()));
    }
    if table.rows.len() > top {
        let text = format!("  … and {} more (--top {} shows all)", table.rows.len() - top, table.rows.len());
        _ = writeln!(out, "{}", style.faint(&text));
    }
}

fn line(table: &Table, columns: &[(usize, usize)], cells: Vec<String>) -> String {
    let mut shown = String::from("  ");
    for (text, &(column, width)) in cells.iter().zip(columns) {
        let text = cut(text, width);
        let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
        let (left, right) = if table.has_figures(column) { (&blanks[..], "") } else { ("", &blanks[..]) };
        _ = write!(shown, "{left}{text}{right}{:GAP$}", "");
    }
    shown.trim_end().to_owned()
}
