//! The object that an access touches, as the source names it: the variable from which the address comes, the member of
//! its structure, and how the address changes from thread to thread.

use crate::device::accesses::access::Access;
use crate::device::note::noted_name;
use crate::ir::class::{Register, register};
use crate::ir::distance::Sum;
use crate::ir::thread_steps::{Form, Forms};
use crate::llvm::debug::{DebugType, Variable};
use crate::llvm::shim::demangle;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

const POINTER_BYTES: u64 = 8;
/// The maximum number of steps from an address to its variable.
const MOST_STEPS: usize = 64;
/// The maximum number of choices between two pointers for which both sides are analysed.
const MOST_CHOICES: u32 = 4;

/// The description of an operand, see the module documentation.
pub(in crate::device) struct Operand<'c> {
    /// The name of the variable.
    pub(in crate::device) variable: Option<String>,
    /// The path of the member.
    pub(in crate::device) member: Option<String>,
    /// The name and the size in bytes of the structure that contains the member, or that is accessed as a whole.
    pub(in crate::device) structure: Option<(String, u64)>,
    /// How the address changes with the thread.
    pub(in crate::device) form: Form<'c>,
}

/// The operands of the accesses of one function.
#[derive(Default)]
pub(in crate::device) struct Operands<'c> {
    forms: Forms<'c>,
}

impl<'c> Operands<'c> {
    /// Returns the forms of the function's values.
    pub(in crate::device) fn forms(&mut self) -> &mut Forms<'c> {
        &mut self.forms
    }

    /// Returns the operand of one access.
    pub(in crate::device) fn operand(&mut self, access: &Access<'c>, layout: Layout<'_>) -> Operand<'c> {
        let address = access.address.value;
        let form = self.forms.form(address, layout);
        let Some(root) = root(address) else { return Operand { variable: None, member: None, structure: None, form } };
        let (mut member, mut structure) = (None, None);
        if let Some(ty) = root.ty {
            let offset = Sum::from_pointer(address, layout).constant().wrapping_add(access.address.offset as i64);
            structure = ty.structure();
            let within = match &structure {
                Some((_, bytes)) => offset.rem_euclid(*bytes as i64),
                None => offset,
            };
            let whole = structure.as_ref().is_some_and(|(_, bytes)| *bytes <= u64::from(access.bytes));
            let path = u64::try_from(within).ok().filter(|_| !whole);
            let path = path.and_then(|within| ty.member(within, access.bytes.into(), structure.is_some()));
            member = path.map(|(path, _)| plain(&path)).filter(|path| path.contains('.'));
            // An access to a complete structure has its name; a structure of which no member is known has no name.
            if member.is_none() && !whole {
                structure = None;
            }
        }
        Operand { variable: Some(root.name), member, structure, form }
    }
}

/// Returns a path with `[]` for its subscripts, which are only known for the first element.
pub(super) fn plain(path: &str) -> String {
    let (mut result, mut depth) = (String::new(), 0);
    for character in path.chars() {
        match character {
            '[' => {
                if depth == 0 {
                    result.push_str("[]");
                }
                depth += 1;
            }
            ']' => depth -= 1,
            _ if depth == 0 => result.push(character),
            _ => {}
        }
    }
    result
}

/// A variable, and the type of the memory at its address.
pub(super) struct Root<'c> {
    pub(super) name: String,
    pub(super) ty: Option<DebugType<'c>>,
}

pub(super) fn of_pointer(variable: Variable<'_>) -> Option<Root<'_>> {
    let name = variable.name();
    let ty = variable.ty();
    let pointee = ty.and_then(DebugType::pointee);
    // For a structure passed by value, the address refers to the structure itself.
    (!name.is_empty()).then(|| Root { name, ty: pointee.or(ty) })
}

pub(super) fn of_object(variable: Variable<'_>) -> Option<Root<'_>> {
    let name = variable.name();
    (!name.is_empty()).then(|| Root { name, ty: variable.ty() })
}

/// Returns the variable from which an address comes; `None` if it may come from several variables.
fn root(value: Value<'_>) -> Option<Root<'_>> {
    root_by(value, MOST_CHOICES)
}

fn root_by(mut value: Value<'_>, mut choices: u32) -> Option<Root<'_>> {
    let mut seen: Vec<Value<'_>> = Vec::new();
    let mut nearest = None;
    for _ in 0..MOST_STEPS {
        if value.is_argument() {
            return Variable::of_value(value).and_then(of_pointer).or(nearest);
        }
        if value.is_global_variable() {
            let declared = Variable::of_global(value).and_then(of_object);
            return declared.or_else(|| {
                let whole = demangle(&value.name());
                let name = whole.rsplit("::").next().unwrap_or(&whole).to_owned();
                (!name.is_empty()).then_some(Root { name, ty: None })
            });
        }
        match value.constant_opcode().or_else(|| value.is_instruction().then(|| value.opcode()).flatten()) {
            Some(Opcode::LLVMAlloca) => {
                let declared = Variable::of_value(value).and_then(of_object).or(nearest);
                return declared.or_else(|| noted_name(&value.name()).map(|name| Root { name, ty: None }));
            }
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr) => {
                // Optimisation moves the debug information about an argument to its cast.
                nearest = nearest.or_else(|| Variable::of_value(value).and_then(of_pointer));
                value = value.operand(0);
            }
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMFreeze) => value = value.operand(0),
            Some(Opcode::LLVMSelect) => {
                choices = choices.checked_sub(1)?;
                let other = root_by(value.operand(2), choices);
                let own = root_by(value.operand(1), choices);
                return own.filter(|own| other.is_none_or(|other| other.name == own.name)).or(nearest);
            }
            Some(Opcode::LLVMPHI) => {
                seen.push(value);
                let next = value.incoming().into_iter().map(|(from, _)| from).find(|from| !seen.contains(from));
                match next {
                    Some(next) => value = next,
                    None => return nearest,
                }
            }
            Some(Opcode::LLVMLoad) => {
                let own = Variable::of_value(value).and_then(of_pointer).or_else(|| of_part(value));
                return nearest.or(own).or_else(|| through(value, POINTER_BYTES));
            }
            Some(Opcode::LLVMCall) if is_parameter(value) => value = value.operand(0),
            Some(Opcode::LLVMCall) => return nearest.or_else(|| Variable::of_value(value).and_then(of_pointer)),
            _ => return nearest,
        }
    }
    nearest
}

/// Returns whether a call marks a structure passed by value as one in parameter space; its result is the structure.
fn is_parameter(call: Value<'_>) -> bool {
    call.callee_name().starts_with("llvm.nvvm.internal.addrspace.wrap")
}

/// Returns a pointer that is a member of a variable.
fn of_part(value: Value<'_>) -> Option<Root<'_>> {
    let (variable, offset) = Variable::of_part(value)?;
    let name = variable.name();
    let (path, ty) = variable.ty()?.member(offset, 8, true)?;
    (!name.is_empty()).then(|| Root { name: format!("{name}{path}"), ty: ty.pointee() })
}

/// Triton's own object for all shared memory of a kernel. Values are stored in it to change their layout, so it is not
/// a useful name for the source of an address.
const TRITON_SHARED: &str = "global_smem";

/// Returns the variable or member that contains a loaded value of this number of bytes.
pub(super) fn through(load: Value<'_>, bytes: u64) -> Option<Root<'_>> {
    through_at(load, bytes, 0)
}

/// The variant of [`through`] for a value that begins this many bytes after the loaded address.
fn through_at(load: Value<'_>, bytes: u64, begin: i64) -> Option<Root<'_>> {
    let mut holder = load.operand(0);
    let mut offset = begin;
    for _ in 0..MOST_STEPS {
        match holder.constant_opcode().or_else(|| holder.is_instruction().then(|| holder.opcode()).flatten()) {
            Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => holder = holder.operand(0),
            Some(Opcode::LLVMCall) if is_parameter(holder) => holder = holder.operand(0),
            Some(Opcode::LLVMGetElementPtr) => {
                // Without the data layout, only byte steps can be interpreted; the optimiser generates these.
                let in_bytes = holder.gep_source_type().is_some_and(|ty| ty.int_bits() == Some(8));
                match holder.operands().get(1).and_then(|index| index.as_i64()) {
                    Some(step) if in_bytes && holder.operand_count() == 2 => offset = offset.wrapping_add(step),
                    Some(0) if holder.operand_count() == 2 => {}
                    _ => {
                        let found = root(holder).filter(|found| found.name != TRITON_SHARED)?;
                        return Some(Root { name: format!("{}[]", found.name), ty: None });
                    }
                }
                holder = holder.operand(0);
            }
            _ => break,
        }
    }
    let found = root(holder).filter(|found| found.name != TRITON_SHARED)?;
    let inner = found.ty.and_then(|ty| ty.member(u64::try_from(offset).ok()?, bytes, ty.structure().is_some()));
    match inner {
        Some((path, ty)) => Some(Root { name: format!("{}{path}", found.name), ty: ty.pointee() }),
        None => Some(Root { name: found.name, ty: None }),
    }
}

/// Returns the name of a product of values that are the same for all threads, or that of one factor if the other has no
/// name.
pub(in crate::device) fn product_name(one: Value<'_>, other: Option<Value<'_>>) -> Option<String> {
    let names: Vec<String> = [Some(one), other].into_iter().flatten().filter_map(value_name).collect();
    (!names.is_empty()).then(|| names.join(" * "))
}

/// Returns the source name of a value that is the same for all threads.
fn value_name(mut value: Value<'_>) -> Option<String> {
    for _ in 0..MOST_STEPS {
        if let Some(variable) = Variable::of_value(value) {
            return Some(variable.name());
        }
        if !value.is_instruction() {
            return None;
        }
        match value.opcode() {
            Some(Opcode::LLVMSExt | Opcode::LLVMZExt | Opcode::LLVMTrunc | Opcode::LLVMFreeze) => {
                value = value.operand(0);
            }
            Some(Opcode::LLVMLoad) => {
                let bytes = value.ty().int_bits().map_or(POINTER_BYTES, |bits| u64::from(bits) / 8);
                return through(value, bytes).or_else(|| root(value.operand(0))).map(|root| root.name);
            }
            // Adjacent members of a parameter are loaded at once.
            Some(Opcode::LLVMExtractElement) => {
                let (load, place) = (value.operand(0), value.operand(1).as_i64()?);
                let bytes = u64::from(value.ty().int_bits()?) / 8;
                let is_load = load.is_instruction() && load.opcode() == Some(Opcode::LLVMLoad);
                let begin = i64::try_from(bytes).ok()?.checked_mul(place)?;
                return if is_load { through_at(load, bytes, begin).map(|root| root.name) } else { None };
            }
            Some(Opcode::LLVMCall) => {
                let axis = |axis: usize| ["x", "y", "z"].get(axis).copied().unwrap_or("x");
                return match register(&value.callee_name())? {
                    Register::BlockSize(dimension) => Some(format!("blockDim.{}", axis(dimension))),
                    Register::GridSize(dimension) => Some(format!("gridDim.{}", axis(dimension))),
                    Register::Block(dimension) => Some(format!("blockIdx.{}", axis(dimension))),
                    _ => None,
                };
            }
            _ => return None,
        }
    }
    None
}
