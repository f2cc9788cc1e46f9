//! Loops in which threads of a warp wait for each other.
//!
//! If the body of a loop ends and begins with the same test of the lane, LLVM threads the jump from one test over the
//! other: lanes that fail the test iterate an inner loop, and the others return to it through an outer loop. Different
//! lanes then reach the warp-wide operations in the body at different times, although these need all lanes in each
//! iteration; peeling even copies them. LLVM does not thread jumps over a convergent call. Therefore, each such loop
//! has a convergent call at its end during optimisation. (At its start, the call would prevent LLVM from rotating the
//! loop.)

use crate::ir::graph::Graph;
use crate::llvm::{Block, Builder, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};

/// An intrinsic that does nothing, has no cost, and is not moved (LLVM language reference, "llvm.sideeffect").
const MARK: &str = "llvm.sideeffect";

/// A loop, given by its first block, and the blocks with an edge back to it.
struct BackEdges<'c> {
    header: Block<'c>,
    latches: Vec<Block<'c>>,
}

/// Marks the end of each loop that contains a convergent operation, also in a function that it calls.
pub fn mark_loops(module: &Module<'_>) {
    let functions: Vec<_> = module.functions().into_iter().filter(|one| !one.is_declaration()).collect();
    let convergent = convergent_functions(&functions);
    let loops: Vec<BackEdges<'_>> =
        functions.iter().flat_map(|function| convergent_loops(*function, &convergent)).collect();
    if !loops.is_empty() {
        let mark = module.intrinsic(MARK, &[]);
        loops.iter().for_each(|one| mark_end(one, mark));
    }
}

/// Adds a mark to the edges that close a loop. They can only share a block if no value depends on the edge.
fn mark_end<'c>(one: &BackEdges<'c>, mark: Value<'c>) {
    let b = Builder::new(mark.types());
    let has_phi = one.header.instructions().first().is_some_and(|first| first.is_phi());
    if has_phi || one.latches.len() == 1 {
        for terminator in one.latches.iter().filter_map(|latch| latch.terminator()) {
            b.before(terminator);
            b.locate_like(None);
            b.call(mark, &[]).make_convergent();
        }
        return;
    }
    let end = one.header.function().append_block("loop.end");
    for terminator in one.latches.iter().filter_map(|latch| latch.terminator()) {
        terminator.retarget(one.header, end);
    }
    b.at_end(end);
    b.locate_like(None);
    b.call(mark, &[]).make_convergent();
    b.branch(one.header);
}

/// Removes the marks.
pub fn unmark_loops(module: &Module<'_>) {
    let is_mark = |function: &Value<'_>| function.name() == MARK;
    for mark in module.functions().into_iter().filter(is_mark) {
        mark.users().into_iter().for_each(Value::erase);
        mark.delete_global();
    }
}

/// Returns the functions that execute a convergent operation of the target. In code that is not yet optimised, every
/// device function is declared convergent, so the operations must be searched for.
fn convergent_functions<'c>(functions: &[Value<'c>]) -> HashSet<Value<'c>> {
    let mut callers: HashMap<Value<'c>, Vec<Value<'c>>> = HashMap::new();
    let mut found = HashSet::new();
    let mut work = Vec::new();
    for &function in functions {
        for value in instructions(function) {
            if is_operation(value) {
                work.push(function);
            } else if let Some(callee) = value.direct_callee() {
                callers.entry(callee).or_default().push(function);
            }
        }
    }
    while let Some(function) = work.pop() {
        if found.insert(function) {
            work.extend(callers.get(&function).into_iter().flatten());
        }
    }
    found
}

fn instructions(function: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    function.blocks().into_iter().flat_map(|block| block.instructions())
}

/// Returns whether an instruction is a convergent intrinsic or inline assembly.
fn is_operation(value: Value<'_>) -> bool {
    let is_of_target = value.called_value().is_some_and(|callee| callee.is_inline_asm() || callee.is_intrinsic());
    is_of_target && value.is_convergent()
}

/// Returns the loops of a function that contain a convergent operation.
fn convergent_loops<'c>(function: Value<'c>, convergent: &HashSet<Value<'c>>) -> Vec<BackEdges<'c>> {
    let blocks = function.blocks();
    let contains = |block: Block<'c>| {
        let calls = |value: Value<'c>| value.direct_callee().is_some_and(|callee| convergent.contains(&callee));
        block.instructions().into_iter().any(|value| is_operation(value) || calls(value))
    };
    let index: HashMap<Block<'c>, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let successors = blocks.iter().map(|block| block.successors().iter().map(|next| index[next]).collect()).collect();
    let graph = Graph { successors };
    // A loop with several entries has no end that all lanes pass.
    let Ok(loops) = graph.loops() else { return Vec::new() };
    let meant = loops.iter().filter(|one| one.blocks.iter().any(|&block| contains(blocks[block])));
    meant
        .map(|one| {
            let closes = |block: &usize| graph.successors[*block].contains(&one.header);
            let latches = one.blocks.iter().copied().filter(closes).map(|block| blocks[block]).collect();
            BackEdges { header: blocks[one.header], latches }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const TEXT: &str = "declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
define i32 @first(i32 %value) convergent {
  %lane0 = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %value, i32 0, i32 31)
  ret i32 %lane0
}
define i32 @same(i32 %value) convergent {
  ret i32 %value
}
define void @waits(i32 %count) convergent {
entry:
  br label %outer
outer:
  br label %inner
inner:
  %i = phi i32 [ 0, %outer ], [ %next, %inner ]
  %one = call i32 @same(i32 %i) convergent
  %next = add i32 %one, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %inner, label %after
after:
  %all = call i32 @first(i32 %next) convergent
  %again = icmp slt i32 %all, %count
  br i1 %again, label %outer, label %end
end:
  ret void
}
define void @continues(ptr %place, i1 %is_first) convergent {
entry:
  br label %start
start:
  %value = load i32, ptr %place
  %all = call i32 @first(i32 %value) convergent
  br i1 %is_first, label %once, label %twice
once:
  store i32 %all, ptr %place
  br label %start
twice:
  br label %start
}
";

    #[test]
    fn loops_with_operations_of_the_warp_are_marked() {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(TEXT.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).expect("IR");
        mark_loops(&module);
        crate::llvm::module::verify(&module, "marks").expect("it is well-formed");
        let text = module.print_to_string().to_string();
        let mark = "call void @llvm.sideeffect()";
        assert_eq!(text.matches(mark).count(), 2, "{text}");
        let block =
            |label: &str| text.split(label).nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
        assert!(block("\nafter:").contains(mark) && block("\nloop.end:").contains(mark), "{text}");
        assert!(
            block("\nonce:").contains("label %loop.end") && block("\ntwice:").contains("label %loop.end"),
            "{text}"
        );
        unmark_loops(&module);
        let after = module.print_to_string().to_string();
        assert!(!after.contains("llvm.sideeffect"), "{after}");
    }
}
