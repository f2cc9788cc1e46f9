//! Rows that begin anywhere, and warps that are cut by them.

use super::program::{cure, diagnosis};
use super::programs::{EIGHTH_MORE, ELEVENTH, FIFTEENTH, FIFTH, FOURTEENTH, NINTH, SECOND, TENTH};

#[test]
fn neighbours_and_loaded_indices_are_not_misaligned_rows() {
    assert!(SECOND.all("misaligned-access", "NEIGHBOURS").is_empty());
    assert!(SECOND.all("misaligned-access", "SPARSE ROW").is_empty());
}

#[test]
fn one_thread_is_no_warp_of_several_pieces() {
    let (finding, ..) = FIFTH.first("partial-warps", "ALONE");
    assert_eq!(diagnosis(finding), ("one-thread-per-block", "share-work-among-threads"));
    let (finding, ..) = FIFTH.first("small-launch", "ALONE");
    assert!(finding["remedy"] == "fill-gpu" && finding["gain"].is_null(), "{finding:#}");
}

#[test]
fn blocks_that_share_a_border_have_no_rows_to_pad() {
    let (_, reason, cure) = EIGHTH_MORE.first("misaligned-access", "SHARES");
    assert!(reason.contains("where the block's share happens to begin"), "{reason}");
    assert!(cure.contains("a multiple of 8 elements") && !cure.contains("row"), "{cure}");
}

#[test]
fn parts_that_data_chooses_have_no_rows() {
    assert!(NINTH.all("misaligned-access", "PART").is_empty());
}

#[test]
fn a_window_over_neighbours_has_no_rows() {
    assert!(NINTH.all("misaligned-access", "WINDOW").is_empty());
}

#[test]
fn accesses_to_rows_that_begin_anywhere_waste_sectors_together() {
    let (_, reason, cure) = TENTH.first("misaligned-access", "ROWS");
    assert!(reason.contains("`image`") && reason.contains("where rows happen to begin"), "{reason}");
    assert!(cure.contains("the length of a row a multiple of 32 bytes"), "{cure}");
}

#[test]
fn warps_of_blocks_of_odd_width_begin_within_rows() {
    let (_, reason, cure) = ELEVENTH.first("misaligned-access", "WITHIN ROWS");
    assert!(reason.contains("a block 85 threads wide") && cure.starts_with("give blocks a width"), "{reason}\n{cure}");
}

#[test]
fn blocks_that_fill_sectors_put_nothing_off() {
    let (_, reason, _) = ELEVENTH.first("misaligned-access", "ODD ROWS");
    assert!(reason.contains("where rows happen to begin"), "{reason}");
    let (_, reason, _) = ELEVENTH.first("misaligned-access", "BEHIND ONE");
    assert!(reason.contains("8 bytes behind the begin of a sector, in each block"), "{reason}");
}

#[test]
fn arrays_of_one_line_have_rows_of_one_length() {
    let found = FOURTEENTH.alone("rows", "misaligned-access", "THREE ARRAYS");
    assert_eq!(found.len(), 1, "{found:#?}");
    let reason = found[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("; so do those to `") && reason.matches("` (").count() == 3, "{reason}");
    assert!(found[0]["gain"].is_null() && found[0]["severity"] == "note", "{found:#?}");
}

#[test]
fn memory_of_a_few_values_fills_no_sectors() {
    let found = FOURTEENTH.alone("three", "partial-write", "THREE VALUES");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn blocks_that_lie_apart_do_not_begin_where_others_end() {
    assert!(FIFTEENTH.alone("windows", "misaligned-access", "WINDOWS OF COLUMNS").is_empty());
    let found = FIFTEENTH.alone("columns", "misaligned-access", "COLUMNS");
    assert!(found.iter().all(|finding| cure(finding).starts_with("make the length of a row")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = FIFTEENTH.alone("hundreds", "misaligned-access", "BLOCKS OF A HUNDRED");
    assert!(found.iter().all(|finding| cure(finding).starts_with("give blocks a multiple of 32")), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}
