//! Converts inline assembly with labels and branches to blocks of the function, each with plain assembly. All later
//! stages, from the analysis of waiting loops to the counts of branches, then need not handle PTX's control flow.

use super::flow::{self, Declared, End, Flow, Stretch};
use super::parse::{self, Operand, Statement};
use crate::llvm::value::volatile_asm;
use crate::llvm::{Block, Builder, ModuleItems, Type, Types, Value};
use inkwell::module::Module;
use std::collections::BTreeMap;

/// Splits all assembly of a module that has control flow. Assembly that cannot be read is not changed, and the lowering
/// refuses it.
pub fn expand_control_flow(module: &Module<'_>) {
    for function in module.functions() {
        let calls = function.blocks().into_iter().flat_map(|block| block.instructions());
        let calls = calls.filter(|value| value.called_value().is_some_and(|callee| callee.is_inline_asm()));
        for call in calls.collect::<Vec<_>>() {
            let Some(callee) = call.called_value() else { continue };
            if let (Some(flow), Some(operands)) = (flow::read(&callee.asm_text()), Operands::parse(call, callee)) {
                Expansion::new(call, operands, &flow).and_then(|mut expansion| expansion.run(&flow));
            }
        }
    }
}

/// A register that keeps its value from block to block: a register that the text declares, or an output.
#[derive(Clone)]
struct Variable<'c> {
    ty: Type<'c>,
    constraint: String,
    initial: Value<'c>,
}

/// The operands of an assembly call.
struct Operands<'c> {
    /// The constraint and type of each output.
    outputs: Vec<(String, Type<'c>)>,
    /// The constraint and value of each input.
    inputs: Vec<(String, Value<'c>)>,
}

impl<'c> Operands<'c> {
    fn parse(call: Value<'c>, callee: Value<'c>) -> Option<Operands<'c>> {
        let text = callee.asm_constraints();
        let layout = parse::constraints(&text)?;
        let parts: Vec<&str> = text.split(',').filter(|part| !part.is_empty() && !part.starts_with("~{")).collect();
        let types = match call.ty() {
            ty if ty.is_void() => Vec::new(),
            ty if ty.is_aggregate() => ty.fields(),
            ty => vec![ty],
        };
        let arguments = call.arguments();
        if types.len() != layout.outputs || arguments.len() != layout.inputs.len() || parts.len() < layout.outputs {
            return None;
        }
        let letter = |part: &str| part.trim_start_matches(['=', '&']).to_owned();
        let outputs = parts.iter().map(|part| letter(part)).zip(types).collect();
        let inputs = parts[layout.outputs..].iter().map(|part| letter(part)).zip(arguments).collect();
        Some(Operands { outputs, inputs })
    }

    /// Returns the output to which an input is tied.
    fn tied(&self, input: usize) -> Option<usize> {
        self.inputs.get(input)?.0.parse().ok()
    }
}

/// The meaning of an operand in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// A variable.
    Variable(usize),
    /// An input.
    Input(usize),
}

struct Expansion<'c> {
    call: Value<'c>,
    b: Builder<'c>,
    operands: Operands<'c>,
    variables: Vec<Variable<'c>>,
    /// The variables by name.
    names: BTreeMap<String, usize>,
    clobbers: String,
}

impl<'c> Expansion<'c> {
    fn new(call: Value<'c>, operands: Operands<'c>, flow: &Flow) -> Option<Expansion<'c>> {
        let b = Builder::new(call.types());
        let mut variables = Vec::new();
        for (index, (constraint, ty)) in operands.outputs.iter().enumerate() {
            let tied = (0..operands.inputs.len()).find(|&input| operands.tied(input) == Some(index));
            let initial = tied.map_or(Value::zero(*ty), |input| operands.inputs[input].1);
            variables.push(Variable { ty: *ty, constraint: constraint.clone(), initial });
        }
        let mut names = BTreeMap::new();
        for Declared { name, ty } in &flow.registers {
            let (constraint, ty) = register_type(call.types(), ty)?;
            if names.insert(name.clone(), variables.len()).is_none() {
                variables.push(Variable { ty, constraint: constraint.to_owned(), initial: Value::zero(ty) });
            }
        }
        let text = call.called_value()?.asm_constraints();
        let clobbers: Vec<&str> = text.split(',').filter(|part| part.starts_with("~{")).collect();
        let clobbers = clobbers.join(",");
        let expansion = Expansion { call, b, operands, variables, names, clobbers };
        flow.stretches.iter().all(|stretch| expansion.is_known(stretch)).then_some(expansion)
    }

    /// Returns whether all guards of a stretch are known registers.
    fn is_known(&self, stretch: &Stretch) -> bool {
        match &stretch.end {
            End::Goto(_) => true,
            End::Branch { guard, .. } => self.meaning(&guard.0).is_some(),
        }
    }

    fn meaning(&self, operand: &Operand) -> Option<Meaning> {
        match operand {
            Operand::Register(name) => self.names.get(name).copied().map(Meaning::Variable),
            Operand::Argument(number) => match number.checked_sub(self.operands.outputs.len()) {
                None => Some(Meaning::Variable(*number)),
                Some(input) if input >= self.operands.inputs.len() => None,
                Some(input) => Some(self.operands.tied(input).map_or(Meaning::Input(input), Meaning::Variable)),
            },
            _ => None,
        }
    }

    fn run(&mut self, flow: &Flow) -> Option<()> {
        let before = self.call.block()?;
        let function = before.function();
        // Only the end of the new block is needed: all paths through the assembly lead there.
        let meets = self.call.split_if(Value::int(self.call.types().int(1), 1));
        let join = meets.block()?;
        let mut blocks: Vec<Block<'c>> =
            flow.stretches.iter().map(|_| function.insert_block_before(join, "assembly")).collect();
        self.b.locate_like(Some(self.call));
        before.terminator()?.erase();
        self.b.at_end(before);
        self.b.branch(*blocks.first()?);
        let mut values: Vec<Vec<Value<'c>>> = Vec::new();
        for &block in &blocks {
            self.b.at_end(block);
            values.push(self.variables.iter().map(|variable| self.b.phi(variable.ty)).collect());
        }
        self.b.before(meets);
        values.push(self.variables.iter().map(|variable| self.b.phi(variable.ty)).collect());
        blocks.push(join);
        let initial: Vec<_> = self.variables.iter().map(|variable| variable.initial).collect();
        connect(&values[0], &initial, before);
        for (number, stretch) in flow.stretches.iter().enumerate() {
            self.b.at_end(blocks[number]);
            let mut now = values[number].clone();
            self.plain(&stretch.statements, &mut now);
            let ways = match &stretch.end {
                End::Goto(to) => {
                    self.b.branch(blocks[*to]);
                    vec![*to]
                }
                End::Branch { guard: (operand, negated), taken, next } => {
                    let condition = self.condition(operand, &now)?;
                    let (yes, no) = if *negated { (*next, *taken) } else { (*taken, *next) };
                    self.b.branch_if(condition, blocks[yes], blocks[no]);
                    if yes == no { vec![yes, no] } else { vec![*taken, *next] }
                }
            };
            for to in ways {
                connect(&values[to], &now, blocks[number]);
            }
        }
        self.b.before(self.call);
        let results = values.pop()?;
        self.replace(&results[..self.operands.outputs.len()]);
        Some(())
    }

    /// Returns the value of a guard as one bit.
    fn condition(&self, operand: &Operand, now: &[Value<'c>]) -> Option<Value<'c>> {
        let value = match self.meaning(operand)? {
            Meaning::Variable(index) => now[index],
            Meaning::Input(index) => self.operands.inputs[index].1,
        };
        Some(if value.ty().int_bits() == Some(1) { value } else { self.b.ne(value, Value::zero(value.ty())) })
    }

    /// Emits plain instructions, and stores the values that they write.
    fn plain(&self, statements: &[Statement], now: &mut [Value<'c>]) {
        if statements.is_empty() {
            return;
        }
        let mut written: Vec<usize> = Vec::new();
        for operand in statements.iter().flat_map(flow::written) {
            if let Some(Meaning::Variable(index)) = self.meaning(&operand)
                && !written.contains(&index)
            {
                written.push(index);
            }
        }
        let mut inputs: Vec<Meaning> = written.iter().map(|&index| Meaning::Variable(index)).collect();
        let mut text = String::new();
        for statement in statements {
            let statement = self.renamed(&statement.text, written.len(), &mut inputs);
            text.push_str(&statement);
            text.push_str(";\n");
        }
        let mut constraints: Vec<String> =
            written.iter().map(|&index| format!("={}", self.variables[index].constraint)).collect();
        let mut arguments = Vec::new();
        for (position, meaning) in inputs.iter().enumerate() {
            let (constraint, value) = match *meaning {
                Meaning::Variable(index) => (self.variables[index].constraint.clone(), now[index]),
                Meaning::Input(index) => self.operands.inputs[index].clone(),
            };
            constraints.push(if position < written.len() { position.to_string() } else { constraint });
            arguments.push(value);
        }
        if !self.clobbers.is_empty() {
            constraints.push(self.clobbers.clone());
        }
        let t = self.call.types();
        let results: Vec<_> = written.iter().map(|&index| self.variables[index].ty).collect();
        let result = match results[..] {
            [] => t.void(),
            [one] => one,
            _ => t.structure(&results, false),
        };
        let parameters: Vec<_> = arguments.iter().map(|value| value.ty()).collect();
        let assembly = volatile_asm(result.function(&parameters), text.trim_end(), &constraints.join(","));
        let made = self.b.call_pointer(result.function(&parameters), assembly, &arguments);
        made.take_call_effects(self.call);
        match written[..] {
            [] => {}
            [one] => now[one] = made,
            _ => {
                for (position, &index) in written.iter().enumerate() {
                    now[index] = self.b.extract_value(made, position as u32);
                }
            }
        }
    }

    /// Returns an instruction's text with the operands of the new assembly: first the outputs, then the inputs, which
    /// begin with the start values of the outputs. Other inputs that are needed are added to `inputs`.
    fn renamed(&self, text: &str, outputs: usize, inputs: &mut Vec<Meaning>) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let starts = c.is_ascii_alphabetic() || matches!(c, '_' | '%' | '$');
            let length = if starts { token_length(rest) } else { c.len_utf8() };
            let (token, behind) = rest.split_at(length);
            rest = behind;
            let operand = if starts { operand_of(token) } else { None };
            let Some(meaning) = operand.and_then(|operand| self.meaning(&operand)) else {
                result.push_str(token);
                // The rest of a word or number with another beginning is not a name.
                if c.is_ascii_digit() || c == '.' {
                    let more = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
                    result.push_str(&rest[..more]);
                    rest = &rest[more..];
                }
                continue;
            };
            let position = inputs.iter().position(|one| *one == meaning).unwrap_or_else(|| {
                inputs.push(meaning);
                inputs.len() - 1
            });
            // A variable that is written is one register, with the number of its output.
            let number = if position < outputs { position } else { outputs + position };
            result.push_str(&format!("${number}"));
        }
        result
    }

    /// Replaces the results of the call.
    fn replace(&self, results: &[Value<'c>]) {
        match results {
            [] => {}
            [one] if !self.call.ty().is_aggregate() => self.call.replace_all_uses_with(*one),
            _ => {
                let mut whole = Value::poison(self.call.ty());
                for (index, result) in (0u32..).zip(results) {
                    whole = self.b.insert_value(whole, *result, index);
                }
                self.call.replace_all_uses_with(whole);
            }
        }
        self.call.erase();
    }
}

/// Adds the values on an edge to the phis.
fn connect<'c>(phis: &[Value<'c>], values: &[Value<'c>], from: Block<'c>) {
    for (phi, value) in phis.iter().zip(values) {
        phi.add_incoming(&[(*value, from)]);
    }
}

/// Returns the length of the name or operand (`$3`, `${3:b}`) at the start of a text.
fn token_length(text: &str) -> usize {
    if text.starts_with("${") {
        return text.find('}').map_or(text.len(), |at| at + 1);
    }
    let rest = text.char_indices().skip(1);
    rest.into_iter()
        .find(|(_, c)| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$')))
        .map_or(text.len(), |(at, _)| at)
}

fn operand_of(token: &str) -> Option<Operand> {
    match token.strip_prefix('$') {
        Some(rest) => {
            let digits = rest.trim_start_matches('{').trim_end_matches('}').split(':').next()?;
            digits.parse().ok().map(Operand::Argument)
        }
        None => Some(Operand::Register(token.trim_start_matches('%').to_owned())),
    }
}

/// Returns the constraint and the type of a declared register.
fn register_type<'c>(t: Types<'c>, ty: &str) -> Option<(&'static str, Type<'c>)> {
    Some(match ty {
        "pred" => ("b", t.int(1)),
        "b8" | "u8" | "s8" | "b16" | "u16" | "s16" | "f16" | "bf16" => ("h", t.int(16)),
        "b32" | "u32" | "s32" | "f16x2" | "bf16x2" => ("r", t.int(32)),
        "b64" | "u64" | "s64" => ("l", t.int(64)),
        "f32" => ("f", t.float()),
        "f64" => ("d", t.double()),
        _ => return None,
    })
}
