//! Tables of the listed analyses, with names in the place of numbers.

use crate::build::rows::chain_place;
use crate::model::{Table, TableCell, TableColumn};
use warpline_analyzer::analyses::{self, Value};
use warpline_analyzer::analysis::KernelData;
use warpline_analyzer::attribution::Module;
use warpline_analyzer::requests::Owner;

/// Rows of one table; more would be a dump.
const MOST_ROWS: usize = 1000;

/// Those of a kernel.
pub(in crate::build) fn rows(module: &Module, kernel: &KernelData) -> Vec<Table> {
    kernel.sums.tables().map(|table| row(module, table)).collect()
}

fn row(module: &Module, mut table: analyses::Table) -> Table {
    let omitted = table.rows.len().saturating_sub(MOST_ROWS) as u64;
    table.rows.truncate(MOST_ROWS);
    let column = |column: &analyses::Column| TableColumn {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
        merged: column.merged,
    };
    let cell = |value: &Value| match *value {
        Value::Count(count) => TableCell::Count(count),
        Value::Text(text) => TableCell::Text(text.to_owned()),
        Value::Site(site) => place(module, site),
        Value::Owner(Owner::Allocation(allocation) | Owner::PartOf(allocation)) => {
            TableCell::Allocation { allocation: Some(allocation) }
        }
        Value::Owner(_) => TableCell::Allocation { allocation: None },
    };
    Table {
        id: table.id.to_owned(),
        title: table.title.to_owned(),
        columns: table.columns.iter().map(column).collect(),
        rows: table.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        omitted,
    }
}

fn place(module: &Module, site: u32) -> TableCell {
    let Some(site) = module.table.sites.get(site as usize) else {
        return TableCell::Position { file: String::new(), line: 0, column: 0 };
    };
    let user = chain_place(module, &site.chain).user;
    TableCell::Position { file: user.file, line: user.line, column: user.column }
}
