//! Writes tables of analyses without a separate section.

use std::fmt::Write as _;

use super::kernels::more;
use crate::words::figures::{count, memory};
use crate::words::names;
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{Kernel, Table, TableCell};

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let mut kernels: Vec<&Kernel> = profile.kernels.iter().collect();
    kernels.sort_by_key(|kernel| (std::cmp::Reverse(memory(&kernel.metrics).sectors), kernel.id));
    let mut titles: Vec<(&str, &str)> = Vec::new();
    for table in kernels.iter().flat_map(|kernel| &kernel.tables) {
        if !titles.iter().any(|(id, _)| *id == table.id) {
            titles.push((&table.id, &table.title));
        }
    }
    for (id, title) in titles {
        let tables: Vec<(&Kernel, &Table)> = kernels
            .iter()
            .filter_map(|&kernel| Some((kernel, kernel.tables.iter().find(|table| table.id == id)?)))
            .collect();
        _ = writeln!(out, "{}", style.heading(&title.to_uppercase()));
        for (kernel, table) in tables.iter().take(top) {
            _ = writeln!(out, "  {}", style.strong(&names::label(profile, kernel)));
            write_rows(out, profile, table, style, top);
        }
        more(out, tables.len(), top, "kernels", style);
        out.push('\n');
    }
}

fn write_rows(out: &mut String, profile: &Profile, table: &Table, style: Style, top: usize) {
    let shown: Vec<Vec<String>> =
        table.rows.iter().take(top).map(|row| row.iter().map(|cell| text(profile, cell)).collect()).collect();
    let wide = |column: usize| {
        let cells = shown.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.max().unwrap_or(0).max(table.columns.get(column).map_or(0, |column| column.name.chars().count()))
    };
    let line = |cells: &mut dyn Iterator<Item = (usize, &str)>| {
        cells.map(|(column, cell)| format!("{cell:>0$}", wide(column))).collect::<Vec<_>>().join("  ")
    };
    let head = line(&mut table.columns.iter().enumerate().map(|(column, head)| (column, &*head.name)));
    _ = writeln!(out, "    {}", style.faint(&head));
    for row in &shown {
        _ = writeln!(out, "    {}", line(&mut row.iter().enumerate().map(|(column, cell)| (column, &**cell))));
    }
    let all = table.rows.len() as u64 + table.omitted;
    more(out, usize::try_from(all).unwrap_or(usize::MAX), top, "rows", style);
}

fn text(profile: &Profile, cell: &TableCell) -> String {
    match cell {
        TableCell::Count(value) => count(*value),
        TableCell::Text(text) => text.clone(),
        TableCell::Position { file, line, column } if *column > 0 => format!("{}:{column}", places::at(file, *line)),
        TableCell::Position { file, line, .. } => places::at(file, *line),
        TableCell::Allocation { allocation } => {
            allocation.and_then(|id| profile.allocation(id)).map_or_else(|| "-".to_owned(), super::name_of)
        }
    }
}
