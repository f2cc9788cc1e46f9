//! Writes the state of a running program as text.

use std::fmt::Write as _;

use warpline_format::visible;

use crate::words::{bytes, count, cut, percent, plain_name};
use warpline_profile::live::Snapshot;
use warpline_simulator::geometry::SECTOR_BYTES;

/// Returns a page of text with the `top` kernels that have the most traffic.
pub fn live_text(snapshot: &Snapshot, width: usize, top: usize) -> String {
    let mut out = String::new();
    let program = snapshot.program.join(" ");
    _ = writeln!(out, "{}", cut(&format!("WARPLINE {}", visible::name(&program)), width));
    let minutes = (snapshot.seconds / 60.0) as u64;
    _ = writeln!(
        out,
        "  process {}, analysed by {}; for {minutes} min {:.0} s; profile goes to {}",
        snapshot.program_pid,
        snapshot.pid,
        snapshot.seconds - (minutes * 60) as f64,
        visible::name(&snapshot.output)
    );
    let rate = if snapshot.seconds > 0.0 { snapshot.requests as f64 / snapshot.seconds } else { 0.0 };
    _ = writeln!(
        out,
        "  {} launches, {} requests ({}/s), {} of trace",
        count(snapshot.launches),
        count(snapshot.requests),
        count(rate as u64),
        bytes(snapshot.trace_bytes)
    );
    let full = snapshot.waiting_bytes as f64 / snapshot.ring_bytes.max(1) as f64;
    let waits = if full > 0.9 { "; the program waits for the analysis" } else { "" };
    let memory = |bytes_of: Option<u64>| bytes_of.map_or("?".to_owned(), bytes);
    _ = writeln!(
        out,
        "  the analysis is {} behind ({} of the ring{waits}); memory: analysis {}, program {}",
        bytes(snapshot.waiting_bytes),
        percent(full),
        memory(snapshot.memory.analysis_bytes),
        memory(snapshot.memory.program_bytes)
    );
    if let Some(kernel) = &snapshot.current_kernel {
        _ = writeln!(out, "{}", cut(&format!("  now in {}", visible::name(kernel)), width));
    }
    _ = writeln!(
        out,
        "  {:>9} {:>10} {:>10} {:>8} {:>8} {:>10}  kernel (finished launches)",
        "launches", "requests", "traffic", "L1 hit", "L2 hit", "DRAM"
    );
    let share = |rate: Option<f64>| rate.map_or("-".to_owned(), percent);
    for row in snapshot.kernels.iter().take(top) {
        let line = format!(
            "  {:>9} {:>10} {:>10} {:>8} {:>8} {:>10}  {}",
            count(row.launches),
            count(row.requests),
            bytes(row.sectors.saturating_mul(SECTOR_BYTES)),
            share(row.l1_hit_rate),
            share(row.l2_hit_rate),
            bytes(row.dram_sectors.saturating_mul(SECTOR_BYTES)),
            visible::name(plain_name(&row.name))
        );
        _ = writeln!(out, "{}", cut(&line, width));
    }
    let shown = snapshot.kernels.len().min(top) as u64;
    if snapshot.kernel_count > shown {
        _ = writeln!(out, "  … and {} more kernels", snapshot.kernel_count - shown);
    }
    out
}
