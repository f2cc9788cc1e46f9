//! Decides whether the threads of a warp can run one after the other, and whether that is faster.
//!
//! In a loop that lanes leave at different times, and that loads from arbitrary addresses, a warp function takes a
//! gather for each load, and most of its lanes are idle in the end. A scalar loop for each thread is then several times
//! faster. It gives the same results if no thread can read what another thread of the warp writes.

use super::analysis::{Analysis, Version};
use super::body::{Body, BodyLoop};
use super::shape::Shape;
use crate::cpu::target::unit::ParameterPlace;
use crate::ir::class::{Call, Register, classify};
use crate::ir::space;
use crate::ir::threads::{involves_other_blocks, is_thread_exit};
use crate::llvm::value::Opcode;
use crate::llvm::{Block, Layout, Value};
use std::collections::{BTreeMap, HashSet};
use warpline_format::abi::pointer_uses;

/// The pointers in the parameters of a kernel by their offset, each with its [`pointer_uses`].
pub type PointerUses = BTreeMap<u32, u32>;

/// Returns the pointers through which a kernel accesses memory, if its threads may run one after the other in launches
/// in which no pointer of a store refers to the same allocation as another pointer of a load, and if that is worthwhile.
/// `most` is the largest worthwhile number of other instructions per gather.
pub fn serial<'c>(body: &Body<'c>, places: &[ParameterPlace], layout: Layout<'_>, most: usize) -> Option<PointerUses> {
    let analysis = Analysis::new(body, Version::Linear, true, layout);
    let instructions = || body.blocks.iter().flat_map(|block| block.instructions.iter().copied());
    if !instructions().all(is_of_one_thread) || !is_worth_it(body, &analysis, most) {
        return None;
    }
    let mut found = Pointers { body, places, layout, accesses: BTreeMap::new() };
    for value in instructions() {
        match value.opcode() {
            Some(Opcode::LLVMLoad) => found.access(value.operand(0), pointer_uses::LOADED)?,
            Some(Opcode::LLVMStore) => found.access(value.operand(1), pointer_uses::STORED)?,
            _ => {}
        }
    }
    found.uses(&analysis, layout)
}

/// Returns whether an instruction depends only on its own thread, and on memory that others do not write.
fn is_of_one_thread(value: Value<'_>) -> bool {
    if involves_other_blocks(value) || is_thread_exit(value) {
        return false;
    }
    match value.opcode() {
        Some(Opcode::LLVMAlloca | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => false,
        Some(Opcode::LLVMCall) => {
            let Some(callee) = value.called_value().filter(|callee| callee.is_function()) else { return false };
            match classify(&callee.name()) {
                Call::Register(Register::LaneMask(_)) => false,
                Call::Hook(_) | Call::Register(_) | Call::Nothing | Call::PassThrough | Call::Pure => true,
                Call::WarpWide | Call::Other => false,
            }
        }
        _ => true,
    }
}

/// Returns whether the loops that lanes leave at different times spend most of their time in gathers.
///
/// If the addresses of an iteration depend on what the last one loaded, as in a binary search, the processor waits for
/// each load in turn. A warp function waits for the loads of 32 lanes at the same time, so it is faster there.
fn is_worth_it<'c>(body: &Body<'c>, analysis: &Analysis<'c>, most: usize) -> bool {
    if most == usize::MAX {
        return true;
    }
    let splits = |at: usize| {
        let end = body.blocks[at].terminator().condition();
        end.is_some_and(|condition| analysis.shape(condition) != Shape::Uniform)
    };
    let mut uneven = HashSet::new();
    for one in &body.loops {
        let leaves = |at: usize| body.blocks[at].successors.iter().any(|next| one.blocks.binary_search(next).is_err());
        if one.blocks.iter().any(|&at| leaves(at) && splits(at)) {
            if follows_loaded_addresses(body, one) {
                return false;
            }
            uneven.extend(one.blocks.iter().copied());
        }
    }
    let (mut gathers, mut others) = (0, 0);
    for value in uneven.iter().flat_map(|&at| body.blocks[at].instructions.iter().copied()) {
        match address(value).map(|pointer| analysis.shape(pointer)) {
            Some(Shape::Varying { probably_affine: false }) => gathers += 1,
            _ => others += weight(value),
        }
    }
    gathers * most > others
}

/// Returns how many instructions take as long as this one.
fn weight(value: Value<'_>) -> usize {
    if !value.is_call() {
        return usize::from(!value.is_phi());
    }
    match classify(&value.callee_name()) {
        // Functions such as logarithms take as long as several instructions.
        Call::Pure => 10,
        _ => 0,
    }
}

/// Returns whether an address in a loop depends on what an earlier iteration loaded.
fn follows_loaded_addresses<'c>(body: &Body<'c>, one: &BodyLoop) -> bool {
    let instructions = || one.blocks.iter().flat_map(|&at| body.blocks[at].instructions.iter().copied());
    let carried = body.blocks[one.header].phis().filter(|phi| {
        let from_inside =
            |block: &Block<'c>| body.positions.get(block).is_some_and(|at| one.blocks.binary_search(at).is_ok());
        let next = phi.incoming().into_iter().filter(|(_, block)| from_inside(block)).map(|(value, _)| value);
        depends(body, one, next.collect(), |value| value.opcode() == Some(Opcode::LLVMLoad))
    });
    let carried: HashSet<Value<'c>> = carried.collect();
    depends(body, one, instructions().filter_map(address).collect(), |value| carried.contains(&value))
}

/// Returns whether one of these values depends, within an iteration of a loop, on a value that `matches`. A phi after a
/// branch depends on the branches of the loop.
fn depends<'c>(body: &Body<'c>, one: &BodyLoop, mut work: Vec<Value<'c>>, matches: impl Fn(Value<'c>) -> bool) -> bool {
    let mut seen: HashSet<Value<'c>> = work.iter().copied().collect();
    while let Some(value) = work.pop() {
        let Some(&at) = value.block().and_then(|block| body.positions.get(&block)) else { continue };
        if one.blocks.binary_search(&at).is_err() {
            continue;
        }
        if matches(value) {
            return true;
        }
        let mut next = if value.is_phi() && at == one.header { Vec::new() } else { value.operands() };
        if value.is_phi() && at != one.header {
            let stays =
                |at: &&usize| body.blocks[**at].successors.iter().all(|to| one.blocks.binary_search(to).is_ok());
            next.extend(one.blocks.iter().filter(stays).filter_map(|&at| body.blocks[at].terminator().condition()));
        }
        work.extend(next.into_iter().filter(|operand| operand.is_instruction() && seen.insert(*operand)));
    }
    false
}

/// Returns the address that a load or store uses.
fn address(value: Value<'_>) -> Option<Value<'_>> {
    match value.opcode()? {
        Opcode::LLVMLoad => Some(value.operand(0)),
        Opcode::LLVMStore => Some(value.operand(1)),
        _ => None,
    }
}

/// The accesses of a kernel by the pointer in its parameters from which their addresses derive.
struct Pointers<'a, 'c> {
    body: &'a Body<'c>,
    places: &'a [ParameterPlace],
    layout: Layout<'a>,
    accesses: BTreeMap<u32, Vec<(u32, Value<'c>)>>,
}

impl<'c> Pointers<'_, 'c> {
    /// Adds an access. Returns `None` if its address may derive from another source than a parameter.
    fn access(&mut self, address: Value<'c>, uses: u32) -> Option<()> {
        let mut work = vec![address];
        let mut seen: HashSet<Value<'c>> = HashSet::new();
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if value.address_space() == space::PARAMETER || self.is_structure(value) {
                // Kernels do not write their parameters.
                (uses == pointer_uses::LOADED).then_some(())?;
                continue;
            }
            if let Some(index) = self.body.function.parameters().iter().position(|one| *one == value) {
                self.accesses.entry(self.places[index].offset).or_default().push((uses, address));
                continue;
            }
            match value.opcode().or_else(|| value.constant_opcode()) {
                Some(
                    Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast | Opcode::LLVMFreeze,
                ) => {
                    work.push(value.operand(0));
                }
                Some(Opcode::LLVMPHI) => work.extend(value.incoming().into_iter().map(|(from, _)| from)),
                Some(Opcode::LLVMSelect) => work.extend([value.operand(1), value.operand(2)]),
                Some(Opcode::LLVMCall) if classify(&value.callee_name()) == Call::PassThrough => {
                    work.push(*value.arguments().first()?);
                }
                Some(Opcode::LLVMLoad) => {
                    let offset = self.field(value.operand(0))?;
                    self.accesses.entry(offset).or_default().push((uses, address));
                }
                None if value.is_global_variable() && value.address_space() == space::CONSTANT => {
                    (uses == pointer_uses::LOADED).then_some(())?;
                }
                None if value.is_undef() => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Returns whether a value is the address of a structure that is passed by value.
    fn is_structure(&self, value: Value<'c>) -> bool {
        let index = self.body.function.parameters().iter().position(|one| *one == value);
        index.is_some_and(|index| self.body.function.type_attribute(index as u32 + 1, "byval").is_some())
    }

    /// Returns the offset in the parameters of a member of a structure that is passed by value, from its address.
    fn field(&self, mut address: Value<'c>) -> Option<u32> {
        let mut offset = 0i64;
        loop {
            if let Some(index) = self.body.function.parameters().iter().position(|one| *one == address) {
                self.is_structure(address).then_some(())?;
                return u32::try_from(i64::from(self.places[index].offset) + offset).ok();
            }
            match address.opcode()? {
                Opcode::LLVMGetElementPtr => {
                    let steps = crate::ir::address::steps(address, self.layout)?;
                    steps.variable.is_empty().then_some(())?;
                    offset += steps.constant;
                    address = address.operand(0);
                }
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => address = address.operand(0),
                Opcode::LLVMCall if classify(&address.callee_name()) == Call::PassThrough => {
                    address = *address.arguments().first()?;
                }
                _ => return None,
            }
        }
    }

    /// Returns the uses of each pointer. If a kernel loads and stores through one pointer, each thread has to have an
    /// element of its own.
    fn uses(&self, analysis: &Analysis<'c>, layout: Layout<'_>) -> Option<PointerUses> {
        let mut result = PointerUses::new();
        for (&offset, accesses) in &self.accesses {
            let uses = accesses.iter().fold(0, |all, (one, _)| all | one);
            let both = pointer_uses::LOADED | pointer_uses::STORED;
            if uses == both && !is_own_element(self.body, accesses, analysis, layout) {
                return None;
            }
            result.insert(offset, uses);
        }
        Some(result)
    }
}

/// Returns whether all accesses have one address, which differs between threads by at least the size of the element, and
/// does not change. In a loop, it could become that of another thread in an earlier iteration.
fn is_own_element<'c>(
    body: &Body<'c>,
    accesses: &[(u32, Value<'c>)],
    analysis: &Analysis<'c>,
    layout: Layout<'_>,
) -> bool {
    let Some(&(_, address)) = accesses.first() else { return false };
    let block = address.block().and_then(|block| body.positions.get(&block));
    if block.is_some_and(|at| body.loops.iter().any(|one| one.blocks.binary_search(at).is_ok())) {
        return false;
    }
    let Some(affine) = analysis.affine(address) else { return false };
    let sizes = address.users().into_iter().filter_map(|user| match user.opcode()? {
        Opcode::LLVMLoad => Some(layout.size(user.ty())),
        Opcode::LLVMStore if user.operand(1) == address => Some(layout.size(user.operand(0).ty())),
        _ => None,
    });
    let widest = sizes.max().unwrap_or(u64::MAX);
    affine.stride.unsigned_abs() >= widest && accesses.iter().all(|(_, one)| *one == address)
}
