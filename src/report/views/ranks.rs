//! View of differences between ranks: the rows that reports show.

use super::figures::{figure, words};
use super::links::line_target;
use super::model::{Block, Cell, Fact, Row, Table, Target, View};
use crate::rows::ranks::{RankRow, RankUnit, over_ranks};
use warpline_profile::Profile;

/// Returns the differences between ranks, by kind of subject; `None` if the profile has no ranks.
pub fn ranks(profile: &Profile) -> Option<View> {
    let rows = over_ranks(profile)?;
    let kinds = rows.kinds().into_iter().filter(|(_, rows)| !rows.is_empty());
    let mut blocks: Vec<Block> = kinds.map(|(kind, rows)| Block::Table(table(kind, rows))).collect();
    if blocks.is_empty() {
        let text = format!("all {} did the same work", rows.present);
        blocks.push(Block::Facts(vec![Fact { label: "ranks", text, target: None }]));
    }
    Some(View { title: "RANKS".to_owned(), place: None, blocks })
}

fn table(kind: &str, rows: &[RankRow]) -> Table {
    let value = |row: &RankRow, value: f64| match row.unit {
        RankUnit::Seconds => Cell::Seconds(value),
        RankUnit::Bytes => Cell::Bytes(value.round() as u64),
        RankUnit::Count if value.fract() != 0.0 && value < 100.0 => Cell::Mean(value),
        RankUnit::Count => Cell::Count(value.round() as u64),
    };
    let target = |row: &RankRow| line_target(&row.file, row.line).or_else(|| row.kernel.map(Target::Kernel));
    let shown = |row: &RankRow| Row {
        cells: vec![
            Cell::Factor(row.factor),
            value(row, row.max),
            Cell::Count(u64::from(row.max_rank)),
            value(row, row.mean),
            value(row, row.min),
            Cell::Count(u64::from(row.min_rank)),
            value(row, row.stddev),
            Cell::Count(row.ranks),
            Cell::Text(row.figure.clone()),
            Cell::Text(row.name.clone()),
        ],
        target: target(row),
    };
    let columns = vec![
        figure("max/mean", 0, "The greatest over the mean"),
        figure("greatest", 0, "Of the rank that has the most"),
        figure("of rank", 1, "The lowest rank that has the greatest"),
        figure("mean", 2, "Over the ranks that have the place"),
        figure("least", 3, "Of the rank that has the least, of those that have the place"),
        figure("rank", 4, "The lowest rank that has the least"),
        figure("std. dev.", 5, "Standard deviation over the ranks that have the place"),
        figure("ranks", 6, "Ranks that have the place"),
        words("figure"),
        words("place"),
    ];
    Table { heading: kind.to_uppercase(), columns, rows: rows.iter().map(shown).collect(), sorted: None }
}
