//! Writes bad accesses.

use std::fmt::Write as _;

use crate::words::figures::bytes;
use crate::words::names;
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::{Fault, FaultMember, Frame};

/// Describes a fault in one line.
pub fn fault_line(profile: &Profile, fault: &Fault) -> String {
    if fault.kind == "divergent_barrier" {
        return divergent_line(profile, fault);
    }
    if let Some(other) = &fault.other {
        return different_line(profile, fault, other);
    }
    let kind = match fault.kind.as_str() {
        "out_of_bounds" => "out-of-bounds",
        "misaligned" => "misaligned",
        "misaligned_local" => "misaligned local",
        "freed" => "use after free:",
        "shared_out_of_bounds" => "out-of-bounds shared",
        "local_out_of_bounds" => "out-of-bounds local",
        "shared_variable" => "out-of-bounds shared",
        "member" => "out-of-bounds",
        _ => "faulting",
    };
    let what = match (fault.op.as_str(), fault.bytes) {
        ("", _) => "access".to_owned(),
        (op, bytes) => format!("{op} of {bytes} bytes"),
    };
    let kernel = fault.kernel.and_then(|id| profile.kernels.iter().find(|kernel| kernel.id == id));
    let kernel = kernel.map_or("a kernel".to_owned(), |kernel| names::label(profile, kernel));
    let at = places::at(&fault.frame.file, fault.frame.line);
    let mut text = format!("{kind} {what} at {at} in {kernel}, block {}, thread {}", fault.block, fault.thread);
    if let Some((variable, offset)) = fault.variable.as_ref().zip(fault.offset) {
        _ = write!(text, ": byte {offset} of `{variable}`, which has {} bytes", fault.variable_bytes.unwrap_or(0));
    }
    if let Some(member) = &fault.member {
        _ = write!(text, ": {}", member_text(member));
    }
    let nearest = fault.allocation.and_then(|id| profile.allocation(id));
    match (nearest, fault.offset) {
        (Some(allocation), Some(offset)) => {
            let name = allocation.name.as_deref().unwrap_or("an unnamed allocation");
            let size = bytes(allocation.bytes);
            let past = i128::from(offset) - i128::from(allocation.bytes);
            let place = match offset {
                offset if offset < 0 => format!("{} bytes before", offset.unsigned_abs()),
                _ if past >= 0 => format!("{past} bytes past the end of"),
                offset => format!("byte {offset} of"),
            };
            _ = write!(text, ": {place} {name} ({}, {size})", allocation.kind);
        }
        _ if fault.kind == "misaligned_local" => text.push_str(": the variable is less aligned than the access"),
        _ if fault.kind.starts_with("shared") || fault.kind.starts_with("local") => {
            let memory = if fault.kind.starts_with("shared") { "shared memory" } else { "local memory" };
            _ = write!(text, ": offset {} of {memory}", fault.address);
        }
        _ if fault.address == "host" => text.push_str(": ordinary host memory, which a kernel cannot reach"),
        _ => _ = write!(text, ": address {}", fault.address),
    }
    text
}

/// Describes where an access outside the member that it indexes is.
fn member_text(member: &FaultMember) -> String {
    let FaultMember { name, structure, start, bytes, offset, met, .. } = member;
    let of = if structure.is_empty() { "the structure".to_owned() } else { format!("`{structure}`") };
    let last = start.saturating_add(bytes.saturating_sub(1));
    let met = if met.is_empty() { String::new() } else { format!(", in `{}`", met.trim_end_matches("[]")) };
    format!("byte {offset} of {of}{met}; `{name}` has bytes {start} to {last}")
}

/// Describes a barrier that only a part of a warp reached.
fn divergent_line(profile: &Profile, fault: &Fault) -> String {
    let kernel = fault.kernel.and_then(|id| profile.kernels.iter().find(|kernel| kernel.id == id));
    let kernel = kernel.map_or("a kernel".to_owned(), |kernel| names::label(profile, kernel));
    let at = places::at(&fault.frame.file, fault.frame.line);
    format!(
        "divergent __syncthreads at {at} in {kernel}, block {}, thread {}: other threads of its warp did not reach it and went on",
        fault.block, fault.thread
    )
}

/// Describes barriers at which warps of one block wait for each other.
fn different_line(profile: &Profile, fault: &Fault, other: &Frame) -> String {
    let kernel = fault.kernel.and_then(|id| profile.kernels.iter().find(|kernel| kernel.id == id));
    let kernel = kernel.map_or("a kernel".to_owned(), |kernel| names::label(profile, kernel));
    let (at, there) = (places::at(&fault.frame.file, fault.frame.line), places::at(&other.file, other.line));
    format!(
        "different __syncthreads at {at} and {there} in {kernel}, block {}, thread {}: its warp came to the first while another \
         waited at the second",
        fault.block, fault.thread
    )
}

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style) {
    if profile.faults.is_empty() {
        return;
    }
    let barriers = profile.faults.iter().any(|fault| fault.kind == "divergent_barrier" || fault.other.is_some());
    let heading = if barriers { "BAD ACCESSES AND BARRIERS" } else { "BAD ACCESSES" };
    _ = writeln!(out, "{}", style.warning(heading));
    for fault in &profile.faults {
        // The second half names the memory and is written on a separate line.
        let line = fault_line(profile, fault);
        match line.split_once(", block ") {
            Some((what, rest)) => {
                _ = writeln!(out, "  {}", style.strong(what));
                _ = writeln!(out, "    block {rest}");
            }
            None => _ = writeln!(out, "  {line}"),
        }
        if let Some(text) = places::source(profile, &fault.frame.file, fault.frame.line) {
            _ = writeln!(out, "    {:>5} | {}", fault.frame.line, text.trim_start());
        }
        let path = places::host_path(&fault.path);
        if !path.is_empty() {
            _ = writeln!(out, "    launched from {}", places::wrapped(&path, "        ", 110));
        }
        let end = match (fault.kind.as_str(), fault.stopped) {
            (_, true) => "the kernel was stopped",
            ("divergent_barrier", _) => "the barrier did not wait for them",
            ("different_barriers", _) => "each counted for the other and all warps went on, as on most GPUs",
            ("shared_variable" | "member", _) => "the access was performed",
            _ => "the access was not performed; the kernel went on",
        };
        _ = writeln!(out, "    {}", style.faint(end));
    }
    out.push('\n');
}
