//! Memory operations in inline PTX.

use super::access::{Access, Address, Guard, Seen};
use super::matrix;
use crate::cpu::ptx::parse::number;
use crate::llvm::Value;
use crate::llvm::value::IntPredicate;
use crate::matrix::Rows;
use warpline_format::access::Space;
use warpline_format::site_table::{CacheOp, Op};

/// The statements of a piece of PTX, without comments, braces and labels.
pub(super) fn statements(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        plain.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    plain.push_str(rest);
    let lines: Vec<&str> = plain.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    // Braces open blocks, but around operands they hold a vector.
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

/// Opcode of a statement with its modifiers, the guard predicate left out.
pub(super) fn opcode(statement: &str) -> &str {
    let unguarded = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start()),
        None => statement,
    };
    unguarded.split_whitespace().next().unwrap_or_default()
}

/// Roots of memory instructions that are executed but whose addresses cannot be read off their operands.
const OPAQUE: [&str; 8] = ["sured", "ldmatrix", "stmatrix", "wmma", "mbarrier", "multimem", "ldu", "cp"];

/// Bytes that a texel may have.
const TEXELS: [u32; warpline_format::abi::texture::SIZES as usize] = [1, 2, 4, 8, 16];

/// What a call of inline assembly does to memory.
pub(super) fn inspect<'c>(call: Value<'c>) -> Vec<Seen<'c>> {
    let Some(callee) = call.called_value() else { return Vec::new() };
    let text = callee.asm_text();
    let outputs = callee.asm_constraints().split(',').filter(|part| part.starts_with('=')).count();
    let arguments = call.arguments();
    let mut seen = Vec::new();
    let all = statements(&text);
    for statement in &all {
        let opcode = opcode(statement).to_owned();
        let parts: Vec<&str> = opcode.split('.').collect();
        let root = parts.first().copied().unwrap_or_default();
        let unknown = || Seen::Not(format!("inline assembly: {}", shorten(statement)));
        let operands = Operands { statement, outputs, arguments: &arguments };
        let guard = guard_of(&all, statement).map(|(definition, holds)| {
            Operands { statement: definition, outputs, arguments: &arguments }.comparison(holds)
        });
        // Guarded by something that cannot be computed before the assembly.
        let is_open = statement.starts_with('@') && guard.is_none_or(|guard| guard.is_none());
        let guard = guard.flatten();
        let guarded = |access: Access<'c>| Seen::Access(Access { guard, ..access });
        match root {
            "ld" | "st" | "atom" | "red" if parts.contains(&"param") => {}
            "ld" | "st" | "atom" | "red" => {
                let op = match root {
                    "ld" => Op::Load,
                    "st" => Op::Store,
                    _ => Op::Atomic,
                };
                match (operands.address(0), bytes_of(&parts)) {
                    (Some(address), Some(bytes)) if !is_open => {
                        seen.push(guarded(Access::plain(address, op, space_of(&parts), bytes, cache_of(&parts))))
                    }
                    _ => seen.push(unknown()),
                }
            }
            "cp" if is_waiting(&parts) => {}
            "cp" if parts.get(1) == Some(&"async") && !parts.contains(&"bulk") && !is_open => {
                match (operands.address(0), operands.address(1), operands.copied_bytes()) {
                    (Some(target), Some(source), Some(sizes)) => {
                        let cache = if parts.contains(&"cg") { CacheOp::Global } else { CacheOp::Default };
                        let load = |bytes| Access::plain(source, Op::Load, Space::Global, bytes, cache);
                        match sizes.read {
                            Read::Number(0) => {}
                            Read::Number(bytes) => seen.push(guarded(load(bytes))),
                            // Almost always all or nothing; what is between has no site of its size.
                            Read::Variable(_) if guard.is_some() => seen.push(unknown()),
                            Read::Variable(read) => {
                                let (predicate, all) = (IntPredicate::LLVMIntEQ, u64::from(sizes.written));
                                let guard = Guard { predicate, left: read, right: Value::int(read.ty(), all) };
                                seen.push(Seen::Access(Access { guard: Some(guard), ..load(sizes.written) }));
                                seen.push(Seen::Not(format!("asynchronous copy of a part: {}", shorten(statement))));
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
                seen.push(Seen::Texture { op, cache, sizes: TEXELS.to_vec(), what: shorten(statement) });
            }
            "suld" | "sust" => seen.push(match bytes_of(&parts) {
                Some(bytes) => {
                    let op = if root == "suld" { Op::Load } else { Op::Store };
                    Seen::Texture { op, cache: CacheOp::Default, sizes: vec![bytes], what: shorten(statement) }
                }
                None => unknown(),
            }),
            "ldmatrix" | "stmatrix" if !statement.starts_with('@') => {
                let parts: Vec<&str> = parts.iter().flat_map(|part| part.split("::")).collect();
                seen.push(match (Rows::read(&parts), operands.address(0)) {
                    (Some(rows), Some(address)) => Seen::Access(matrix::rows(rows, address, space_of(&parts))),
                    _ => unknown(),
                });
            }
            _ if OPAQUE.contains(&root) => seen.push(unknown()),
            _ => {}
        }
    }
    seen
}

/// The statement that defines a guarded statement's predicate, and whether the predicate or its contrary guards. `None`
/// where it is not the only one to define it, or is guarded itself.
fn guard_of<'s>(all: &'s [String], statement: &str) -> Option<(&'s str, bool)> {
    let name = statement.strip_prefix('@')?.split_whitespace().next()?;
    let (name, holds) = name.strip_prefix('!').map_or((name, true), |name| (name, false));
    let result = |statement: &str| -> Option<String> {
        let unguarded = match statement.strip_prefix('@') {
            Some(rest) => rest.split_once(char::is_whitespace)?.1,
            None => statement,
        };
        let operands = unguarded.trim_start().split_once(char::is_whitespace)?.1;
        Some(operands.split(',').next()?.trim().to_owned())
    };
    // A predicate may also be the second of a pair of results, `p|q`.
    let defines = |statement: &&String| {
        !statement.starts_with(".reg")
            && result(statement).is_some_and(|result| result.split('|').any(|part| part.trim() == name))
    };
    let mut definitions = all.iter().filter(defines);
    let definition = definitions.next()?;
    (definitions.next().is_none() && !definition.starts_with('@')).then_some((definition.as_str(), holds))
}

/// Commit and wait of asynchronous copies move nothing themselves.
fn is_waiting(parts: &[&str]) -> bool {
    parts.iter().any(|part| part.starts_with("commit") || part.starts_with("wait") || *part == "mbarrier")
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

/// Bytes per lane: the element's width times the vector's length.
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

struct Operands<'s, 'c> {
    statement: &'s str,
    /// Operands `$0` to here are results.
    outputs: usize,
    arguments: &'s [Value<'c>],
}

impl<'c> Operands<'_, 'c> {
    /// The `index`-th address in square brackets, if it is an argument of the assembly, perhaps plus a number.
    fn address(&self, index: usize) -> Option<Address<'c>> {
        let inside = self.statement.split('[').nth(index + 1)?.split(']').next()?;
        let (base, offset) = match inside.split_once('+') {
            Some((base, offset)) => (base.trim(), number(offset.trim())?),
            None => (inside.trim(), 0),
        };
        let number: usize = base.strip_prefix('$')?.trim_matches(['{', '}']).parse().ok()?;
        let value = *self.arguments.get(number.checked_sub(self.outputs)?)?;
        Some(Address { offset, ..Address::of(value) })
    }

    /// The comparison of `setp.ne.b32 p, $1, 0` and its kin, of arguments and numbers; the contrary unless it `holds`.
    fn comparison(&self, holds: bool) -> Option<Guard<'c>> {
        let (opcode, operands) = self.statement.split_once(char::is_whitespace)?;
        let [root, name, ty] = opcode.split('.').collect::<Vec<_>>()[..] else { return None };
        let [_, left, right] = operands.split(',').map(str::trim).collect::<Vec<_>>()[..] else { return None };
        let bits: u32 = ty.get(1..)?.parse().ok()?;
        if root != "setp" || !ty.starts_with(['b', 's', 'u']) {
            return None;
        }
        let argument = |text: &str| {
            let number: usize = text.strip_prefix('$')?.trim_matches(['{', '}']).parse().ok()?;
            let value = *self.arguments.get(number.checked_sub(self.outputs)?)?;
            (value.ty().int_bits() == Some(bits)).then_some(value)
        };
        let like = argument(left).or_else(|| argument(right))?;
        let value = |text: &str| {
            let number = || Some(Value::int(like.ty(), number(text)?));
            argument(text).or_else(number)
        };
        let signed = ty.starts_with('s');
        let predicate = match (name, holds) {
            ("eq", true) | ("ne", false) => IntPredicate::LLVMIntEQ,
            ("ne", true) | ("eq", false) => IntPredicate::LLVMIntNE,
            ("lt", true) | ("ge", false) if signed => IntPredicate::LLVMIntSLT,
            ("le", true) | ("gt", false) if signed => IntPredicate::LLVMIntSLE,
            ("gt", true) | ("le", false) if signed => IntPredicate::LLVMIntSGT,
            ("ge", true) | ("lt", false) if signed => IntPredicate::LLVMIntSGE,
            ("lt", true) | ("ge", false) => IntPredicate::LLVMIntULT,
            ("le", true) | ("gt", false) => IntPredicate::LLVMIntULE,
            ("gt", true) | ("le", false) => IntPredicate::LLVMIntUGT,
            ("ge", true) | ("lt", false) => IntPredicate::LLVMIntUGE,
            _ => return None,
        };
        Some(Guard { predicate, left: value(left)?, right: value(right)? })
    }

    /// Sizes of `cp.async dst, src, written, read`; without the last all is read. Where less is read zeros are written.
    fn copied_bytes(&self) -> Option<Copied<'c>> {
        let after = self.statement.rsplit(']').next()?;
        let numbers: Vec<&str> = after.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let argument = |text: &str| {
            let number: usize = text.strip_prefix('$')?.trim_matches(['{', '}']).parse().ok()?;
            self.arguments.get(number.checked_sub(self.outputs)?).copied()
        };
        let number = |text: &str| match argument(text) {
            Some(value) => value.as_u64().map(|bytes| bytes as u32),
            None => number(text).and_then(|bytes| u32::try_from(bytes).ok()),
        };
        let (written, read) = match numbers[..] {
            // The policy comes last.
            [written, _] if self.statement.contains("cache_hint") => (number(written)?, None),
            [written, read, _] if self.statement.contains("cache_hint") => (number(written)?, Some(read)),
            [written] => (number(written)?, None),
            [written, read] => (number(written)?, Some(read)),
            _ => return None,
        };
        let read = match read {
            None => Read::Number(written),
            Some(read) => match number(read) {
                Some(bytes) => Read::Number(bytes.min(written)),
                None => Read::Variable(argument(read).filter(|value| value.ty().int_bits().is_some())?),
            },
        };
        Some(Copied { written, read })
    }
}

/// What an asynchronous copy writes, and how much of that it reads.
struct Copied<'c> {
    written: u32,
    read: Read<'c>,
}

enum Read<'c> {
    Number(u32),
    Variable(Value<'c>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_lose_braces_comments_and_labels() {
        let text = "{ .reg .pred p; // guard\n setp.ne.b32 p, $0, 0;\n L1: @p ld.global.v2.f32 {$1, $2}, [$3+8]; }";
        let all = statements(text);
        assert_eq!(all[0], ".reg .pred p");
        assert_eq!(all[2], "@p ld.global.v2.f32 {$1, $2}, [$3+8]");
        assert_eq!(opcode(&all[2]), "ld.global.v2.f32");
        assert_eq!(all.len(), 3);
    }

    /// What the lowering executes is counted, in whatever base the sizes are written.
    #[test]
    fn sizes_of_asynchronous_copies_are_read_in_every_base() {
        for (sizes, written, read) in [
            ("16", 16, 16),
            ("0x10", 16, 16),
            (" 0X10 ", 16, 16),
            ("020", 16, 16),
            ("0b10000", 16, 16),
            ("16U,0x8", 16, 8),
            ("0x4 , 0", 4, 0),
        ] {
            let text = format!("cp.async.ca.shared.global [$0], [$1 + 0], {sizes};");
            let all = statements(&text);
            let copied = Operands { statement: &all[0], outputs: 0, arguments: &[] }.copied_bytes().expect(sizes);
            assert!(
                copied.written == written && matches!(copied.read, Read::Number(bytes) if bytes == read),
                "{sizes}"
            );
            let parsed = crate::cpu::ptx::parse::parse(&text).expect("the lowering reads it");
            assert_eq!(parsed[0].operands[2], crate::cpu::ptx::parse::Operand::Number(written.into()), "{sizes}");
        }
        let text = "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 0x10, $2";
        let copied = Operands { statement: text, outputs: 0, arguments: &[] }.copied_bytes().expect("a policy");
        assert!(copied.written == 16 && matches!(copied.read, Read::Number(16)));
    }

    #[test]
    fn a_guard_is_the_one_definition_of_its_predicate() {
        let guard = |text: &str| {
            let all = statements(text);
            guard_of(&all, all.last()?).map(|(definition, holds)| (definition.to_owned(), holds))
        };
        let setp = || "setp.ne.b32 p, $1, 0".to_owned();
        assert_eq!(guard("{ .reg .pred p; setp.ne.b32 p, $1, 0; @p ld.global.u32 $0, [$2]; }"), Some((setp(), true)));
        assert_eq!(guard("setp.ne.b32 p, $1, 0; @!p st.shared.u32 [$0], $2;"), Some((setp(), false)));
        assert_eq!(guard("setp.ne.b32 p, $1, 0; not.pred p, p; @p st.shared.u32 [$0], $2;"), None);
        assert_eq!(guard("setp.ne.b32 q|p, $1, 0; setp.eq.b32 p, $2, 0; @p st.shared.u32 [$0], $2;"), None);
        assert_eq!(guard("@q setp.ne.b32 p, $1, 0; @p st.shared.u32 [$0], $2;"), None);
        assert_eq!(guard("@p st.shared.u32 [$0], $2;"), None);
        assert_eq!(guard("st.shared.u32 [$0], $2;"), None);
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
