//! Memory operations in inline PTX.

use super::access::{Access, Address, Guard, Seen};
use super::matrix;
use crate::llvm::Value;
use crate::llvm::value::{IntPredicate, Opcode};
use crate::matrix::Rows;
use crate::ptx::parse::{self, Constraints, Operand, Statement};
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// Returns the statements of a piece of PTX, without comments, braces and labels.
pub(in crate::device) fn statements(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    plain.push_str(rest);
    let lines: Vec<&str> = plain.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    // Braces open blocks, but around operands they contain a vector.
    let mut result = Vec::new();
    for part in lines.join("\n").split(';') {
        let part = part.trim().trim_start_matches(['{', '}', ' ', '\n', '\t']);
        let part = match part.split_once(':') {
            Some((label, rest)) if is_label(label) && !rest.starts_with(':') => rest.trim(),
            _ => part,
        };
        if !part.is_empty() {
            result.push(part.to_owned());
        }
    }
    result
}

fn is_label(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '{' | '}'))
}

/// Returns the opcode of a statement with its modifiers, without the guard predicate.
pub(in crate::device) fn opcode(statement: &str) -> &str {
    let unguarded = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
        None => statement,
    };
    unguarded.split_whitespace().next().unwrap_or_default()
}

/// The first parts of memory instructions that are supported but whose addresses cannot be determined from their
/// operands.
const OPAQUE: [&str; 7] = ["sured", "ldmatrix", "stmatrix", "wmma", "mbarrier", "multimem", "cp"];

/// The size of an `mbarrier` object in bytes.
const MBARRIER_BYTES: u32 = 8;

/// The possible sizes of a texel in bytes.
const TEXELS: [u32; warpline_format::abi::texture::SIZES as usize] = [1, 2, 4, 8, 16];

/// Returns the effects of a call of inline assembly on memory. It reads the assembly in the same way as the lowering,
/// so that every instruction that runs on the CPU device is counted, or reported as not counted.
pub(in crate::device) fn inspect<'c>(call: Value<'c>) -> Vec<Seen<'c>> {
    let Some(callee) = call.called_value() else { return Vec::new() };
    let text = callee.asm_text();
    let (parsed, layout) = (parse::parse(&text), parse::constraints(&callee.asm_constraints()));
    let (Some(all), Some(layout)) = (parsed, layout) else { return unread(&text) };
    let arguments = call.arguments();
    let mut seen = Vec::new();
    for index in 0..all.len() {
        Reading { all: &all, index, layout: &layout, arguments: &arguments }.inspect(&mut seen);
    }
    seen
}

/// Reports text that contains more than plain instructions, such as labels.
fn unread<'c>(text: &str) -> Vec<Seen<'c>> {
    let touches = |statement: &String| {
        let parts: Vec<&str> = opcode(statement).split('.').collect();
        let plain = ["ld", "ldu", "st", "atom", "red", "tex", "tld4", "suld", "sust"].contains(&parts[0]);
        (plain || OPAQUE.contains(&parts[0])) && !parts.contains(&"param") && !is_waiting(&parts)
    };
    let shown = |statement: String| Seen::Not(format!("inline assembly: {}", shorten(&statement)));
    statements(text).into_iter().filter(touches).map(shown).collect()
}

/// Returns whether the instruction is a commit or wait of asynchronous copies, which move no data.
fn is_waiting(parts: &[&str]) -> bool {
    parts.iter().any(|part| part.starts_with("commit") || part.starts_with("wait"))
}

/// Returns the access to an `mbarrier` object.
fn barrier_object<'c>(parts: &[&str], address: Address<'c>) -> Access<'c> {
    let (op, cache) = match parts.get(1).copied() {
        Some("init" | "inval") => (Op::Store, CacheOp::Default),
        Some("test_wait" | "try_wait") => (Op::Load, CacheOp::Volatile),
        _ => (Op::Atomic, CacheOp::Volatile),
    };
    Access::plain(address, op, space_of(parts), MBARRIER_BYTES, cache)
}

fn shorten(statement: &str) -> String {
    let flat = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() > 60 { format!("{}…", flat.chars().take(60).collect::<String>()) } else { flat }
}

fn space_of(parts: &[&str]) -> Space {
    parts
        .iter()
        .find_map(|part| match part.split("::").next().unwrap_or_default() {
            "global" => Some(Space::Global),
            "shared" => Some(Space::Shared),
            "local" => Some(Space::Local),
            "const" => Some(Space::Constant),
            _ => None,
        })
        .unwrap_or(Space::Generic)
}

fn cache_of(parts: &[&str]) -> CacheOp {
    parts
        .iter()
        .find_map(|part| match *part {
            "cg" => Some(CacheOp::Global),
            "cs" => Some(CacheOp::Streaming),
            "lu" => Some(CacheOp::LastUse),
            "nc" => Some(CacheOp::NonCoherent),
            "cv" | "wt" | "volatile" | "relaxed" | "acquire" | "release" => Some(CacheOp::Volatile),
            _ => None,
        })
        .unwrap_or_default()
}

/// Returns the bytes per lane: the element's width times the vector's length.
fn bytes_of(parts: &[&str]) -> Option<u32> {
    let vector = parts.iter().find_map(|part| match *part {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    let bits = parts.iter().rev().find_map(|part| {
        Some(match *part {
            "b8" | "u8" | "s8" => 8,
            "b16" | "u16" | "s16" | "f16" | "bf16" => 16,
            "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" => 32,
            "b64" | "u64" | "s64" | "f64" => 64,
            "b128" => 128,
            _ => return None,
        })
    })?;
    Some(bits / 8 * vector.unwrap_or(1))
}

/// One statement, together with all statements of its assembly.
#[derive(Clone, Copy)]
struct Reading<'s, 'c> {
    all: &'s [Statement],
    index: usize,
    layout: &'s Constraints,
    arguments: &'s [Value<'c>],
}

/// The lanes that make a guarded access.
enum Guarded<'c> {
    /// All lanes.
    Open,
    /// The lanes for which this condition is true.
    By(Guard<'c>),
    /// The lanes for which a condition is true that cannot be computed before the assembly.
    Unknown,
}

impl<'s, 'c> Reading<'s, 'c> {
    fn statement(&self) -> &'s Statement {
        &self.all[self.index]
    }

    fn inspect(&self, seen: &mut Vec<Seen<'c>>) {
        let statement = self.statement();
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let root = parts.first().copied().unwrap_or_default();
        let unknown = || Seen::Not(format!("inline assembly: {}", shorten(&statement.text)));
        let guarded = match &statement.guard {
            None => Guarded::Open,
            Some((operand, negated)) => self.predicate(operand, !negated).map_or(Guarded::Unknown, Guarded::By),
        };
        let guard = match guarded {
            Guarded::By(guard) => Some(guard),
            _ => None,
        };
        let is_known = !matches!(guarded, Guarded::Unknown);
        let guarded = |access: Access<'c>| Seen::Access(Access { guard, ..access });
        match root {
            "ld" | "st" | "atom" | "red" if parts.contains(&"param") => {}
            "ld" | "ldu" | "st" | "atom" | "red" => {
                let op = match root {
                    "ld" | "ldu" => Op::Load,
                    "st" => Op::Store,
                    _ => Op::Atomic,
                };
                match (self.address(0), bytes_of(&parts)) {
                    (Some(address), Some(bytes)) if is_known => {
                        seen.push(guarded(Access::plain(address, op, space_of(&parts), bytes, cache_of(&parts))))
                    }
                    _ => seen.push(unknown()),
                }
            }
            "cp" if is_waiting(&parts) => {}
            "mbarrier" if parts.contains(&"pending_count") => {}
            "mbarrier" | "cp" if parts.contains(&"mbarrier") => match self.address(0) {
                Some(address) if is_known => seen.push(guarded(barrier_object(&parts, address))),
                _ => seen.push(unknown()),
            },
            "cp" if parts.get(1) == Some(&"async") && !parts.contains(&"bulk") && is_known => {
                match (self.address(0), self.address(1), self.copied_bytes()) {
                    (Some(target), Some(source), Some(sizes)) => {
                        let cache = if parts.contains(&"cg") { CacheOp::Global } else { CacheOp::Default };
                        let load = |bytes| Access::plain(source, Op::Load, Space::Global, bytes, cache);
                        match sizes.read {
                            Read::Number(0) => {}
                            Read::Number(bytes) => seen.push(guarded(load(bytes))),
                            // There is no hook for two conditions at once.
                            Read::Variable(_) | Read::If(_) if guard.is_some() => seen.push(unknown()),
                            Read::If(guard) => {
                                seen.push(Seen::Access(Access { guard: Some(guard), ..load(sizes.written) }));
                            }
                            // The size is almost always all or nothing; for sizes in between, there is no site.
                            Read::Variable(read) => {
                                let (predicate, all) = (IntPredicate::LLVMIntEQ, u64::from(sizes.written));
                                let guard = Guard { predicate, left: read, right: Value::int(read.ty(), all) };
                                seen.push(Seen::Access(Access { guard: Some(guard), ..load(sizes.written) }));
                                if !all_or_nothing(read, all) {
                                    let text = shorten(&statement.text);
                                    seen.push(Seen::Not(format!("asynchronous copy of a part: {text}")));
                                }
                            }
                        }
                        let (op, space, cache) = (Op::Store, Space::Shared, CacheOp::Default);
                        seen.push(guarded(Access::plain(target, op, space, sizes.written, cache)));
                    }
                    _ => seen.push(unknown()),
                }
            }
            "tex" | "tld4" => {
                let (op, cache) = (Op::Load, CacheOp::NonCoherent);
                seen.push(Seen::Texture { op, cache, sizes: TEXELS.to_vec(), what: shorten(&statement.text) });
            }
            "suld" | "sust" => seen.push(match bytes_of(&parts) {
                Some(bytes) => {
                    let op = if root == "suld" { Op::Load } else { Op::Store };
                    let what = shorten(&statement.text);
                    Seen::Texture { op, cache: CacheOp::Default, sizes: vec![bytes], what }
                }
                None => unknown(),
            }),
            "ldmatrix" | "stmatrix" if statement.guard.is_none() => {
                seen.push(match (Rows::read(&parts), self.address(0)) {
                    (Some(rows), Some(address)) => Seen::Access(matrix::rows(rows, address, space_of(&parts))),
                    _ => unknown(),
                });
            }
            _ if OPAQUE.contains(&root) => seen.push(unknown()),
            _ => {}
        }
    }

    /// Returns the value of `$number` before the assembly, if the statement still reads this value.
    fn argument(&self, number: usize) -> Option<Value<'c>> {
        if let Some(input) = number.checked_sub(self.layout.outputs) {
            return self.arguments.get(input).copied();
        }
        // An operand that is both input and output has the value of the argument until something is written to it.
        let input = self.layout.inputs.iter().position(|tied| *tied == Some(number))?;
        let is_written = self.all[..self.index].iter().any(|before| writes(before, &Operand::Argument(number)));
        if is_written { None } else { self.arguments.get(input).copied() }
    }

    /// Returns the `index`-th address in square brackets, if it is an argument of the assembly, optionally plus a
    /// number.
    fn address(&self, index: usize) -> Option<Address<'c>> {
        let memory = self.statement().operands.iter().filter_map(|operand| match operand {
            Operand::Memory(base, offset) => Some((&**base, *offset)),
            _ => None,
        });
        let (base, offset) = memory.into_iter().nth(index)?;
        let Operand::Argument(number) = base else { return None };
        Some(Address { offset: offset as u64, ..Address::from_value(self.argument(*number)?) })
    }

    /// Returns the guard for a predicate that depends on arguments of the assembly: one argument, or a single
    /// comparison.
    fn predicate(&self, operand: &Operand, holds: bool) -> Option<Guard<'c>> {
        if let Operand::Argument(number) = operand {
            let left = self.argument(*number).filter(|value| value.ty().int_bits().is_some())?;
            let predicate = if holds { IntPredicate::LLVMIntNE } else { IntPredicate::LLVMIntEQ };
            return Some(Guard { predicate, left, right: Value::int(left.ty(), 0) });
        }
        let mut definitions = (0..self.all.len()).filter(|&index| writes(&self.all[index], operand));
        let index = definitions.next().filter(|&index| index < self.index)?;
        let definition = &self.all[index];
        if definitions.next().is_some() || definition.guard.is_some() {
            return None;
        }
        // The second of a pair of results is the opposite of the first.
        let first = match definition.operands.first()? {
            Operand::Pair(first, _) => **first == *operand,
            _ => true,
        };
        Reading { index, ..*self }.comparison(holds == first)
    }

    /// Returns the comparison of `setp.ne.b32 p, $1, 0` and similar instructions on arguments and numbers, or its
    /// opposite if `holds` is false.
    fn comparison(&self, holds: bool) -> Option<Guard<'c>> {
        let parts: Vec<&str> = self.statement().operation.iter().map(String::as_str).collect();
        let [root, name, ty] = parts[..] else { return None };
        let [_, left, right] = &self.statement().operands[..] else { return None };
        let bits: u32 = ty.get(1..)?.parse().ok()?;
        if root != "setp" || !ty.starts_with(['b', 's', 'u']) {
            return None;
        }
        let argument = |operand: &Operand| match operand {
            Operand::Argument(number) => self.argument(*number).filter(|value| value.ty().int_bits() == Some(bits)),
            _ => None,
        };
        let like = argument(left).or_else(|| argument(right))?;
        let value = |operand: &Operand| match operand {
            Operand::Number(number) => Some(Value::int(like.ty(), *number)),
            operand => argument(operand),
        };
        let signed = ty.starts_with('s');
        let predicate = match (name, holds) {
            ("eq", true) | ("ne", false) => IntPredicate::LLVMIntEQ,
            ("ne", true) | ("eq", false) => IntPredicate::LLVMIntNE,
            ("lt", true) | ("ge", false) if signed => IntPredicate::LLVMIntSLT,
            ("le", true) | ("gt", false) if signed => IntPredicate::LLVMIntSLE,
            ("gt", true) | ("le", false) if signed => IntPredicate::LLVMIntSGT,
            ("ge", true) | ("lt", false) if signed => IntPredicate::LLVMIntSGE,
            ("lt" | "lo", true) | ("ge" | "hs", false) => IntPredicate::LLVMIntULT,
            ("le" | "ls", true) | ("gt" | "hi", false) => IntPredicate::LLVMIntULE,
            ("gt" | "hi", true) | ("le" | "ls", false) => IntPredicate::LLVMIntUGT,
            ("ge" | "hs", true) | ("lt" | "lo", false) => IntPredicate::LLVMIntUGE,
            _ => return None,
        };
        Some(Guard { predicate, left: value(left)?, right: value(right)? })
    }

    /// Returns the sizes of `cp.async dst, src, written, read`. Without the last operand, everything is read. If less
    /// is read, zeros are written for the rest. Instead of the size, there may be a predicate under which nothing is
    /// read.
    fn copied_bytes(&self) -> Option<Copied<'c>> {
        let Statement { operation, operands, .. } = self.statement();
        // The policy is the last operand.
        let policy = usize::from(operation.iter().any(|part| part == "cache_hint"));
        let [_, _, written, rest @ ..] = operands.get(..operands.len().checked_sub(policy)?)? else { return None };
        let number = |operand: &Operand| match operand {
            Operand::Number(bytes) => Some(*bytes),
            Operand::Argument(number) => self.argument(*number)?.as_u64(),
            _ => None,
        };
        let written = u32::try_from(number(written)?).ok()?;
        let read = match rest {
            [] => Read::Number(written),
            [operand @ Operand::Register(_)] => Read::If(self.predicate(operand, false)?),
            [Operand::Argument(place)] if self.argument(*place)?.ty().int_bits() == Some(1) => {
                Read::If(self.predicate(&rest[0], false)?)
            }
            [operand] => match (number(operand), operand) {
                (Some(bytes), _) => Read::Number(u32::try_from(bytes).unwrap_or(u32::MAX).min(written)),
                (None, Operand::Argument(place)) => {
                    Read::Variable(self.argument(*place).filter(|value| value.ty().int_bits().is_some())?)
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(Copied { written, read })
    }
}

/// Returns whether a size is either everything or nothing, as with Triton's masks.
fn all_or_nothing(size: Value<'_>, all: u64) -> bool {
    let known = |index| matches!(size.operand(index).as_u64(), Some(bytes) if bytes == 0 || bytes == all);
    size.opcode() == Some(Opcode::LLVMSelect) && known(1) && known(2)
}

/// Returns whether a statement has the operand among its results.
fn writes(statement: &Statement, operand: &Operand) -> bool {
    fn holds(result: &Operand, operand: &Operand) -> bool {
        match result {
            Operand::Group(parts) => parts.iter().any(|part| holds(part, operand)),
            Operand::Pair(first, second) => holds(first, operand) || holds(second, operand),
            result => result == operand,
        }
    }
    statement.operands.first().is_some_and(|result| holds(result, operand))
}

/// The number of bytes that an asynchronous copy writes, and how many of them it reads.
struct Copied<'c> {
    written: u32,
    read: Read<'c>,
}

enum Read<'c> {
    Number(u32),
    Variable(Value<'c>),
    /// Everything if this condition is true, otherwise nothing.
    If(Guard<'c>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::ModuleItems;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    #[test]
    fn statements_lose_braces_comments_and_labels() {
        let text = "{ .reg .pred p; // guard\n setp.ne.b32 p, $0, 0;\n L1: @p ld.global.v2.f32 {$1, $2}, [$3+8]; }";
        let all = statements(text);
        assert_eq!(all[0], ".reg .pred p");
        assert_eq!(all[2], "@p ld.global.v2.f32 {$1, $2}, [$3+8]");
        assert_eq!(opcode(&all[2]), "ld.global.v2.f32");
        assert_eq!(all.len(), 3);
    }

    /// Returns the effects of assembly without results: operands 0 and 1 are addresses, 2 is an integer, 3 a predicate.
    fn seen(text: &str) -> String {
        seen_of(text, "l,l,r,b", "void", "i64 %a, i64 %b, i32 %n, i1 %p")
    }

    fn seen_of(text: &str, constraints: &str, result: &str, arguments: &str) -> String {
        let module = format!(
            "define void @f(i64 %a, i64 %b, i32 %n, i1 %p) {{\n  {} call {result} asm sideeffect \"{text}\", \
             \"{constraints}\"({arguments})\n  ret void\n}}\n\0",
            if result == "void" { "" } else { "%r =" }
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(module.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect(&module);
        let instructions: Vec<_> =
            module.functions().into_iter().flat_map(|f| f.blocks()).flat_map(|block| block.instructions()).collect();
        let call = *instructions.iter().find(|instruction| instruction.is_call()).expect("a call");
        let shown = |seen: Seen<'_>| match seen {
            Seen::Access(Access { op, space, bytes, address, guard, cache, .. }) => {
                let at = if address.offset == 0 { String::new() } else { format!(" {:+}", address.offset as i64) };
                let guard = guard.map_or("", |_| " if");
                let cache = if cache == CacheOp::Default { String::new() } else { format!(" {cache:?}") };
                format!("{op:?} {space:?} {bytes}{at}{cache}{guard}")
            }
            Seen::Texture { .. } => "texture".to_owned(),
            Seen::Not(_) => "not".to_owned(),
        };
        inspect(call).into_iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    /// For every form of loads, stores, atomics and asynchronous copies that the lowering supports, the access is
    /// counted, or reported as not counted.
    #[test]
    fn every_form_is_counted() {
        for (text, expected) in [
            ("ld.global.u32 x, [$0];", "Load Global 4"),
            ("ld.u8 x, [$0];", "Load Generic 1"),
            ("ld.shared::cta.v4.f32 {a, b, c, d}, [$0];", "Load Shared 16"),
            ("ld.global.nc.L1::no_allocate.L2::128B.v2.u64 {a, b}, [$0 + 16];", "Load Global 16 +16 NonCoherent"),
            ("ld.relaxed.gpu.global.s32 x, [$0];", "Load Global 4 Volatile"),
            ("ld.acquire.sys.b64 x, [$0];", "Load Generic 8 Volatile"),
            ("ld.volatile.shared.u16 x, [$0];", "Load Shared 2 Volatile"),
            ("ld.const.f64 x, [$0];", "Load Constant 8"),
            ("ld.local.u32 x, [$0];", "Load Local 4"),
            ("ld.param.u32 x, [$0];", ""),
            ("ld.global.u32 x, [$0-8];", "Load Global 4 -8"),
            ("ld.global.u32 x, [$0 + -0x8];", "Load Global 4 -8"),
            ("ld.global.u32 x, [ $0 + 010 ];", "Load Global 4 +8"),
            ("st.global.cs.b32 [$0], $2;", "Store Global 4 Streaming"),
            ("st.shared.v2.b16 [$0+4], {a, b};", "Store Shared 4 +4"),
            ("st.release.gpu.global.u32 [$0], $2;", "Store Global 4 Volatile"),
            ("atom.global.add.u32 x, [$0], $2;", "Atomic Global 4"),
            ("atom.shared.cas.b64 x, [$0], a, b;", "Atomic Shared 8"),
            ("atom.add.noftz.f16x2 x, [$0], y;", "Atomic Generic 4"),
            ("red.global.add.v4.f32 [$0], {a, b, c, d};", "Atomic Global 16"),
            ("red.relaxed.gpu.global.max.s32 [$0], $2;", "Atomic Global 4 Volatile"),
            // Guards by an argument, by a comparison of arguments, and by values of the assembly.
            ("@$3 ld.global.u32 x, [$0];", "Load Global 4 if"),
            ("@!$3 st.global.u32 [$0], $2;", "Store Global 4 if"),
            ("@ $3 ld.global.u32 x, [$0];", "Load Global 4 if"),
            ("setp.ne.b32 p, $2, 0; @ ! p ld.global.u32 x, [$0];", "Load Global 4 if"),
            (
                "setp.lt.s32 p|q, $2, 5; @q ld.global.u32 x, [$0]; @p st.shared.u32 [$1], 0;",
                "Load Global 4 if, Store Shared 4 if",
            ),
            ("setp.ls.u32 %p1, 3, $2; @%p1 red.global.add.u32 [$0], 1;", "Atomic Global 4 if"),
            ("setp.ne.b32 p, $2, 0; not.pred p, p; @p ld.global.u32 x, [$0];", "not"),
            ("@p ld.global.u32 x, [$0]; setp.ne.b32 p, $2, 0;", "not"),
            ("@q setp.ne.b32 p, $2, 0; @p ld.global.u32 x, [$0];", "not"),
            // Addresses that the assembly computes.
            ("add.u64 a, $0, 4; ld.global.u32 x, [a];", "not"),
            ("cp.async.ca.shared.global [$0], [$1], 16;", "Load Global 16, Store Shared 16"),
            (
                "cp.async.cg.shared::cta.global.L2::128B [$0 + 4], [$1-4], 0x10;",
                "Load Global 16 -4 Global, Store Shared 16 +4",
            ),
            ("cp.async.ca.shared.global [$0], [$1], 16, 8;", "Load Global 8, Store Shared 16"),
            ("cp.async.ca.shared.global [$0], [$1], 4, 0;", "Store Shared 4"),
            ("cp.async.ca.shared.global [$0], [$1], 16, $2;", "Load Global 16 if, not, Store Shared 16"),
            ("cp.async.ca.shared.global [$0], [$1], 16, $3;", "Load Global 16 if, Store Shared 16"),
            (
                "setp.ne.b32 p, $2, 0; cp.async.ca.shared.global [$0], [$1], 16, p;",
                "Load Global 16 if, Store Shared 16",
            ),
            ("cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, y;", "Load Global 16 Global, Store Shared 16"),
            ("@$3 cp.async.ca.shared.global [$0], [$1], 8;", "Load Global 8 if, Store Shared 8 if"),
            ("@$3 cp.async.ca.shared.global [$0], [$1], 8, $2;", "not, Store Shared 8 if"),
            ("cp.async.commit_group; cp.async.wait_group 0;", ""),
            // Barrier objects: initialisation, arrival, test.
            ("cp.async.mbarrier.arrive.noinc.shared.b64 [$0];", "Atomic Shared 8 Volatile"),
            ("mbarrier.init.shared::cta.b64 [$0 + 8], $2;", "Store Shared 8 +8"),
            ("mbarrier.arrive.b64 _, [$0];", "Atomic Generic 8 Volatile"),
            ("@$3 mbarrier.arrive.expect_tx.shared.b64 x, [$0], $2;", "Atomic Shared 8 Volatile if"),
            ("mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $2;", "Load Shared 8 Volatile"),
            ("mbarrier.pending_count.b64 x, y;", ""),
            ("cp.async.bulk.shared.global [$0], [$1], 16, [$2];", "not"),
            ("tex.2d.v4.f32.f32 {a, b, c, d}, [$0, {x, y}];", "texture"),
            ("multimem.red.global.add.f32 [$0], x;", "not"),
            // More than plain instructions: labels.
            ("L1: ld.global.u32 x, [$0]; @p bra L1;", "not"),
            ("mov.u32 x, $2;", ""),
        ] {
            assert_eq!(seen(text), expected, "{text}");
        }
    }

    #[test]
    fn copies_of_all_or_nothing_are_counted_whole() {
        let of = |text: &str| {
            let context = Context::create();
            let module = format!(
                "define void @f(i64 %a, i64 %b, i1 %p) {{\n  %n = select i1 %p, i32 {text}\n  call void asm sideeffect \
                 \"cp.async.cg.shared.global [ $0 + 0 ], [ $1 + 0 ], 0x10, $2;\", \"l,l,r\"(i64 %a, i64 %b, i32 %n)\n  ret void\n}}\n\0"
            );
            let buffer = MemoryBuffer::create_from_memory_range_copy(module.as_bytes(), "test");
            let module = context.create_module_from_ir(buffer).expect(&module);
            let function = module.functions()[0];
            let call = function.blocks()[0].instructions()[1];
            inspect(call).iter().filter(|seen| matches!(seen, Seen::Not(_))).count()
        };
        assert_eq!(of("16, i32 0"), 0);
        assert_eq!(of("0, i32 16"), 0);
        assert_eq!(of("16, i32 8"), 1);
    }

    #[test]
    fn what_goes_in_and_out_is_an_address_until_it_is_written_to() {
        let of = |text: &str| seen_of(text, "=l,0", "i64", "i64 %a");
        assert_eq!(of("ld.global.u64 $0, [$0];"), "Load Global 8");
        assert_eq!(of("add.u64 $0, $0, 8; ld.global.u64 $0, [$0];"), "not");
        assert_eq!(of("st.global.u64 [$1+8], $0;"), "Store Global 8 +8");
    }

    #[test]
    fn widths_and_spaces_are_read_off_the_opcode() {
        let parts: Vec<&str> = "ld.relaxed.gpu.global.v4.u32".split('.').collect();
        assert_eq!(bytes_of(&parts), Some(16));
        assert_eq!(space_of(&parts), Space::Global);
        assert_eq!(cache_of(&parts), CacheOp::Volatile);
        let shared: Vec<&str> = "st.shared::cta.f64".split('.').collect();
        assert_eq!((bytes_of(&shared), space_of(&shared)), (Some(8), Space::Shared));
    }
}
