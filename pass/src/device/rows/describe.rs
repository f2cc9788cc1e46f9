//! A site table as text, for dumps and tests.

use std::fmt::Write;
use warpline_format::site_table::{FrameId, InstructionMix, SiteTable, Step};

/// One line per entry of the table, stable and made for reading: `site 3 kernel load global 4 bytes …`.
pub fn describe(table: &SiteTable) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(table, &mut text);
    text
}

fn write(table: &SiteTable, out: &mut String) -> std::fmt::Result {
    let function = |number: u32| table.functions.get(number as usize).map_or("?", |function| &function.mangled);
    writeln!(out, "module {} sm_{} {}", table.module, table.arch, table.hash)?;
    for (index, entry) in table.functions.iter().enumerate() {
        let kind = if entry.kernel { "kernel" } else { "function" };
        let library = if entry.in_library { " library" } else { "" };
        writeln!(out, "{kind} {index} {}{library} {}", entry.mangled, frame(table, entry.frame))?;
    }
    for (index, site) in table.sites.iter().enumerate() {
        write!(out, "site {index} {} {:?} {:?} ", function(site.function), site.op, site.space)?;
        write!(out, "{} bytes align {} {:?}", site.bytes, site.align, site.cache)?;
        if let Some(mask) = site.byte_mask {
            write!(out, " mask {mask:#x}")?;
        }
        for (flag, name) in [(site.approximate, "approximate"), (site.in_library, "library")] {
            if flag {
                write!(out, " {name}")?;
            }
        }
        writeln!(out, " at {}", chain(table, &site.chain))?;
    }
    for (index, block) in table.blocks.iter().enumerate() {
        let mix = &block.mix;
        writeln!(
            out,
            "block {index} {} fp16 {} fp32 {} fp64 {} int {} special {} conversion {} control {} memory {} barrier {} tensor {} at {}",
            function(block.function),
            mix.fp16,
            mix.fp32,
            mix.fp64,
            mix.int,
            mix.special,
            mix.conversion,
            mix.control,
            mix.memory,
            mix.barrier,
            mix.tensor,
            chain(table, &block.chain)
        )?;
    }
    for part in &table.parts {
        let InstructionMix { fp16, fp32, fp64, int, special, conversion, control, memory, barrier, tensor } = part.mix;
        let all = fp16 + fp32 + fp64 + int + special + conversion + control + memory + barrier + tensor;
        writeln!(out, "part of block {} {all} instructions at {}", part.block, chain(table, &part.chain))?;
    }
    for operand in &table.operands {
        let name = |name: Option<u32>| name.and_then(|name| table.names.get(name as usize)).map_or("?", String::as_str);
        write!(out, "operand of site {} {}", operand.site, name(operand.variable))?;
        if operand.member.is_some() {
            let bytes = operand.structure_bytes;
            write!(out, " member {} of {} of {bytes} bytes", name(operand.member), name(operand.structure))?;
        }
        for (axis, step) in ["x", "y", "z"].into_iter().zip(operand.steps) {
            match step {
                Step::None => {}
                Step::Bytes(bytes) => write!(out, " {axis} {bytes} bytes")?,
                Step::Times(factor) => write!(out, " {axis} times {}", name(factor))?,
                Step::Other => write!(out, " {axis} other")?,
            }
        }
        writeln!(out, "{}", if operand.loaded { " loaded" } else { "" })?;
    }
    for (index, branch) in table.branches.iter().enumerate() {
        let place = chain(table, &branch.chain);
        writeln!(out, "branch {index} {} {} sides at {place}", function(branch.function), branch.sides)?;
    }
    for (index, call) in table.calls.iter().enumerate() {
        writeln!(out, "call {index} in {} at {}", function(call.caller), chain(table, &call.chain))?;
    }
    for (index, global) in table.globals.iter().enumerate() {
        let place = global.frame.map_or_else(|| "nowhere".into(), |id| frame(table, id));
        writeln!(out, "global {index} {} {:?} {} bytes at {place}", global.name, global.kind, global.bytes)?;
    }
    for entry in &table.not_seen {
        writeln!(out, "not seen in {}: {} at {}", function(entry.function), entry.what, chain(table, &entry.chain))?;
    }
    Ok(())
}

fn chain(table: &SiteTable, chain: &[FrameId]) -> String {
    let frames: Vec<_> = chain.iter().map(|&id| frame(table, id)).collect();
    if frames.is_empty() { "nowhere".into() } else { frames.join(" < ") }
}

fn frame(table: &SiteTable, id: FrameId) -> String {
    let Some(frame) = table.frames.get(id as usize) else { return "?".into() };
    let file = table.files.get(frame.file as usize);
    let name = file.map_or("?", |file| file.path.rsplit('/').next().unwrap_or_default());
    let system = if file.is_some_and(|file| file.system) { " (system)" } else { "" };
    format!("{} {name}:{}:{}{system}", frame.function, frame.line, frame.column)
}
