//! Rows that begin anywhere, and warps that are cut by them.

use super::program::{cause, diagnosis, remedy};
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
    let (finding, ..) = EIGHTH_MORE.first("misaligned-access", "SHARES");
    assert_eq!((cause(finding), remedy(finding)), ("block-offset", "align-blocks"), "{finding:#}");
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
    let (finding, ..) = TENTH.first("misaligned-access", "ROWS");
    assert_eq!((cause(finding), remedy(finding)), ("row-start", "pad-rows"), "{finding:#}");
    assert_eq!(finding["object"], "result", "{finding:#}");
}

#[test]
fn warps_of_blocks_of_odd_width_begin_within_rows() {
    let (finding, ..) = ELEVENTH.first("misaligned-access", "WITHIN ROWS");
    assert_eq!((cause(finding), remedy(finding)), ("block-offset", "align-blocks"), "{finding:#}");
}

#[test]
fn blocks_that_fill_sectors_put_nothing_off() {
    let (finding, ..) = ELEVENTH.first("misaligned-access", "ODD ROWS");
    assert_eq!(cause(finding), "row-start", "{finding:#}");
    let (finding, ..) = ELEVENTH.first("misaligned-access", "BEHIND ONE");
    assert_eq!(cause(finding), "block-offset", "{finding:#}");
    assert_eq!(finding["evidence"]["sector_offset_bytes"], 8.0, "{finding:#}");
}

#[test]
fn arrays_of_one_line_have_rows_of_one_length() {
    let found = FOURTEENTH.alone("rows", "misaligned-access", "THREE ARRAYS");
    assert_eq!(found.len(), 1, "{found:#?}");
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
    assert!(found.iter().all(|finding| remedy(finding) == "pad-rows"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
    let found = FIFTEENTH.alone("hundreds", "misaligned-access", "BLOCKS OF A HUNDRED");
    assert!(found.iter().all(|finding| remedy(finding) == "align-blocks"), "{found:#?}");
    assert_eq!(found.len(), 1, "{found:#?}");
}
