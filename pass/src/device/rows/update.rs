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
    let search = Search { is_same: &is_same, address: sum.values().collect() };
    let is_store = instruction.opcode() == Some(Opcode::LLVMStore);
    // A compare-and-swap loop first expects the loaded value, and then the result of the operation.
    let source = if is_store { Some(value) } else { expected };
    if let Some(load) = source.and_then(|source| search.load_of(source)) {
        return Some((Update::Value, load));
    }
    let load = conditions(instruction.block()?).into_iter().find_map(|condition| search.load_of(condition))?;
    Some((Update::Condition, load))
}

/// The search for a load from the address of an access.
struct Search<'s, 'c> {
    /// Whether a load has the address, as far as both are computed in the same iteration.
    is_same: &'s dyn Fn(Value<'c>) -> bool,
    /// The values on which the address depends.
    address: Vec<Value<'c>>,
}

impl<'c> Search<'_, 'c> {
    /// Returns the load of the address from which a value is computed, without other memory in between. The value may
    /// come from an earlier iteration of a loop in which the address stays the same.
    fn load_of(&self, value: Value<'c>) -> Option<Value<'c>> {
        let (found, phis) = search(value, |value| value.opcode() == Some(Opcode::LLVMLoad) && (self.is_same)(value));
        let found = found?;
        let is_phi_of_loop = |value: Value<'c>| value.is_phi() && phis.iter().any(|phi| phi.block() == value.block());
        let moves = self.address.iter().any(|&value| search(value, is_phi_of_loop).0.is_some());
        (phis.is_empty() || !moves).then_some(found)
    }
}

/// Searches the values from which a value is computed, without memory in between. Returns the first one that matches,
/// and the phis that were searched.
fn search<'c>(value: Value<'c>, matches: impl Fn(Value<'c>) -> bool) -> (Option<Value<'c>>, Vec<Value<'c>>) {
    let (mut seen, mut phis) = (vec![value], Vec::new());
    let mut next = 0;
    while let Some(&value) = seen.get(next) {
        next += 1;
        if !value.is_instruction() {
            continue;
        }
        if matches(value) {
            return (Some(value), phis);
        }
        let operands = match value.opcode() {
            Some(Opcode::LLVMLoad) => continue,
            Some(Opcode::LLVMCall) => value.arguments(),
            Some(Opcode::LLVMPHI) => {
                phis.push(value);
                value.incoming().into_iter().map(|(value, _)| value).collect()
            }
            _ => value.operands(),
        };
        let new: Vec<_> = operands.into_iter().filter(|operand| !seen.contains(operand)).collect();
        seen.extend(new);
        seen.truncate(MOST_VALUES);
    }
    (None, phis)
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
