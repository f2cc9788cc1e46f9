//! Writes predictions as CSV, with one row per model and configuration.

use std::fmt::Write as _;

use warpline_prediction::document::{Configuration, Document};

/// Names of the columns. `schema_version` comes first, as in the report's CSV.
const HEADER: &str = "schema_version,kernel,model,rank,block_x,block_y,block_z,grid_x,grid_y,grid_z,recorded,blocks_per_sm,requests,\
                      l1_wavefronts,l1_tag_wavefronts,shared_wavefronts,request_sectors,block_load_sectors,l2_load_bytes,l2_store_bytes,\
                      dram_load_bytes,dram_store_bytes,wave_pages,limiter,seconds,affine_share,computed_share,\
                      wave_sectors,wave_lines,launch_sectors,launch_lines,other_work,l2_load_uncertainty,dram_load_uncertainty,dram_store_uncertainty,\
                      seconds_low,seconds_high,undecided,worth_measuring";

/// Returns all rows with a header.
pub fn csv(document: &Document) -> String {
    let mut text = format!("{HEADER}\n");
    for document in std::iter::once(document).chain(&document.other_models) {
        for (rank, one) in (1..).zip(&document.configurations) {
            // Writing to a string cannot fail.
            let measure = document.worth_measuring.as_ref().map(|worth| worth.configurations.contains(&(rank - 1)));
            let _ = row(&mut text, document, (rank, measure), one);
        }
    }
    text
}

fn row(
    text: &mut String,
    document: &Document,
    (rank, measure): (usize, Option<bool>),
    one: &Configuration,
) -> std::fmt::Result {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    write!(text, "{},{},{},{rank}", document.version, quoted(&document.kernel), quoted(&document.model))?;
    for size in one.block.iter().chain(&one.grid) {
        write!(text, ",{size}")?;
    }
    write!(text, ",{},{}", u8::from(one.recorded), one.blocks_per_sm)?;
    let known = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    write!(text, ",{},{},{}", one.requests, known(one.l1_wavefronts), known(one.l1_tag_wavefronts))?;
    for count in [one.shared_wavefronts, one.request_sectors] {
        write!(text, ",{count}")?;
    }
    write!(text, ",{}", one.block_load_sectors)?;
    for bytes in [one.l2_load_bytes, one.l2_store_bytes, one.dram_load_bytes, one.dram_store_bytes] {
        write!(text, ",{bytes}")?;
    }
    let seconds = one.seconds.map(|seconds| seconds.to_string()).unwrap_or_default();
    let limiter = one.limiter.as_deref().unwrap_or_default();
    write!(text, ",{},{limiter},{seconds},{},{}", one.wave_pages, one.affine_share, one.computed_share)?;
    let distinct = [one.wave_sectors, one.wave_lines, one.launch_sectors, one.launch_lines];
    distinct.iter().try_for_each(|count| write!(text, ",{count}"))?;
    write!(text, ",{}", one.other_work.map(|share| share.to_string()).unwrap_or_default())?;
    for uncertainty in [one.l2_load_uncertainty, one.dram_load_uncertainty, one.dram_store_uncertainty] {
        write!(text, ",{uncertainty}")?;
    }
    for seconds in [one.seconds_low, one.seconds_high] {
        write!(text, ",{}", seconds.map(|seconds| seconds.to_string()).unwrap_or_default())?;
    }
    let measure = measure.map(|measure| u8::from(measure).to_string()).unwrap_or_default();
    writeln!(text, ",{},{measure}", u8::from(one.undecided))
}
