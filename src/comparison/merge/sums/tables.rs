//! Merges tables of listed analyses: rows with equal keys are combined.

use std::collections::BTreeSet;

use warpline_profile::model::{Table, TableCell, join_rows};

/// Adds a kernel's tables. `left_out` receives descriptions of data that cannot be merged.
pub(in crate::merge) fn add(sum: &mut Vec<Table>, more: &[Table], left_out: &mut BTreeSet<String>) {
    for table in more {
        // Allocations have different numbers in other runs.
        if table.rows.iter().flatten().any(|cell| matches!(cell, TableCell::Allocation { .. })) {
            left_out.insert(format!("the table {} names allocations of one run, and is left out", table.id));
            continue;
        }
        match sum.iter_mut().find(|known| known.id == table.id) {
            None => sum.push(table.clone()),
            Some(known) if known.columns == table.columns => *known = add_rows(std::mem::take(known), table),
            Some(_) => {
                left_out.insert(format!(
                    "the table {} has other columns in some of the runs, which are left out",
                    table.id
                ));
            }
        }
    }
    sum.sort_by(|one, other| one.id.cmp(&other.id));
}

fn add_rows(table: Table, more: &Table) -> Table {
    let rows = table.rows.iter().chain(&more.rows).filter(|row| row.len() == table.columns.len());
    let rows = join_rows(&table.columns, rows);
    Table { rows, omitted: table.omitted.saturating_add(more.omitted), ..table }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_analyzer::analyses::Merged;
    use warpline_profile::model::TableColumn;

    fn table(rows: &[(&str, u64, u64)]) -> Table {
        let column = |name: &str, merged| TableColumn { name: name.to_owned(), unit: String::new(), merged };
        let columns = vec![column("name", Merged::Key), column("sum", Merged::Sum), column("most", Merged::Greatest)];
        let cells = |&(name, sum, most): &(&str, u64, u64)| {
            vec![TableCell::Text(name.to_owned()), TableCell::Count(sum), TableCell::Count(most)]
        };
        Table { id: "t".to_owned(), title: "T".to_owned(), columns, rows: rows.iter().map(cells).collect(), omitted: 0 }
    }

    #[test]
    fn rows_are_added_by_their_keys_in_any_order() {
        let parts = [table(&[("a", 5, 1), ("b", 2, 9)]), table(&[("b", 7, 3)]), table(&[("c", 1, 1), ("a", 1, 4)])];
        let want = table(&[("b", 9, 9), ("a", 6, 4), ("c", 1, 1)]);
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let (mut sum, mut left_out) = (Vec::new(), BTreeSet::new());
            order.iter().for_each(|&part| add(&mut sum, &parts[part..=part], &mut left_out));
            assert_eq!((&sum[..], left_out.is_empty()), (&[want.clone()][..], true));
        }
    }

    #[test]
    fn what_cannot_be_added_is_left_out_and_told() {
        let mut of_allocations = table(&[]);
        of_allocations.rows.push(vec![TableCell::Allocation { allocation: Some(3) }]);
        let (mut sum, mut left_out) = (Vec::new(), BTreeSet::new());
        add(&mut sum, &[of_allocations], &mut left_out);
        assert_eq!((sum.len(), left_out.len()), (0, 1));
    }
}
