//! Barriers of a block in device code, as intrinsics and in inline assembly.

use crate::llvm::Value;
use crate::ptx::barrier;
use crate::ptx::parse;

/// The barrier that an instruction is or contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Barrier {
    /// `__syncthreads` and its variants, for all threads of the block.
    Block,
    /// A barrier with a number or a count of threads, a barrier at which a warp only arrives, or a cluster barrier.
    Named,
}

/// Returns the barrier of an instruction, if it has one. If it has several, returns the one that needs most work from
/// the scheduler.
pub fn barrier(value: Value<'_>) -> Option<Barrier> {
    let callee = value.called_value()?;
    if callee.is_inline_asm() {
        let text = callee.asm_text();
        if !text.contains("bar") {
            return None;
        }
        let statements = parse::parse(&text)?;
        let cluster = statements.iter().any(|one| one.operation.iter().any(|part| part == "cluster"))
            && text.contains("barrier.cluster");
        let named = statements.iter().filter_map(barrier::Barrier::read).map(|one| match one.is_block_wide() {
            true => Barrier::Block,
            false => Barrier::Named,
        });
        return named.chain(cluster.then_some(Barrier::Named)).max();
    }
    if !callee.is_function() {
        return None;
    }
    let name = callee.name();
    let rest = name.strip_prefix("llvm.nvvm.barrier")?;
    let counts = ["count", "cnt", "arrive", "cluster"].iter().any(|part| rest.contains(part));
    let first = value.arguments().first().map(|number| number.as_u64());
    // The oldest forms, `barrier0`, have no number; their argument is a predicate.
    let block = rest.starts_with('0') || first.is_none_or(|number| number == Some(0));
    Some(if block && !counts { Barrier::Block } else { Barrier::Named })
}
