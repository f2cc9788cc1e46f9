//! Determines how a value changes from one thread of a block to the next, as a multiple of `threadIdx.x`, `.y` and
//! `.z`.

use super::address::steps;
use super::class::{Register, register};
use super::linear::Linear;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};
use std::collections::HashMap;

/// The maximum number of values that are analysed for one address, because nested loops are analysed again for each
/// address.
const BUDGET: u32 = 2000;
/// The maximum depth of values that depend on each other.
const DEEPEST: u32 = 64;

/// How a value changes when one thread index increases by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Step<'c> {
    /// The value does not change.
    #[default]
    None,
    /// The value changes by this number; for addresses, in bytes.
    Bytes(i64),
    /// The value changes by a value that is the same for all threads, or by the product of two such values.
    Times(Value<'c>, Option<Value<'c>>),
    /// The value changes in another way.
    Other,
}

impl<'c> Step<'c> {
    fn plus(self, other: Step<'c>) -> Step<'c> {
        match (self, other) {
            (Step::None, step) | (step, Step::None) => step,
            (Step::Bytes(one), Step::Bytes(two)) => Step::constant(one.wrapping_add(two)),
            (times @ Step::Times(..), Step::Bytes(_)) | (Step::Bytes(_), times @ Step::Times(..)) => times,
            _ => Step::Other,
        }
    }

    fn constant(bytes: i64) -> Step<'c> {
        if bytes == 0 { Step::None } else { Step::Bytes(bytes) }
    }

    fn times(self, factor: i64) -> Step<'c> {
        match self {
            Step::Bytes(bytes) => Step::constant(bytes.wrapping_mul(factor)),
            step => step,
        }
    }

    fn by(self, factor: Value<'c>) -> Step<'c> {
        match self {
            Step::Bytes(_) => Step::Times(factor, None),
            Step::Times(first, None) => Step::Times(first, Some(factor)),
            step => step,
        }
    }

    /// Returns the step of a value that is one of two values.
    fn or(self, other: Step<'c>) -> Step<'c> {
        match (self, other) {
            (one, two) if one == two => one,
            (Step::None, step) | (step, Step::None) => step,
            _ => Step::Other,
        }
    }

    fn opaque(self) -> Step<'c> {
        if self == Step::None { Step::None } else { Step::Other }
    }
}

/// How a value changes with the thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form<'c> {
    /// The steps for `threadIdx.x`, `.y`, `.z`.
    pub steps: [Step<'c>; 3],
    /// Whether the value depends on something that was loaded from memory.
    pub loaded: bool,
}

impl<'c> Form<'c> {
    fn join(self, other: Form<'c>, step: impl Fn(Step<'c>, Step<'c>) -> Step<'c>) -> Form<'c> {
        let steps = std::array::from_fn(|axis| step(self.steps[axis], other.steps[axis]));
        Form { steps, loaded: self.loaded || other.loaded }
    }

    fn each(self, step: impl Fn(Step<'c>) -> Step<'c>) -> Form<'c> {
        Form { steps: self.steps.map(step), ..self }
    }

    /// Returns whether the value is the same in all threads of a block.
    fn is_uniform(&self) -> bool {
        self.steps == [Step::None; 3]
    }

    fn unknown() -> Form<'c> {
        Form { steps: [Step::Other; 3], loaded: false }
    }
}

/// The forms of the values of one function.
#[derive(Default)]
pub struct Forms<'c> {
    known: HashMap<Value<'c>, Form<'c>>,
    /// The loop variables under analysis, which are assumed not to change.
    assumed: HashMap<Value<'c>, Form<'c>>,
    budget: u32,
}

impl<'c> Forms<'c> {
    /// Returns the form of an address.
    pub fn form(&mut self, address: Value<'c>, layout: Layout<'_>) -> Form<'c> {
        self.budget = BUDGET;
        self.assumed.clear();
        self.value(address, layout, DEEPEST)
    }

    fn value(&mut self, value: Value<'c>, layout: Layout<'_>, depth: u32) -> Form<'c> {
        if !value.is_instruction() {
            if value.is_constant_expression() && value.operand_count() > 0 {
                return self.value(value.operand(0), layout, depth.saturating_sub(1));
            }
            return Form::default();
        }
        if let Some(form) = self.assumed.get(&value).or_else(|| self.known.get(&value)) {
            return *form;
        }
        if depth == 0 || self.budget == 0 {
            return Form::unknown();
        }
        self.budget -= 1;
        let form = self.instruction(value, layout, depth - 1);
        // A result that depends on an assumption is not stored.
        if self.assumed.is_empty() {
            self.known.insert(value, form);
        }
        form
    }

    fn instruction(&mut self, value: Value<'c>, layout: Layout<'_>, depth: u32) -> Form<'c> {
        let mut operand = |index: u32| self.value(value.operand(index), layout, depth);
        match Linear::recognise(value) {
            Some(Linear::Sum(_, _, sign)) => {
                return operand(0).join(operand(1).each(|step| step.times(sign)), Step::plus);
            }
            Some(Linear::Shifted(_, by)) => return operand(0).each(|step| step.times(by)),
            Some(Linear::Product(left, right)) => return product((operand(0), left), (operand(1), right)),
            None => {}
        }
        match value.opcode() {
            Some(
                Opcode::LLVMSExt
                | Opcode::LLVMZExt
                | Opcode::LLVMTrunc
                | Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMBitCast
                | Opcode::LLVMPtrToInt
                | Opcode::LLVMIntToPtr
                | Opcode::LLVMFreeze,
            ) => operand(0),
            Some(Opcode::LLVMGetElementPtr) => {
                let base = operand(0);
                let Some(found) = steps(value, layout) else { return Form::unknown() };
                found.variable.into_iter().fold(base, |sum, step| {
                    let index = self.value(step.index, layout, depth);
                    sum.join(index.each(|one| one.times(step.scale as i64)), Step::plus)
                })
            }
            Some(Opcode::LLVMSelect) => {
                let condition = operand(0);
                let chosen = operand(1).join(operand(2), Step::or);
                Form { loaded: chosen.loaded || condition.loaded, ..chosen }
            }
            Some(Opcode::LLVMPHI) => {
                self.assumed.insert(value, Form::default());
                let incoming = value.incoming();
                let forms: Vec<_> = incoming.into_iter().map(|(from, _)| self.value(from, layout, depth)).collect();
                self.assumed.remove(&value);
                forms.into_iter().reduce(|one, two| one.join(two, Step::or)).unwrap_or_default()
            }
            Some(Opcode::LLVMCall) => self.call(value, layout, depth),
            Some(Opcode::LLVMLoad) => {
                let address = operand(0).each(Step::opaque);
                // Arguments of kernels are also in memory, but they are the same for all threads.
                Form { loaded: address.loaded || !address.is_uniform(), ..address }
            }
            _ => {
                let operands = value.operands();
                let forms = operands.into_iter().map(|operand| self.value(operand, layout, depth));
                forms.fold(Form::default(), |sum, form| sum.join(form, Step::or)).each(Step::opaque)
            }
        }
    }

    fn call(&mut self, call: Value<'c>, layout: Layout<'_>, depth: u32) -> Form<'c> {
        match register(&call.callee_name()) {
            Some(Register::Thread(axis)) => {
                let mut form = Form::default();
                form.steps[axis.min(2)] = Step::Bytes(1);
                form
            }
            Some(Register::Lane | Register::WarpSlot | Register::LaneMask(_)) => {
                Form { steps: [Step::Other, Step::None, Step::None], loaded: false }
            }
            Some(_) => Form::default(),
            None => {
                let arguments = call.arguments();
                let forms = arguments.into_iter().map(|argument| self.value(argument, layout, depth));
                forms.fold(Form::default(), |sum, form| sum.join(form, Step::or)).each(Step::opaque)
            }
        }
    }
}

fn product<'c>((one, left): (Form<'c>, Value<'c>), (two, right): (Form<'c>, Value<'c>)) -> Form<'c> {
    let scaled = |form: Form<'c>, factor: Value<'c>| match factor.as_i64() {
        Some(constant) => form.each(|step| step.times(constant)),
        None => form.each(|step| step.by(factor)),
    };
    if two.is_uniform() {
        Form { loaded: one.loaded || two.loaded, ..scaled(one, right) }
    } else if one.is_uniform() {
        Form { loaded: one.loaded || two.loaded, ..scaled(two, left) }
    } else {
        one.join(two, Step::or).each(Step::opaque)
    }
}
