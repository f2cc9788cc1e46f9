//! A site table as text, for dumps and tests.

use std::fmt::Write;
use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind};
use warpline_format::matrix::Product;
use warpline_format::site_table::{FrameId, InstructionMix, SiteTable, Step};

/// The maximum depth to which operands of operands are written.
const MOST_SHOWN: u32 = 16;

/// Returns one line per entry of the table, in a stable, readable form: `site 3 kernel load global 4 bytes …`.
pub fn describe(table: &SiteTable) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(table, &mut text);
    text
}

fn products(mix: &InstructionMix) -> String {
    let all = Product::ALL.into_iter().zip(mix.products).filter(|(_, count)| *count > 0);
    all.map(|(kind, count)| format!(" {} {count}", kind.name())).collect()
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
            "block {index} {} fp16 {} fp32 {} fp64 {} int {} special {} conversion {} control {} memory {} barrier {} tensor {}{} at {}",
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
            products(mix),
            chain(table, &block.chain)
        )?;
    }
    for part in &table.parts {
        let InstructionMix {
            fp16,
            fp32,
            fp64,
            int,
            special,
            conversion,
            control,
            memory,
            barrier,
            tensor,
            products: _,
        } = part.mix;
        let all = fp16 + fp32 + fp64 + int + special + conversion + control + memory + barrier + tensor;
        writeln!(out, "part of block {} {all} instructions at {}", part.block, chain(table, &part.chain))?;
    }
    for hint in &table.conflict_hints {
        let load = hint.loaded_by.map_or(String::new(), |site| format!(" from site {site}"));
        let scope = if hint.block_scope { " block scope" } else { "" };
        writeln!(
            out,
            "conflicts of site {} update {:?}{load} differs {:03b}{scope}",
            hint.site, hint.update, hint.differs
        )?;
    }
    for &function in table.fencing.iter().flatten() {
        writeln!(out, "fence in {}", table.functions[function as usize].mangled)?;
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
    for access in &table.member_accesses {
        write!(out, "member of site {} from {:?}:", access.site, access.base)?;
        for (number, array) in access.levels.iter().enumerate() {
            let text = |name: u32| table.names.get(name as usize).map_or("?", String::as_str);
            let structure = &table.structures[array.structure as usize];
            let own = structure.name.map_or("?", text);
            let (name, first, end) = (text(array.name), array.offset, array.offset + array.bytes);
            let comma = if number > 0 { "," } else { "" };
            write!(out, "{comma} {name} is {first} to {end} of {own} of {} bytes", structure.bytes)?;
        }
        writeln!(out)?;
    }
    for (index, structure) in table.structures.iter().enumerate() {
        let text = |name: u32| table.names.get(name as usize).map_or("?", String::as_str);
        let fields = structure.members.iter();
        let fields: Vec<_> = fields.map(|one| format!("{} {}+{}", text(one.name), one.offset, one.bytes)).collect();
        writeln!(out, "structure {index} {}: {}", structure.name.map_or("?", text), fields.join(", "))?;
    }
    for atomic in &table.atomics {
        writeln!(out, "atomic operation of site {} {:?}", atomic.site, atomic.kind)?;
    }
    for address in &table.addresses {
        write!(out, "address of site {} {}", address.site, value(table, address.address))?;
        if let Some(guard) = address.guard {
            write!(out, " if {}", value(table, guard))?;
        }
        let loops: Vec<_> = address.loops.iter().map(|counter| format!("i{counter}")).collect();
        writeln!(out, "{}{}", if loops.is_empty() { "" } else { " in " }, loops.join(", "))?;
    }
    for (index, lap) in table.loops.iter().enumerate() {
        let ends: Vec<_> = lap.ends.iter().map(|&end| value(table, end)).collect();
        writeln!(out, "loop i{index} at line {} until {}", lap.line, ends.join(" or "))?;
    }
    for (index, branch) in table.branches.iter().enumerate() {
        let place = chain(table, &branch.chain);
        write!(out, "branch {index} {} {} sides at {place}", function(branch.function), branch.sides)?;
        if let Some(condition) = table.condition(index as u32) {
            let deciders: Vec<String> = condition.deciders.iter().map(|one| format!("{one:?}")).collect();
            let decided = if deciders.is_empty() { "nothing of a lane's own".to_owned() } else { deciders.join(", ") };
            write!(out, " by {decided}{}", if condition.ends_loop { "; ends a loop" } else { "" })?;
        }
        writeln!(out)?;
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

/// Returns an expression in the syntax of C, without signs and widths.
fn value(table: &SiteTable, id: ExpressionId) -> String {
    shown(table, id, MOST_SHOWN)
}

fn shown(table: &SiteTable, id: ExpressionId, depth: u32) -> String {
    // Shared operands are written each time.
    let Some(depth) = depth.checked_sub(1) else { return "…".into() };
    let value = |id: ExpressionId| shown(table, id, depth);
    let axis = |axis: u8| ['x', 'y', 'z'][usize::from(axis).min(2)];
    let both =
        |left: ExpressionId, sign: &str, right: ExpressionId| format!("({} {sign} {})", value(left), value(right));
    let Some(entry) = table.expressions.get(id as usize) else { return "?".into() };
    match entry.kind {
        ExpressionKind::Constant(number) => number.to_string(),
        ExpressionKind::Thread(number) => format!("threadIdx.{}", axis(number)),
        ExpressionKind::Block(number) => format!("blockIdx.{}", axis(number)),
        ExpressionKind::BlockSize(number) => format!("blockDim.{}", axis(number)),
        ExpressionKind::GridSize(number) => format!("gridDim.{}", axis(number)),
        ExpressionKind::Parameter { parameter, offset: 0 } => format!("p{parameter}"),
        ExpressionKind::Parameter { parameter, offset } => format!("p{parameter}[{offset}]"),
        ExpressionKind::Global(number) => {
            table.globals.get(number as usize).map_or("?", |global| &global.name).to_owned()
        }
        ExpressionKind::Shared(number) => table.shared.get(number as usize).map_or("?", String::as_str).to_owned(),
        ExpressionKind::Counter(counter) => format!("i{counter}"),
        ExpressionKind::Binary(operation, left, right) => {
            let sign = match operation {
                Binary::Sum => "+",
                Binary::Difference => "-",
                Binary::Product => "*",
                Binary::SignedQuotient | Binary::UnsignedQuotient => "/",
                Binary::SignedRemainder | Binary::UnsignedRemainder => "%",
                Binary::And => "&",
                Binary::Or => "|",
                Binary::Xor => "^",
                Binary::ShiftLeft => "<<",
                Binary::SignedShiftRight | Binary::UnsignedShiftRight => ">>",
                Binary::SignedLeast | Binary::UnsignedLeast => "min",
                Binary::SignedGreatest | Binary::UnsignedGreatest => "max",
            };
            both(left, sign, right)
        }
        ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) => value(of),
        ExpressionKind::Compare(comparison, left, right) => {
            let sign = match comparison {
                Comparison::Equal => "==",
                Comparison::NotEqual => "!=",
                Comparison::SignedLess | Comparison::UnsignedLess => "<",
                Comparison::SignedLessEqual | Comparison::UnsignedLessEqual => "<=",
            };
            both(left, sign, right)
        }
        ExpressionKind::Choice(condition, one, other) => {
            format!("({} ? {} : {})", value(condition), value(one), value(other))
        }
        ExpressionKind::Unknown(reason, line) => format!("<{} at line {line}>", reason.text()),
    }
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
