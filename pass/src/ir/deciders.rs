//! Determines why conditions differ between lanes: the thread's number, data that lanes load, or data that they
//! exchange.
//!
//! Each value has a set of causes. The analysis visits the function until no set grows. Sets only grow, so the analysis
//! ends, and loops need no special case. [`Decider`] describes how the causes are used.

use super::class::{Call, Register, classify};
use super::graph::Graph;
use super::kernel::is_kernel;
use super::linear::Linear;
use crate::llvm::value::Opcode;
use crate::llvm::{Block, Value};
use std::collections::HashMap;
use warpline_format::condition::{Condition, Decider};

/// The maximum number of passes over a function. In one pass, each cause propagates as far as the order of the blocks
/// allows.
const MOST_ROUNDS: usize = 16;
/// The bits of a lane number.
const LANE_BITS: u64 = 31;

/// A set of causes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Causes(u8);

impl Causes {
    fn from_decider(decider: Decider) -> Causes {
        Causes(1 << decider as u8)
    }

    fn has(self, decider: Decider) -> bool {
        self.0 & Causes::from_decider(decider).0 != 0
    }

    fn and(self, other: Causes) -> Causes {
        Causes(self.0 | other.0)
    }

    fn with(self, decider: Decider) -> Causes {
        self.and(Causes::from_decider(decider))
    }

    fn is_empty(self) -> bool {
        self == Causes::default()
    }

    /// Adds another cause, if the set is not empty.
    fn if_any(self, decider: Decider) -> Causes {
        if self.is_empty() { self } else { self.with(decider) }
    }
}

/// Returns the causes that decide the branch at the end of each block; `None` for blocks without a branch.
pub(crate) fn conditions(function: Value<'_>, blocks: &[Block<'_>]) -> Vec<Option<Condition>> {
    let decided: Vec<Option<Value<'_>>> = blocks.iter().map(|block| block.terminator().and_then(decided_by)).collect();
    if decided.iter().all(Option::is_none) {
        return vec![None; blocks.len()];
    }
    let causes = Function::new(function, blocks).solved();
    let ends_loop = loop_ends(blocks);
    let each = decided.into_iter().zip(ends_loop);
    let condition = |(value, ends_loop): (Option<Value<'_>>, bool)| {
        let found = causes.causes(value?);
        let deciders = Decider::ALL.into_iter().filter(|&decider| found.has(decider)).collect();
        Some(Condition { deciders, ends_loop })
    };
    each.map(condition).collect()
}

/// Returns the value on which the end of a block depends.
fn decided_by(end: Value<'_>) -> Option<Value<'_>> {
    match end.opcode()? {
        Opcode::LLVMBr => end.condition(),
        Opcode::LLVMSwitch => Some(end.operand(0)),
        _ => None,
    }
}

/// Returns whether each block is in a loop that one of the block's edges leaves.
fn loop_ends(blocks: &[Block<'_>]) -> Vec<bool> {
    let numbers: HashMap<_, _> = blocks.iter().enumerate().map(|(index, &block)| (block, index)).collect();
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| block.successors().iter().filter_map(|next| numbers.get(next).copied()).collect())
        .collect();
    let graph = Graph { successors };
    let mut ends = vec![false; blocks.len()];
    // A cycle with two entries is not a natural loop, so it has no name.
    for natural in graph.loops().unwrap_or_default() {
        for &block in &natural.blocks {
            ends[block] |= graph.successors[block].iter().any(|next| natural.blocks.binary_search(next).is_err());
        }
    }
    ends
}

/// The causes of the values of one function.
struct Function<'f, 'c> {
    blocks: &'f [Block<'c>],
    /// The position of each block in the order.
    numbers: HashMap<Block<'c>, usize>,
    /// The causes of the arguments; in a kernel, all threads have the same arguments.
    of_arguments: Causes,
    known: HashMap<Value<'c>, Causes>,
}

impl<'f, 'c> Function<'f, 'c> {
    fn new(function: Value<'c>, blocks: &'f [Block<'c>]) -> Self {
        let numbers = blocks.iter().enumerate().map(|(index, &block)| (block, index)).collect();
        let of_arguments = if is_kernel(function) { Causes::default() } else { Causes::from_decider(Decider::Call) };
        Function { blocks, numbers, of_arguments, known: HashMap::new() }
    }

    /// Computes the causes of all values: repeats the analysis until no set grows.
    fn solved(mut self) -> Self {
        let instructions: Vec<_> = self.blocks.iter().map(|block| block.instructions()).collect();
        for _ in 0..MOST_ROUNDS {
            let mut grown = false;
            for &value in instructions.iter().flatten() {
                let before = self.causes(value);
                let now = before.and(self.instruction(value));
                if now != before {
                    self.known.insert(value, now);
                    grown = true;
                }
            }
            if !grown {
                break;
            }
        }
        self
    }

    fn causes(&self, value: Value<'c>) -> Causes {
        if value.is_argument() {
            return self.of_arguments;
        }
        self.known.get(&value).copied().unwrap_or_default()
    }

    fn of_all(&self, values: &[Value<'c>]) -> Causes {
        values.iter().fold(Causes::default(), |sum, &value| sum.and(self.causes(value)))
    }

    fn instruction(&self, value: Value<'c>) -> Causes {
        let Some(opcode) = value.opcode() else { return Causes::default() };
        let operand = |index: u32| self.causes(value.operand(index));
        match opcode {
            Opcode::LLVMPHI => self.phi(value),
            // If all lanes load from the same address, they load the same value.
            Opcode::LLVMLoad if operand(0).is_empty() => Causes::default(),
            Opcode::LLVMLoad | Opcode::LLVMAtomicRMW => Causes::from_decider(Decider::Data),
            Opcode::LLVMAtomicCmpXchg => Causes::from_decider(Decider::Attempt),
            // This is the thread's own memory.
            Opcode::LLVMAlloca => Causes::from_decider(Decider::Computed),
            Opcode::LLVMCall => self.call(value),
            Opcode::LLVMURem | Opcode::LLVMSRem => {
                let of_thread = operand(0).has(Decider::Thread);
                let whole_warps = value.operand(1).as_u64().is_some_and(|by| by & LANE_BITS == 0);
                let causes = operand(0).and(operand(1));
                if of_thread && !whole_warps { causes.with(Decider::Alternation) } else { causes }
            }
            Opcode::LLVMAnd | Opcode::LLVMXor | Opcode::LLVMOr if value.ty().int_bits() != Some(1) => self.bits(value),
            Opcode::LLVMTrunc if value.ty().int_bits() == Some(1) => {
                let causes = operand(0);
                if causes.has(Decider::Thread) { causes.with(Decider::Alternation) } else { causes }
            }
            Opcode::LLVMMul => {
                let (one, other) = (operand(0), operand(1));
                let both = !one.is_empty() && !other.is_empty();
                if both { one.and(other).with(Decider::Computed) } else { one.and(other) }
            }
            Opcode::LLVMFAdd
            | Opcode::LLVMFSub
            | Opcode::LLVMFMul
            | Opcode::LLVMFDiv
            | Opcode::LLVMFRem
            | Opcode::LLVMFNeg
            | Opcode::LLVMSIToFP
            | Opcode::LLVMUIToFP => self.of_all(&value.operands()).if_any(Decider::Computed),
            Opcode::LLVMBr | Opcode::LLVMSwitch | Opcode::LLVMStore | Opcode::LLVMRet => Causes::default(),
            _ => self.of_all(&value.operands()),
        }
    }

    /// Returns the causes of an operation on some bits of a number.
    fn bits(&self, value: Value<'c>) -> Causes {
        let causes = self.of_all(&value.operands());
        if !causes.has(Decider::Thread) || Linear::recognise(value).is_some() {
            return causes;
        }
        let constant = [0, 1].into_iter().find_map(|index| value.operand(index).as_u64());
        // The operation uses all bits of the lane number, or none.
        let lane = constant.map(|bits| bits & LANE_BITS);
        let keeps = match value.opcode() {
            Some(Opcode::LLVMAnd) => matches!(lane, Some(0 | LANE_BITS)),
            // Two conditions are combined in one: `a == 0 && b == 0` tests whether any bit of either value is set.
            Some(Opcode::LLVMOr) => lane.is_none_or(|bits| bits == 0),
            _ => lane == Some(0),
        };
        if keeps { causes } else { causes.with(Decider::Alternation) }
    }

    /// Returns the causes of a value that depends on the path to this block; the causes of the branch also count.
    fn phi(&self, phi: Value<'c>) -> Causes {
        let here = phi.block().and_then(|block| self.numbers.get(&block).copied()).unwrap_or(0);
        let mut causes = Causes::default();
        let mut recurs = false;
        for (from, block) in phi.incoming() {
            causes = causes.and(self.causes(from));
            let back = self.numbers.get(&block).is_some_and(|&number| number >= here);
            if back {
                recurs |= !self.is_counted(from, phi);
            } else if let Some(condition) = block.terminator().and_then(decided_by) {
                causes = causes.and(self.causes(condition));
            }
        }
        // A loop variable that increases by the same amount in each iteration differs between lanes only if its start
        // value does.
        if recurs { causes.if_any(Decider::Computed) } else { causes }
    }

    /// Returns whether the next value of a loop variable is its old value, or its old value plus a step that is the
    /// same for all lanes.
    fn is_counted(&self, next: Value<'c>, phi: Value<'c>) -> bool {
        if next == phi || !next.is_instruction() || self.causes(next).is_empty() {
            return true;
        }
        match next.opcode() {
            Some(Opcode::LLVMGetElementPtr) => {
                next.operand(0) == phi && next.operands()[1..].iter().all(|&index| self.causes(index).is_empty())
            }
            _ => match Linear::recognise(next) {
                Some(Linear::Sum(one, other, _)) => {
                    one == phi && self.causes(other).is_empty() || other == phi && self.causes(one).is_empty()
                }
                _ => false,
            },
        }
    }

    fn call(&self, call: Value<'c>) -> Causes {
        let name = call.callee_name();
        let arguments = self.of_all(&call.arguments());
        match classify(&name) {
            Call::Register(Register::Thread(_) | Register::Lane | Register::LaneMask(_)) => {
                Causes::from_decider(Decider::Thread)
            }
            Call::Register(_) | Call::Nothing | Call::Hook(_) => Causes::default(),
            Call::PassThrough => arguments,
            // For votes and similar calls, all lanes have the same result, and each tests its own bit.
            Call::WarpWide => Causes::from_decider(Decider::Exchange),
            Call::Pure if call.ty().is_float() => arguments.if_any(Decider::Computed),
            Call::Pure => arguments,
            Call::Other if name.starts_with("llvm.nvvm.shfl") => arguments.with(Decider::Exchange),
            Call::Other if EXCHANGES.iter().any(|prefix| name.starts_with(prefix)) => {
                Causes::from_decider(Decider::Exchange)
            }
            Call::Other if name.starts_with("llvm.nvvm.atomic.cas") => Causes::from_decider(Decider::Attempt),
            Call::Other if name.starts_with("llvm.nvvm.") => arguments.with(Decider::Data),
            Call::Other => arguments.with(Decider::Call),
        }
    }
}

/// Intrinsics by which lanes of a warp exchange data.
const EXCHANGES: [&str; 4] = ["llvm.nvvm.match.", "llvm.nvvm.redux.", "llvm.nvvm.elect.", "llvm.nvvm.fns"];
