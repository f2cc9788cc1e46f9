//! `dataset.json` describes the tables of a dataset, for readers that find no file of a table.

use serde::{Deserialize, Serialize};

use super::run::Partition;
use super::tables::tables;

/// Name of the file, in the dataset's folder.
pub const FILE: &str = "dataset.json";
/// Value of `schema`.
pub const SCHEMA: &str = "warpline.dataset";
/// Version, increased when a column changes its meaning or is removed. New tables and columns do not change it.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Manifest {
    schema: &'static str,
    version: u32,
    partitions: Vec<Entry>,
    tables: Vec<TableEntry>,
}

#[derive(Serialize)]
struct TableEntry {
    name: &'static str,
    description: String,
    columns: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    r#type: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'static str,
    optional: bool,
    description: &'static str,
}

/// The part that determines whether this release can add to a dataset.
#[derive(Debug, Deserialize)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: String,
    /// [`VERSION`].
    pub version: u32,
}

/// Returns the contents of the file.
pub fn manifest() -> String {
    let partition = |(name, r#type, description)| Entry { name, r#type, unit: "", optional: false, description };
    let columns = |table: &super::column::Table| {
        let entry = |column: &super::column::Column| Entry {
            name: column.name,
            r#type: column.kind.name(),
            unit: column.unit,
            optional: column.optional,
            description: column.description,
        };
        table.columns().map(entry).collect()
    };
    let manifest = Manifest {
        schema: SCHEMA,
        version: VERSION,
        partitions: Partition::COLUMNS.map(partition).into(),
        tables: tables()
            .map(|table| TableEntry { name: table.name, description: table.about(), columns: columns(&table) })
            .collect(),
    };
    let mut text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    text.push('\n');
    text
}
