//! Finds stores and atomic operations that depend on a load from the address to which they write.

use crate::ir::distance::Sum;
use crate::llvm::value::{Block, Opcode};
use crate::llvm::{Layout, Value};
use warpline_format::conflict::Update;

/// The maximum number of values that are searched for one store.
const MOST_VALUES: usize = 64;
/// The maximum number of conditions around a store that are searched.
const MOST_CONDITIONS: usize = 4;

/// Returns how a store or an atomic operation depends on a load from its address, and that load.
pub(super) fn update<'c>(instruction: Value<'c>, layout: Layout<'_>) -> Option<(Update, Value<'c>)> {
    let (address, value, expected) = match instruction.opcode() {
        Some(Opcode::LLVMStore) => (instruction.operand(1), instruction.operand(0), None),
        Some(Opcode::LLVMAtomicRMW) => (instruction.operand(0), instruction.operand(1), None),
        Some(Opcode::LLVMAtomicCmpXchg) => {
            (instruction.operand(0), instruction.operand(2), Some(instruction.operand(1)))
        }
        _ => return None,
    };
    let (sum, ty) = (Sum::from_pointer(address, layout), value.ty());
    let is_same = |load: Value<'c>| load.ty() == ty && Sum::from_pointer(load.operand(0), layout).to(&sum) == Some(0);
    let is_store = instruction.opcode() == Some(Opcode::LLVMStore);
    // A compare-and-swap loop first expects the loaded value, and then the result of the operation.
    let of_value = || if is_store { load_of(value, false, &is_same) } else { load_of(expected?, true, &is_same) };
    if let Some(load) = of_value() {
        return Some((Update::Value, load));
    }
    let load =
        conditions(instruction.block()?).into_iter().find_map(|condition| load_of(condition, false, &is_same))?;
    Some((Update::Condition, load))
}

/// Returns the matching load from which a value is computed, without memory in between, and without loops unless
/// `through_loops` is set.
fn load_of<'c>(value: Value<'c>, through_loops: bool, is_same: &dyn Fn(Value<'c>) -> bool) -> Option<Value<'c>> {
    let mut seen = vec![value];
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        if !value.is_instruction() || value.is_phi() && !through_loops {
            continue;
        }
        if value.opcode() == Some(Opcode::LLVMLoad) {
            if is_same(value) {
                return Some(value);
            }
            continue;
        }
        let operands = match value.opcode() {
            Some(Opcode::LLVMCall) => value.arguments(),
            Some(Opcode::LLVMPHI) => value.incoming().into_iter().map(|(value, _)| value).collect(),
            _ => value.operands(),
        };
        let new: Vec<_> = operands.into_iter().filter(|operand| !seen.contains(operand)).collect();
        seen.extend(new);
        seen.truncate(MOST_VALUES);
    }
    None
}

/// Returns the conditions of the branches that lead to a block, as long as each block has one predecessor.
fn conditions(mut block: Block<'_>) -> Vec<Value<'_>> {
    let mut found = Vec::new();
    for _ in 0..MOST_CONDITIONS {
        let before: Vec<_> = block.as_value().users().into_iter().filter(|user| user.is_terminator()).collect();
        let [branch] = before[..] else { break };
        found.extend(branch.condition());
        let Some(previous) = branch.block() else { break };
        block = previous;
    }
    found
}
