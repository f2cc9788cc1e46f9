//! Determines which functions' local variables are in memory.
//!
//! LLVM creates one block of local memory per function for all variables that it leaves there. ptxas either keeps the
//! complete block or moves all of it into registers, where elements of small arrays are selected by comparisons. So
//! accesses to local memory in PTX need not exist in the machine code; sinf's argument reduction is the usual example.
//! In all tests, the decision was the same for all architectures from `sm_52` to `sm_100`. The decision for the
//! architecture for which the code was compiled counts; others are used if its spills hide the answer.

use std::collections::{BTreeMap, BTreeSet};
use warpline_pass::gpu::names;

/// A function's stack in ptxas' report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    /// The size of the frame in bytes: local variables and slots for spills.
    pub bytes: u32,
    /// The number of bytes that spill instructions store, which is at least the size of the slots.
    pub spill_stores: u32,
}

/// Returns the functions of `ptx`, by mangled name, whose local variables are in registers on an architecture. `stacks`
/// are the stacks that ptxas reports, by architecture and function. A function that ptxas inlined has no stack and is
/// not in the result.
pub(super) fn in_registers(
    ptx: &str,
    made_for: u32,
    stacks: &BTreeMap<u32, BTreeMap<String, Stack>>,
) -> BTreeSet<String> {
    let own = stacks.get(&made_for);
    let others = || stacks.iter().filter(|(architecture, _)| **architecture != made_for).map(|(_, stacks)| stacks);
    let blocks = local_blocks(ptx);
    let of_function = |(function, block): (String, u32)| {
        let mut found = own.into_iter().chain(others()).filter_map(|stacks| stacks.get(&function));
        let decided = found.find_map(|stack| stack.holds(block));
        (decided == Some(false)).then_some(function)
    };
    blocks.into_iter().filter_map(of_function).collect()
}

impl Stack {
    /// Returns whether a function's block of local memory is in its stack, or `None` if the whole stack could also
    /// consist of spills.
    fn holds(self, block: u32) -> Option<bool> {
        if block == 0 || self.bytes == 0 {
            return Some(false);
        }
        // The slots need no more bytes than are stored to them.
        let may_be_spills = self.bytes <= self.spill_stores;
        match (may_be_spills, self.bytes < block) {
            (false, _) => Some(true),
            (true, true) => Some(false),
            (true, false) => None,
        }
    }
}

/// Returns the size of the block of local memory of each function with code, or 0 for a function without a block.
fn local_blocks(ptx: &str) -> BTreeMap<String, u32> {
    let mut blocks = BTreeMap::new();
    let mut function: Option<String> = None;
    for line in ptx.lines() {
        if let Some(name) = defined_function(line) {
            blocks.insert(name.clone(), 0);
            function = Some(name);
        } else if let Some((_, rest)) = line.split_once("__local_depot")
            && line.trim_start().starts_with(".local")
            && let Some(bytes) = rest.split(['[', ']']).nth(1).and_then(|bytes| bytes.parse().ok())
            && let Some(function) = &function
        {
            blocks.insert(function.clone(), bytes);
        }
    }
    blocks
}

/// Returns the name of the kernel or function whose header begins on a line.
fn defined_function(line: &str) -> Option<String> {
    let (before, after) = line.split_once(".entry ").or_else(|| line.split_once(".func "))?;
    if before.contains("//") || before.contains(".extern") {
        return None;
    }
    // A result precedes the name, in parentheses.
    let after = after.trim_start();
    let name = match after.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => after,
    };
    let ends = |letter: char| !(letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%'));
    let name = name.trim_start().split(ends).next().filter(|name| !name.is_empty())?;
    Some(names::of_spelled(name).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".visible .entry small(\n\t.local .align 4 .b8 \t__local_depot0[32];\n\tmov.b64 %SPL, __local_depot0;\n\
        .visible .entry large(\n\t.local .align 4 .b8 \t__local_depot1[256];\n\
        .func  (.param .b32 func_retval0) helper(\n\t.local .align 16 .b8 \t__local_depot2[16];\n\
        .entry none(\n";

    #[test]
    fn blocks_of_local_memory_are_read() {
        let wanted = [("small", 32), ("large", 256), ("helper", 16), ("none", 0)];
        assert_eq!(local_blocks(PTX), wanted.map(|(name, bytes)| (name.to_owned(), bytes)).into());
    }

    #[test]
    fn variables_without_stack_are_in_registers() {
        let stack = |bytes, spill_stores| Stack { bytes, spill_stores };
        let reported = |rows: &[(&str, Stack)]| rows.iter().map(|&(name, stack)| (name.to_owned(), stack)).collect();
        let decided = |rows: &[(u32, &[(&str, Stack)])]| {
            let stacks = rows.iter().map(|&(architecture, rows)| (architecture, reported(rows))).collect();
            in_registers(PTX, 75, &stacks).into_iter().collect::<Vec<_>>()
        };
        let plain = [("small", stack(0, 0)), ("large", stack(256, 0)), ("none", stack(0, 0))];
        assert_eq!(decided(&[(75, &plain)]), ["none", "small"], "the helper was inlined");
        // The code's own architecture decides.
        assert_eq!(decided(&[(70, &[("small", stack(32, 0))]), (75, &plain)]), ["none", "small"]);
        // 120 bytes cannot contain the 256 bytes, but they may contain the 32 bytes; then another architecture without
        // spills decides.
        let spilled = [("small", stack(120, 212)), ("large", stack(120, 212))];
        assert_eq!(decided(&[(75, &spilled)]), ["large"]);
        assert_eq!(decided(&[(75, &spilled), (80, &plain)]), ["large", "none", "small"]);
        // The stack is larger than all spills together.
        assert_eq!(decided(&[(75, &[("small", stack(64, 40))])]), [""; 0]);
    }
}
