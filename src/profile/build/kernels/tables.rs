//! Converts tables of the listed analyses to the profile's form, with names instead of numbers.

use crate::build::rows::chain_place;
use crate::model::{Table, TableCell, TableColumn, join_rows};
use warpline_analyzer::analyses::{self, Value};
use warpline_analyzer::analysis::KernelData;
use warpline_analyzer::attribution::Module;
use warpline_analyzer::requests::Owner;
use warpline_format::site_table::FrameId;

/// Maximum number of rows per table.
const MOST_ROWS: usize = 1000;

/// Returns the tables of a kernel.
pub(in crate::build) fn rows(module: &Module, kernel: &KernelData) -> Vec<Table> {
    kernel.sums.tables().map(|table| row(module, &table)).collect()
}

fn row(module: &Module, table: &analyses::Table) -> Table {
    let column = |column: &analyses::Column| TableColumn {
        name: column.name.to_owned(),
        unit: column.unit.to_owned(),
        merged: column.merged,
    };
    let cell = |value: &Value| match *value {
        Value::Count(count) => TableCell::Count(count),
        Value::Text(text) => TableCell::Text(text.to_owned()),
        Value::Site(site) => place(module, module.table.sites.get(site as usize).map(|site| &*site.chain)),
        Value::Operation(number) => {
            place(module, module.table.operations.get(number as usize).map(|operation| &*operation.chain))
        }
        Value::Operator(number) => {
            let operation = module.table.operations.get(number as usize);
            TableCell::Text(operation.map_or_else(String::new, |operation| operation.name.clone()))
        }
        Value::Owner(Owner::Allocation(allocation) | Owner::PartOf(allocation)) => {
            TableCell::Allocation { allocation: Some(allocation) }
        }
        Value::Owner(_) => TableCell::Allocation { allocation: None },
    };
    let columns: Vec<_> = table.columns.iter().map(column).collect();
    let mut rows: Vec<Vec<TableCell>> = table.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    // Copies of an operation in an unrolled loop are combined.
    let joined = join_rows(&columns, &rows);
    if joined.len() < rows.len() {
        rows = joined;
    }
    let omitted = rows.len().saturating_sub(MOST_ROWS) as u64;
    rows.truncate(MOST_ROWS);
    Table { id: table.id.to_owned(), title: table.title.to_owned(), columns, rows, omitted }
}

fn place(module: &Module, chain: Option<&[FrameId]>) -> TableCell {
    let Some(chain) = chain.filter(|chain| !chain.is_empty()) else {
        return TableCell::Position { file: String::new(), line: 0, column: 0 };
    };
    let user = chain_place(module, chain).user;
    TableCell::Position { file: user.file, line: user.line, column: user.column }
}
