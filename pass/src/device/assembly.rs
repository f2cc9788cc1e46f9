//! Memory operations in inline PTX.

use super::access::{Access, Address, Seen};
use super::matrix;
use crate::llvm::Value;
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
pub(super) fn inspect(call: Value<'_>) -> Vec<Seen<'_>> {
    let Some(callee) = call.called_value() else { return Vec::new() };
    let text = callee.asm_text();
    let outputs = callee.asm_constraints().split(',').filter(|part| part.starts_with('=')).count();
    let arguments = call.arguments();
    let mut seen = Vec::new();
    for statement in statements(&text) {
        let opcode = opcode(&statement).to_owned();
        let parts: Vec<&str> = opcode.split('.').collect();
        let root = parts.first().copied().unwrap_or_default();
        let unknown = || Seen::Not(format!("inline assembly: {}", shorten(&statement)));
        let operands = Operands { statement: &statement, outputs, arguments: &arguments };
        match root {
            "ld" | "st" | "atom" | "red" if parts.contains(&"param") => {}
            "ld" | "st" | "atom" | "red" => {
                let op = match root {
                    "ld" => Op::Load,
                    "st" => Op::Store,
                    _ => Op::Atomic,
                };
                let guarded = statement.starts_with('@');
                match (operands.address(0), bytes_of(&parts)) {
                    (Some(address), Some(bytes)) if !guarded => {
                        seen.push(Seen::Access(Access::plain(address, op, space_of(&parts), bytes, cache_of(&parts))))
                    }
                    _ => seen.push(unknown()),
                }
            }
            "cp" if is_waiting(&parts) => {}
            "cp" if parts.get(1) == Some(&"async") && !parts.contains(&"bulk") && !statement.starts_with('@') => {
                match (operands.address(0), operands.address(1), operands.copied_bytes()) {
                    (Some(target), Some(source), Some(bytes)) => {
                        let cache = if parts.contains(&"cg") { CacheOp::Global } else { CacheOp::Default };
                        seen.push(Seen::Access(Access::plain(source, Op::Load, Space::Global, bytes, cache)));
                        seen.push(Seen::Access(Access::plain(
                            target,
                            Op::Store,
                            Space::Shared,
                            bytes,
                            CacheOp::Default,
                        )));
                    }
                    _ => seen.push(unknown()),
                }
            }
            "tex" | "tld4" => {
                let (op, cache) = (Op::Load, CacheOp::NonCoherent);
                seen.push(Seen::Texture { op, cache, sizes: TEXELS.to_vec(), what: shorten(&statement) });
            }
            "suld" | "sust" => seen.push(match bytes_of(&parts) {
                Some(bytes) => {
                    let op = if root == "suld" { Op::Load } else { Op::Store };
                    Seen::Texture { op, cache: CacheOp::Default, sizes: vec![bytes], what: shorten(&statement) }
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
            Some((base, offset)) => (base.trim(), offset.trim().parse::<u64>().ok()?),
            None => (inside.trim(), 0),
        };
        let number: usize = base.strip_prefix('$')?.trim_matches(['{', '}']).parse().ok()?;
        let value = *self.arguments.get(number.checked_sub(self.outputs)?)?;
        Some(Address { offset, ..Address::of(value) })
    }

    /// Size operand of `cp.async dst, src, size`. A fourth operand makes the source shorter: not understood.
    fn copied_bytes(&self) -> Option<u32> {
        let after = self.statement.rsplit(']').next()?;
        let mut numbers = after.split(',').map(str::trim).filter(|part| !part.is_empty());
        let first = numbers.next()?;
        if numbers.next().is_some() {
            return None;
        }
        match first.strip_prefix('$') {
            Some(number) => {
                let number: usize = number.parse().ok()?;
                self.arguments.get(number.checked_sub(self.outputs)?)?.as_u64().map(|bytes| bytes as u32)
            }
            None => first.parse().ok(),
        }
    }
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
