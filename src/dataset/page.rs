//! Generates a part of `docs/dataset.md` from the declarations.

use std::fmt::Write as _;

use super::column::Column;
use super::run::Partition;
use super::tables::tables;

/// Everything after this line of the page is generated.
pub const MARK: &str = "<!-- The rest is made from the code: make docs -->";

/// Returns the generated part: the names of all columns. Types, units and descriptions are stored in each dataset;
/// `warpline query DIR --tables TABLE` prints them.
pub fn page() -> String {
    let mut out = format!("{MARK}\n\nColumns that folders give to every table:\n\n");
    for (name, _, description) in Partition::COLUMNS {
        _ = writeln!(out, "- `{name}`: {description}");
    }
    let shared = tables().map(|table| table.shared).find(|shared| !shared.is_empty()).unwrap_or_default();
    _ = write!(out, "\nThe *metrics* of several tables are {}.\n", names(shared));
    for table in tables() {
        let metrics = if table.shared.is_empty() { "" } else { ", metrics" };
        _ = write!(out, "\n### `{}`\n\n{}\n\n{}{metrics}\n", table.name, table.about(), names(table.own));
    }
    out
}

/// Returns the names of columns as Markdown.
fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| format!("`{}`", column.name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_says_what_the_tables_are() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dataset.md");
        let text = std::fs::read_to_string(&path).unwrap();
        let written = text.split_once(MARK).expect("the page has the mark").0;
        let whole = format!("{written}{}", page());
        if std::env::var_os("WARPLINE_WRITE_DOCS").is_some() {
            std::fs::write(&path, &whole).unwrap();
            return;
        }
        assert!(whole == text, "docs/dataset.md differs from the code: run `make docs`");
    }

    #[test]
    fn columns_have_names_of_their_own_and_say_what_they_are() {
        for table in tables() {
            let folders = Partition::COLUMNS.map(|(name, ..)| name);
            let names: Vec<&str> = table.columns().map(|column| column.name).chain(folders).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}: {names:?}", table.name);
            assert_eq!(names[0], "run", "{}", table.name);
            for column in table.columns() {
                assert!(!column.description.is_empty() && !column.description.contains('|'), "{}", column.name);
            }
            assert!(table.about().ends_with('.'), "{}", table.name);
        }
    }
}
