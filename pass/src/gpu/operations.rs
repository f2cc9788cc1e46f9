//! Operations whose values the traced clone of a function sends.
//!
//! [`crate::device::number_operations`] has noted the numbers on the instructions. After each of them, a hook sends the
//! bits of the result and of the operands. Hooks split blocks, and LLVM fuses products only within a block, so the sums
//! that would be fused become explicit operations first.

mod assembly;
mod matrix;

use assembly::Plan;

use crate::contraction::fusion;
use crate::device::operations::{PARAMETER, is_matrix, numbered, numbered_statements, value_type};
use crate::ir::space::{GENERIC, SHARED};
use crate::llvm::metadata::{OPERATION, set_text, text};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Builder, Layout, ModuleItems, Value};
use inkwell::llvm_sys::LLVMFastMathAllowContract as CONTRACT;
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::access::MOST_ROWS;
use warpline_format::gpu::{AddressKind, OPERATION_WORDS, OperationShape};
use warpline_format::hooks::GpuHook;
use warpline_format::operation::{NOT_ON_GPU, ValueType, ValueTypes};
use warpline_format::site_table::SiteTable;

/// LLVM's address spaces of constant and local memory.
const CONSTANT: u32 = 4;
const LOCAL: u32 = 5;

/// The bit in the number of an operation that is set in lanes that do not execute it.
const SILENT: u64 = 1 << 31;

/// A value of one lane that is sent.
#[derive(Clone, Copy)]
struct Row<'c> {
    value: Value<'c>,
    ty: ValueType,
    kind: AddressKind,
}

/// One execution of an operation.
struct Execution<'c> {
    number: u32,
    /// The index of the result among those of the execution, and their number.
    part: (usize, usize),
    /// The result and the operands.
    rows: Vec<Row<'c>>,
    /// The condition under which a lane executes the operation.
    guard: Option<Value<'c>>,
}

/// Emits the hooks of one function.
struct Recorder<'r, 'c> {
    module: &'r Module<'c>,
    builder: Builder<'c>,
    /// The arguments of a hook with which the record's destination is passed.
    target: &'r [Value<'c>],
    /// The operands of explicitly fused operations, without signs.
    fused: HashMap<Value<'c>, Vec<Value<'c>>>,
}

/// Adds a hook after each numbered operation of a clone whose executions are recorded.
pub(super) fn record<'c>(module: &Module<'c>, clone: Value<'c>, target: &[Value<'c>]) {
    let instructions = || clone.blocks().into_iter().flat_map(|block| block.instructions());
    if !instructions().any(|instruction| text(instruction, OPERATION).is_some()) {
        return;
    }
    let builder = Builder::new(ModuleItems::types(module));
    let mut recorder = Recorder { module, builder, target, fused: HashMap::new() };
    recorder.fuse(clone);
    for instruction in instructions() {
        if is_assembly(instruction) {
            recorder.assembly(instruction);
        } else if let Some((number, true)) = numbered(instruction) {
            recorder.operation(instruction, number);
        }
    }
}

fn is_assembly(instruction: Value<'_>) -> bool {
    instruction.called_value().is_some_and(|callee| callee.is_inline_asm())
}

/// Marks the operations of a module whose executions the code for a GPU does not send, in the module's table.
pub fn mark_unrecorded(module: &Module<'_>, table: &mut SiteTable) {
    let mut mark = |(number, recorded): (u32, bool)| {
        if let Some(operation) = table.operations.get_mut(number as usize).filter(|_| recorded) {
            operation.name.push_str(NOT_ON_GPU);
        }
    };
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        for instruction in function.blocks().into_iter().flat_map(|block| block.instructions()) {
            if is_assembly(instruction) {
                let numbers = numbered_statements(instruction);
                let plan = if numbers.is_empty() { None } else { Plan::new(instruction) };
                let is_sent = |statement| plan.as_ref().is_some_and(|plan| plan.has(statement));
                numbers.into_iter().filter(|(statement, _)| !is_sent(*statement)).for_each(|(_, number)| mark(number));
            } else if is_matrix(instruction) && matrix::intrinsic(instruction).is_none() {
                numbered(instruction).into_iter().for_each(&mut mark);
            }
        }
    }
}

impl<'c> Recorder<'_, 'c> {
    /// Makes the sums explicit into which the code generator would fuse products.
    fn fuse(&mut self, clone: Value<'c>) {
        let all = clone.blocks().into_iter().flat_map(|block| block.instructions());
        // The decisions depend on the users of products, which change below.
        let sums: Vec<_> = all.filter_map(|sum| Some((sum, fusion(sum, sum.opcode()?)?))).collect();
        for (sum, how) in &sums {
            let product = how.product;
            let addend = if sum.operand(0) == product { sum.operand(1) } else { sum.operand(0) };
            let operands = [product.operand(0), product.operand(1), addend];
            self.builder.before(*sum);
            let sign = |negate: bool, operand| if negate { self.builder.fneg(operand) } else { operand };
            let (left, added) = (sign(how.negate_product, operands[0]), sign(how.negate_addend, operands[2]));
            let fma = self.module.intrinsic("llvm.fma", &[sum.ty()]);
            let made = self.builder.call(fma, &[left, operands[1], added]);
            made.set_fast_math(sum.fast_math() & !CONTRACT);
            if let Some(note) = text(*sum, OPERATION) {
                set_text(made, OPERATION, &note);
            }
            sum.replace_all_uses_with(made);
            // Operands that were recorded before may have been this sum.
            for known in self.fused.values_mut().flatten().filter(|known| **known == *sum) {
                *known = made;
            }
            self.fused.insert(made, operands.to_vec());
        }
        for (sum, _) in &sums {
            sum.erase();
        }
        let mut products: Vec<_> = sums.iter().map(|(_, how)| how.product).collect();
        products.sort_unstable_by_key(|product| product.raw());
        products.dedup();
        products.into_iter().filter(|product| !product.is_used()).for_each(Value::erase);
    }

    /// Sends the results of an instruction.
    fn operation(&self, instruction: Value<'c>, number: u32) {
        let Some(next) = instruction.next() else { return };
        self.builder.before(next);
        match instruction.opcode() {
            Some(Opcode::LLVMLoad) => self.moved(number, instruction, instruction.operand(0)),
            Some(Opcode::LLVMStore) => self.moved(number, instruction.operand(0), instruction.operand(1)),
            _ if is_matrix(instruction) => {
                if let Some(product) = matrix::intrinsic(instruction) {
                    self.product(instruction, number, &product);
                }
            }
            _ => self.computed(instruction, number),
        }
    }

    /// Sends the scalars of a value that is loaded or stored, with their addresses.
    fn moved(&self, number: u32, value: Value<'c>, pointer: Value<'c>) {
        if matches!(pointer.ty().kind(), Kind::Pointer(LOCAL | PARAMETER)) {
            return;
        }
        let Some(start) = self.address(pointer) else { return };
        let word = self.builder.types().int(64);
        let mut scalars = Vec::new();
        self.scalars(value, 0, &mut scalars);
        let parts = scalars.len();
        for (part, (scalar, offset)) in scalars.into_iter().enumerate() {
            let Some(result) = self.row(scalar) else { continue };
            let address = match offset {
                0 => start.value,
                _ => self.builder.add(start.value, Value::int(word, offset)),
            };
            let rows = vec![result, Row { value: address, ..start }];
            self.send(&Execution { number, part: (part, parts), rows, guard: None });
        }
    }

    /// Sends the scalars of a result, each with the corresponding scalars of the operands.
    fn computed(&self, instruction: Value<'c>, number: u32) {
        let operands = match self.fused.get(&instruction) {
            Some(operands) => operands.clone(),
            None if instruction.is_call() => instruction.arguments(),
            None => instruction.operands(),
        };
        let scalars_of = |value: Value<'c>| {
            let mut scalars = Vec::new();
            self.scalars(value, 0, &mut scalars);
            scalars.into_iter().map(|(scalar, _)| scalar).collect::<Vec<_>>()
        };
        let columns: Vec<_> = operands.into_iter().map(scalars_of).collect();
        let results = scalars_of(instruction);
        let parts = results.len();
        for (part, result) in results.into_iter().enumerate() {
            let Some(result) = self.row(result) else { continue };
            // The first operand whose type cannot be recorded ends the list.
            let scalar = |column: &Vec<Value<'c>>| column.get(part).or(column.first()).copied();
            let operands = columns.iter().map_while(|column| self.row(scalar(column)?));
            let rows = std::iter::once(result).chain(operands).take(MOST_ROWS).collect();
            self.send(&Execution { number, part: (part, parts), rows, guard: None });
        }
    }

    /// Appends the scalars of a value at the builder's position, each with its offset in memory.
    fn scalars(&self, value: Value<'c>, offset: u64, found: &mut Vec<(Value<'c>, u64)>) {
        let (ty, layout) = (value.ty(), Layout::from_module(self.module));
        match ty.kind() {
            Kind::Struct => {
                for field in 0..ty.fields().len() as u32 {
                    let element = self.builder.extract_value(value, field);
                    self.scalars(element, offset + layout.offset(ty, field), found);
                }
            }
            Kind::Array(count) => {
                for index in 0..count {
                    let element = self.builder.extract_value(value, index as u32);
                    self.scalars(element, offset + index * layout.size(ty.element()), found);
                }
            }
            Kind::Vector(count) => {
                for index in 0..u64::from(count) {
                    let number = Value::int(self.builder.types().int(32), index);
                    let element = self.builder.extract_element(value, number);
                    found.push((element, offset + index * layout.store_size(ty.element())));
                }
            }
            Kind::Void => {}
            _ => found.push((value, offset)),
        }
    }

    /// Returns a scalar as a row; `None` if its type cannot be recorded.
    fn row(&self, value: Value<'c>) -> Option<Row<'c>> {
        if matches!(value.ty().kind(), Kind::Pointer(_)) {
            return self.address(value);
        }
        let ty = value_type(value.ty())?;
        let value = match ty.float() {
            Some(format) => self.builder.bitcast(value, self.builder.types().int(format.bits())),
            None => value,
        };
        Some(Row { value, ty, kind: AddressKind::Value })
    }

    /// Returns a pointer as a row.
    fn address(&self, pointer: Value<'c>) -> Option<Row<'c>> {
        let types = self.builder.types();
        let Kind::Pointer(space) = pointer.ty().kind() else { return None };
        // The host identifies a constant variable by its generic address.
        let pointer = match space {
            CONSTANT => self.builder.cast(Opcode::LLVMAddrSpaceCast, pointer, types.pointer(GENERIC)),
            _ => pointer,
        };
        let kind = match space {
            SHARED => AddressKind::Shared,
            LOCAL | PARAMETER => AddressKind::Value,
            _ => AddressKind::Global,
        };
        Some(Row { value: self.builder.ptr_to_int(pointer, types.int(64)), ty: ValueType::Int64, kind })
    }

    /// Calls the hook for one execution.
    fn send(&self, execution: &Execution<'c>) {
        let Execution { number, part, rows, guard } = execution;
        let types = self.builder.types();
        let (word, long) = (types.int(32), types.int(64));
        let mut words = Vec::new();
        for row in rows {
            if row.ty.bits() > 32 {
                let high = self.builder.lshr(row.value, Value::int(long, 32));
                words.extend([row.value, high].map(|half| self.builder.trunc(half, word)));
            } else {
                words.push(self.builder.fit(row.value, word));
            }
        }
        let value_types = ValueTypes::new(&rows.iter().map(|row| row.ty).collect::<Vec<_>>());
        let kinds: Vec<_> = rows.iter().map(|row| row.kind).collect();
        let part = [part.0, part.1].map(|count| u16::try_from(count).unwrap_or(u16::MAX));
        let shape = OperationShape::new(value_types, (part[0], part[1]), &kinds);
        let mut arguments = self.target.to_vec();
        let number = Value::int(word, u64::from(*number));
        let sent = |guard| self.builder.select(guard, number, self.builder.or(number, Value::int(word, SILENT)));
        arguments.extend([guard.map_or(number, sent), Value::int(long, shape.0), Value::int(word, words.len() as u64)]);
        words.resize(OPERATION_WORDS, Value::int(word, 0));
        arguments.extend(words);
        let hook = self.module.function(&GpuHook::Operation.name()).expect("hooks.cu defines the hook");
        self.builder.call(hook, &arguments);
    }
}
