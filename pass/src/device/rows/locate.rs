//! Finds the source positions of instructions, including those whose location the optimiser removed.

use crate::llvm::debug::{Location, Scope};
use crate::llvm::metadata::{LOCATION, NEAR, location};
use crate::llvm::value::Opcode;
use crate::llvm::{Block, Value};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A location, and whether it is only approximate.
#[derive(Clone, Copy)]
pub(in crate::device) struct FoundLocation<'c> {
    pub(in crate::device) location: Location<'c>,
    pub(in crate::device) approximate: bool,
}

/// The locations of one function.
pub(in crate::device) struct Places<'c> {
    function: Option<Scope<'c>>,
    /// For each inlined function (by its subprogram), the positions at which it was inlined.
    inlined: HashMap<Scope<'c>, Vec<Location<'c>>>,
}

/// Returns the instruction's own location, if it has one.
pub(in crate::device) fn known<'c>(instruction: Value<'c>) -> Option<Location<'c>> {
    Location::from_instruction(instruction).filter(|location| location.line() != 0)
}

/// The maximum number of steps from a value to its uses, or to its operands.
const STEPS: u32 = 3;
/// The maximum number of values that are inspected for one position.
const MOST_PARTS: usize = 64;

/// Returns the position at which the value of a load is used first in the source. A load that was moved out of a loop,
/// or merged from several loads, has lost its own location, and the instructions around it belong to other code.
fn first_use(load: Value<'_>) -> Option<Location<'_>> {
    let mut users = load.users();
    for _ in 0..STEPS {
        let places = users.iter().filter_map(|&user| known(user));
        if let Some(first) = places.min_by_key(|place| (place.chain().len(), place.line(), place.column())) {
            return Some(first);
        }
        users = users.into_iter().flat_map(Value::users).collect();
    }
    None
}

/// Returns the values of which another value is one, or which it has as elements.
fn made_from(value: Value<'_>) -> Vec<Value<'_>> {
    match value.opcode() {
        Some(Opcode::LLVMPHI) => value.incoming().into_iter().map(|(from, _)| from).collect(),
        Some(Opcode::LLVMSelect) => value.operands()[1..].to_vec(),
        // Elements of a vector that is written by stores which were moved out of their loop together.
        Some(Opcode::LLVMInsertElement | Opcode::LLVMShuffleVector) => value.operands(),
        _ => Vec::new(),
    }
}

/// Returns the position at which the stored value of a store was computed. A store that several sides of a branch had
/// in common is after the branch, and a store that was moved out of its loop afterwards is among other code.
fn made_of(store: Value<'_>) -> Option<Location<'_>> {
    if store.opcode() != Some(Opcode::LLVMStore) {
        return None;
    }
    let mut parts = vec![store.operand(0)];
    for _ in 0..STEPS {
        parts.retain(|part| part.is_instruction());
        let places = parts.iter().filter_map(|&part| known(part));
        if let Some(last) = places.max_by_key(|place| (Reverse(place.chain().len()), place.line(), place.column())) {
            return Some(last);
        }
        parts = parts.into_iter().flat_map(made_from).take(MOST_PARTS).collect();
    }
    None
}

impl<'c> Places<'c> {
    pub(in crate::device) fn new(function: Value<'c>) -> Self {
        let mut inlined: HashMap<Scope<'c>, Vec<Location<'c>>> = HashMap::new();
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            for place in known(instruction).map(Location::chain).unwrap_or_default() {
                if let (Some(scope), Some(outer)) = (place.scope().and_then(Scope::subprogram), place.inlined_at()) {
                    let calls = inlined.entry(scope).or_default();
                    if !calls.contains(&outer) {
                        calls.push(outer);
                    }
                }
            }
        }
        Places { function: Scope::of_function(function).and_then(Scope::subprogram), inlined }
    }

    /// Returns the location of an access: its own location, that of its note, that of an access that was merged into
    /// it, the position where its value is first used or was last computed, or the nearest known location in its block.
    pub(in crate::device) fn access(&self, instruction: Value<'c>) -> Option<FoundLocation<'c>> {
        let near = location(instruction, NEAR);
        if let Some(location) = known(instruction) {
            // If accesses of one line were merged, the note contains the column of one of them.
            let with_column = near.filter(|near| location.column() == 0 && near.line() == location.line());
            return Some(match with_column {
                Some(near) => self.rooted(near, true),
                None => FoundLocation { location, approximate: false },
            });
        }
        if let Some(note) = location(instruction, LOCATION) {
            return Some(self.rooted(note, false));
        }
        if let Some(note) = near {
            return Some(self.rooted(note, true));
        }
        let location = first_use(instruction).or_else(|| made_of(instruction)).or_else(|| self.nearest(instruction))?;
        Some(FoundLocation { location, approximate: true })
    }

    /// Returns the location of a branch. It is that of the branch's condition if this is on the same line and belongs
    /// to this block, so that the two branches of `a && b` have different columns.
    pub(in crate::device) fn branch(&self, branch: Value<'c>, condition: Value<'c>) -> Option<Location<'c>> {
        let own = self.other(branch);
        let of_condition =
            known(condition).filter(|_| condition.is_instruction() && condition.block() == branch.block());
        match (own, of_condition) {
            (Some(own), Some(found)) if found.line() == own.line() && found.scope_is_in(own) => Some(found),
            (None, found) => found,
            (own, _) => own,
        }
    }

    /// Returns the location of a call or switch.
    pub(in crate::device) fn other(&self, instruction: Value<'c>) -> Option<Location<'c>> {
        known(instruction).or_else(|| self.nearest(instruction))
    }

    /// Returns the first known location of a block.
    pub(in crate::device) fn block(&self, block: Block<'c>) -> Option<Location<'c>> {
        block.instructions().into_iter().find_map(known)
    }

    /// Completes a note that was made before inlining, whose chain ends in its own function. The rest of the chain is
    /// that of another instruction of this function, which is correct if the function was inlined once.
    fn rooted(&self, note: Location<'c>, approximate: bool) -> FoundLocation<'c> {
        let chain = note.chain();
        let root = chain.last().and_then(|place| place.scope()).and_then(Scope::subprogram);
        let as_it_is = FoundLocation { location: note, approximate };
        let Some(root) = root else { return as_it_is };
        if self.function.is_none_or(|own| own == root) {
            return as_it_is;
        }
        let Some(calls) = self.inlined.get(&root) else { return FoundLocation { location: note, approximate: true } };
        let location = chain
            .into_iter()
            .rev()
            .fold(calls.first().copied(), |outer, place| Some(place.with_inlined_at(outer)))
            .unwrap_or(note);
        FoundLocation { location, approximate: approximate || calls.len() > 1 }
    }

    /// Returns the nearest known location in the block; at equal distance, the earlier one.
    fn nearest(&self, instruction: Value<'c>) -> Option<Location<'c>> {
        let (mut before, mut after) = (instruction.previous(), instruction.next());
        while before.is_some() || after.is_some() {
            if let Some(found) = before.and_then(known).or_else(|| after.and_then(known)) {
                return Some(found);
            }
            before = before.and_then(Value::previous);
            after = after.and_then(Value::next);
        }
        None
    }
}
