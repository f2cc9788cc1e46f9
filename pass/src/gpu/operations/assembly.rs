//! Statements of inline assembly whose values are sent. The text gets further outputs, into which moves before and
//! after a statement copy its operands and its result.

use super::matrix::{self, Operand as Factor, Part};
use super::{Execution, Recorder, Row};
use crate::device::operations::assembly::{moved_type, result_type};
use crate::device::operations::numbered_statements;
use crate::llvm::types::Kind;
use crate::llvm::value::volatile_asm;
use crate::llvm::{Type, Types, Value};
use crate::matrix::Multiply;
use crate::ptx::parse::{self, Constraints, Operand, Statement};
use std::collections::HashMap;
use warpline_format::access::MOST_ROWS;
use warpline_format::gpu::AddressKind;
use warpline_format::operation::ValueType;

/// Where a value is found after the assembly.
#[derive(Clone, Copy)]
enum Source {
    /// An argument of the call, which the assembly does not change.
    Argument(usize),
    /// A further output.
    Output(usize),
    /// A number in the text.
    Number(u64),
}

/// A value of a statement.
#[derive(Clone, Copy)]
struct Sample {
    source: Source,
    /// The number of bits of the register.
    bits: u32,
    negated: bool,
    /// The first bit of the value in the register.
    below: u32,
    /// The number that is added to an address.
    offset: i64,
    ty: ValueType,
    kind: AddressKind,
}

/// One result of a statement.
struct Sampled {
    statement: usize,
    part: (usize, usize),
    rows: Vec<Sample>,
    guard: Option<Sample>,
}

/// A line of the new text.
enum Line {
    /// A statement or directive of the text.
    Kept(String),
    /// The copy of a register to a further output.
    Copy(String, usize),
}

/// The new text and its results.
pub(super) struct Plan {
    outputs: usize,
    lines: Vec<Line>,
    /// The numbers of bits of the further outputs; 1 for a predicate, whose output has 32 bits.
    added: Vec<u32>,
    sampled: Vec<Sampled>,
}

/// The operands and registers of the text.
struct Registers {
    layout: Constraints,
    /// The numbers of bits of outputs and of the call's arguments; `None` for operands that cannot be copied.
    operands: Vec<Option<u32>>,
    /// The spelling and the number of bits of declared registers.
    declared: HashMap<String, (String, u32)>,
}

impl Plan {
    /// Plans the text for a call of inline assembly, for the statements that have numbers. Returns `None` if the text
    /// cannot be changed; statements whose values cannot be copied have no results.
    pub(super) fn new(call: Value<'_>) -> Option<Plan> {
        let asm = call.called_value().filter(|callee| callee.is_inline_asm())?;
        let wanted: Vec<usize> = numbered_statements(call).into_iter().map(|(statement, _)| statement).collect();
        let plain = parse::without_comments(&asm.asm_text())?;
        let pieces = parse::split_statements(&plain);
        // Registers of two scopes may have the same name.
        let braces = |text: &str| text.matches('{').count();
        if braces(&plain) > 1 + pieces.iter().map(|piece| braces(piece)).sum::<usize>() {
            return None;
        }
        let mut registers = Registers::new(call, &asm.asm_constraints())?;
        let mut plan =
            Plan { outputs: registers.layout.outputs, lines: Vec::new(), added: Vec::new(), sampled: Vec::new() };
        let mut index = 0;
        for piece in pieces.iter().map(|piece| piece.trim()).filter(|piece| !piece.is_empty()) {
            if piece.starts_with('.') {
                registers.declare(piece)?;
                plan.lines.push(Line::Kept(piece.to_owned()));
                continue;
            }
            let statement = parse::statement(piece)?;
            let known = (plan.lines.len(), plan.added.len());
            let sampled = if wanted.contains(&index) { plan.statement(&registers, &statement, piece) } else { None };
            match sampled {
                Some(sampled) => {
                    plan.sampled.extend(sampled.into_iter().map(|one| Sampled { statement: index, ..one }))
                }
                None => {
                    plan.lines.truncate(known.0);
                    plan.added.truncate(known.1);
                    plan.lines.push(Line::Kept(piece.to_owned()));
                }
            }
            index += 1;
        }
        Some(plan)
    }

    /// Returns whether the values of a statement are sent.
    pub(super) fn has(&self, statement: usize) -> bool {
        self.sampled.iter().any(|one| one.statement == statement)
    }

    /// Adds a statement and the copies of its values; returns its results, or `None` if they cannot be copied.
    fn statement(&mut self, registers: &Registers, statement: &Statement, piece: &str) -> Option<Vec<Sampled>> {
        let parts: Vec<&str> = statement.operation.iter().map(String::as_str).collect();
        let guard = match &statement.guard {
            Some((operand, negated)) => {
                let sample = self.copy(registers, operand, None)?;
                Some(Sample { negated: sample.negated != *negated, ..sample })
            }
            None => None,
        };
        let results = match parts[0] {
            // The result of `red` is in no register, and the other values are in several lanes or in no register.
            "red" | "ldmatrix" | "stmatrix" | "tex" | "tld4" | "suld" | "sust" => return None,
            "mma" => self.product(registers, statement, &parts, piece)?,
            "ld" | "ldu" | "st" => self.moved(registers, statement, &parts, piece)?,
            _ => self.computed(registers, statement, &parts, piece)?,
        };
        let count = results.len();
        let sampled = |(part, rows)| Sampled { statement: 0, part: (part, count), rows, guard };
        Some(results.into_iter().enumerate().map(sampled).collect())
    }

    /// Adds a load or store; returns its values with their addresses.
    fn moved(
        &mut self,
        registers: &Registers,
        statement: &Statement,
        parts: &[&str],
        piece: &str,
    ) -> Option<Vec<Vec<Sample>>> {
        let (store, ty) = (parts[0] == "st", moved_type(parts)?);
        let (values, address) = if store { (1, 0) } else { (0, 1) };
        let address = self.address(registers, statement.operands.get(address)?, parts)?;
        if !store {
            self.lines.push(Line::Kept(piece.to_owned()));
        }
        let words = match statement.operands.get(values)? {
            Operand::Group(words) => words.clone(),
            one => vec![one.clone()],
        };
        let mut results = Vec::new();
        for (word, at) in words.iter().zip(0..) {
            let value = Sample { ty, ..self.copy(registers, word, Some(ty))? };
            results.push(vec![value, Sample { offset: address.offset + at * i64::from(ty.bits() / 8), ..address }]);
        }
        if store {
            self.lines.push(Line::Kept(piece.to_owned()));
        }
        Some(results)
    }

    /// Adds a statement with a result; returns the result with the operands. Pairs of numbers have two results.
    fn computed(
        &mut self,
        registers: &Registers,
        statement: &Statement,
        parts: &[&str],
        piece: &str,
    ) -> Option<Vec<Vec<Sample>>> {
        let (ty, made) = (moved_type(parts), result_type(parts)?);
        let (result, sources) = statement.operands.split_first()?;
        let mut operands = Vec::new();
        for source in sources.iter().take(MOST_ROWS - 1) {
            operands.push(match source {
                Operand::Memory(..) => self.address(registers, source, parts)?,
                _ => self.copy(registers, source, ty)?,
            });
        }
        self.lines.push(Line::Kept(piece.to_owned()));
        let result = self.copy(registers, result, Some(made))?;
        let typed = parts.iter().find(|part| moved_type(&[part]).is_some());
        if result.bits != 32 || !typed.is_some_and(|part| part.ends_with("x2")) {
            return Some(vec![std::iter::once(result).chain(operands).collect()]);
        }
        // Each half is a result; operands of another type are the same for both.
        let half = |sample: &Sample, ty: Option<ValueType>, below: u32| match (sample.bits, ty) {
            (32, Some(ty)) if ty.bits() == 16 => Sample { below, ty, ..*sample },
            _ => *sample,
        };
        let row = |below| {
            let operands = operands.iter().map(|operand| half(operand, ty, below));
            std::iter::once(half(&result, Some(made), below)).chain(operands).collect()
        };
        Some([0, 16].map(row).to_vec())
    }

    /// Adds a matrix product; returns its results.
    fn product(
        &mut self,
        registers: &Registers,
        statement: &Statement,
        parts: &[&str],
        piece: &str,
    ) -> Option<Vec<Vec<Sample>>> {
        let product = Multiply::read_ptx(parts)?;
        let [in_a, in_b, in_c, in_d] = matrix::held(&product);
        let [d, a, b, c] = &statement.operands[..] else { return None };
        let copies = |plan: &mut Plan, operand: &Operand, count| {
            let members = match operand {
                Operand::Group(members) => &members[..],
                one => std::slice::from_ref(one),
            };
            let all: Option<Vec<_>> = members.iter().map(|one| plan.copy(registers, one, None)).collect();
            all.filter(|all| all.len() == count)
        };
        let (left, right) = (copies(self, a, in_a)?, copies(self, b, in_b)?);
        let summand = copies(self, c, in_c)?;
        self.lines.push(Line::Kept(piece.to_owned()));
        let result = copies(self, d, in_d)?;
        let sample = |part: &Part| {
            let all = match part.operand {
                Factor::Result => &result,
                Factor::Left => &left,
                Factor::Right => &right,
                Factor::Summand => &summand,
            };
            Sample { below: part.below, ty: part.ty, ..all[part.register] }
        };
        Some(matrix::rows(&product).iter().map(|row| row.iter().map(sample).collect()).collect())
    }

    /// Returns an address operand.
    fn address(&mut self, registers: &Registers, operand: &Operand, parts: &[&str]) -> Option<Sample> {
        let Operand::Memory(base, offset) = operand else { return None };
        let kind = if parts.contains(&"shared") { AddressKind::Shared } else { AddressKind::Global };
        Some(Sample {
            offset: *offset,
            ty: ValueType::Int64,
            kind,
            ..self.copy(registers, base, Some(ValueType::Int64))?
        })
    }

    /// Returns the value of a register at this position of the text. `ty` is the type of the instruction; a register of
    /// another width is an integer.
    fn copy(&mut self, registers: &Registers, operand: &Operand, ty: Option<ValueType>) -> Option<Sample> {
        let sample = |source, bits: u32| {
            let ty = ty.filter(|ty| ty.bits() == bits).or_else(|| ValueType::from_integer_bits(bits))?;
            Some(Sample { source, bits, negated: false, below: 0, offset: 0, ty, kind: AddressKind::Value })
        };
        let (spelled, bits) = match operand {
            Operand::Number(number) => return sample(Source::Number(*number), ty.map_or(32, ValueType::bits)),
            Operand::Pair(first, _) => return self.copy(registers, first, ty),
            Operand::Not(inner) => {
                let inner = self.copy(registers, inner, ty)?;
                return Some(Sample { negated: !inner.negated, ..inner });
            }
            Operand::Argument(number) => {
                let bits = (*registers.operands.get(*number)?)?;
                let input = number.checked_sub(self.outputs);
                if let Some(input) = input.filter(|input| registers.layout.inputs.get(*input) == Some(&None)) {
                    return sample(Source::Argument(input), bits);
                }
                (format!("${number}"), bits)
            }
            Operand::Register(name) => registers.declared.get(name)?.clone(),
            Operand::Memory(..) | Operand::Group(_) | Operand::Texture(..) => return None,
        };
        self.lines.push(Line::Copy(spelled, self.added.len()));
        self.added.push(bits);
        sample(Source::Output(self.added.len() - 1), bits)
    }

    /// Returns the new text.
    fn text(&self) -> String {
        let moved = |text: &str| renumbered(text, self.outputs, self.added.len());
        let line = |line: &Line| match line {
            Line::Kept(text) => format!("{};", moved(text)),
            Line::Copy(register, output) => {
                let (to, from) = (self.outputs + output, moved(register));
                match self.added[*output] {
                    1 => format!("selp.u32 ${to}, 1, 0, {from};"),
                    bits => format!("mov.b{bits} ${to}, {from};"),
                }
            }
        };
        format!("{{ {} }}", self.lines.iter().map(line).collect::<Vec<_>>().join(" "))
    }

    /// Returns the new constraints.
    fn constraints(&self, old: &str) -> String {
        let mut parts: Vec<&str> = old.split(',').filter(|part| !part.is_empty()).collect();
        let added = self.added.iter().map(|bits| match bits {
            16 => "=&h",
            64 => "=&l",
            _ => "=&r",
        });
        parts.splice(self.outputs..self.outputs, added);
        parts.join(",")
    }

    /// Returns the types of the further outputs.
    fn types<'c>(&self, types: Types<'c>) -> impl Iterator<Item = Type<'c>> {
        self.added.iter().map(move |&bits| types.int(if bits == 1 { 32 } else { bits }))
    }
}

impl Registers {
    fn new(call: Value<'_>, text: &str) -> Option<Registers> {
        let layout = parse::constraints(text)?;
        let letters: Vec<&str> = text.split(',').filter(|part| !part.is_empty() && !part.starts_with("~{")).collect();
        let width = |letter: &str| match letter.trim_start_matches(['=', '&']) {
            "b" => Some(1),
            "h" => Some(16),
            "r" | "f" => Some(32),
            "l" | "d" => Some(64),
            _ => None,
        };
        let arguments = call.arguments();
        let operands = letters.iter().enumerate().map(|(number, letter)| {
            let Some(input) = number.checked_sub(layout.outputs) else { return width(letter) };
            match (layout.inputs.get(input)?, *letter) {
                (Some(output), _) => width(letters.get(*output)?),
                (None, "n" | "i") => arguments.get(input)?.ty().int_bits(),
                (None, letter) => width(letter),
            }
        });
        let operands = operands.collect();
        Some(Registers { layout, operands, declared: HashMap::new() })
    }

    /// Reads a directive; returns `None` if it does not declare single registers.
    fn declare(&mut self, directive: &str) -> Option<()> {
        let rest = directive.strip_prefix(".reg")?.trim_start();
        let (ty, names) = rest.strip_prefix('.')?.split_once(char::is_whitespace)?;
        let bits = match ty {
            "pred" => 1,
            "f16x2" | "bf16x2" => 32,
            _ => ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?,
        };
        for name in names.split(',').map(str::trim) {
            if name.contains('<') || ![1, 16, 32, 64].contains(&bits) {
                return None;
            }
            self.declared.insert(name.trim_start_matches('%').to_owned(), (name.to_owned(), bits));
        }
        Some(())
    }
}

/// Returns a text in which the operands from `first` on have numbers that are larger by `more`.
fn renumbered(text: &str, first: usize, more: usize) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        made.push_str(before);
        made.push('$');
        let open = usize::from(after.starts_with('{'));
        let digits = after[open..].chars().take_while(char::is_ascii_digit).count();
        match after[open..open + digits].parse::<usize>() {
            Ok(number) => {
                made.push_str(&after[..open]);
                made.push_str(&(if number >= first { number + more } else { number }).to_string());
                rest = &after[open + digits..];
            }
            // `$$` is the character itself.
            Err(_) if after.starts_with('$') => {
                made.push('$');
                rest = &after[1..];
            }
            Err(_) => rest = after,
        }
    }
    made.push_str(rest);
    made
}

impl<'c> Recorder<'_, 'c> {
    /// Sends the values of the statements of inline assembly.
    pub(super) fn assembly(&self, call: Value<'c>) {
        let numbers: HashMap<usize, u32> = numbered_statements(call)
            .into_iter()
            .filter_map(|(statement, (number, recorded))| recorded.then_some((statement, number)))
            .collect();
        let Some(plan) = Plan::new(call).filter(|plan| !plan.sampled.is_empty() && !numbers.is_empty()) else { return };
        let added = self.replaced(call, &plan);
        for one in &plan.sampled {
            let Some(&number) = numbers.get(&one.statement) else { continue };
            let rows = one.rows.iter().map(|sample| self.sampled(&added, sample)).collect();
            let guard = one.guard.as_ref().map(|guard| self.sampled(&added, guard).value);
            self.send(&Execution { number, part: one.part, rows, guard });
        }
    }

    /// Replaces the call; returns its arguments and its further outputs. The builder is behind the call afterwards.
    fn replaced(&self, call: Value<'c>, plan: &Plan) -> (Vec<Value<'c>>, Vec<Value<'c>>) {
        let (b, types) = (&self.builder, self.builder.types());
        let old = call.ty();
        let first: Vec<Type<'c>> = match old.kind() {
            Kind::Void => Vec::new(),
            Kind::Struct => old.fields(),
            _ => vec![old],
        };
        let all: Vec<_> = first.iter().copied().chain(plan.types(types)).collect();
        let result = if let [one] = all[..] { one } else { types.structure(&all, false) };
        let arguments = call.arguments();
        let takes: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
        let asm = call.called_value().expect("a call of assembly");
        let ty = result.function(&takes);
        b.before(call);
        let new =
            b.call_pointer(ty, volatile_asm(ty, &plan.text(), &plan.constraints(&asm.asm_constraints())), &arguments);
        new.take_call_effects(call);
        let output = |index: usize| if all.len() == 1 { new } else { b.extract_value(new, index as u32) };
        match old.kind() {
            Kind::Void => {}
            Kind::Struct => {
                let whole = (0..first.len())
                    .fold(Value::poison(old), |whole, index| b.insert_value(whole, output(index), index as u32));
                call.replace_all_uses_with(whole);
            }
            _ => call.replace_all_uses_with(output(0)),
        }
        let added = (first.len()..all.len()).map(output).collect();
        let next = call.next().expect("a block ends with another instruction");
        call.erase();
        b.before(next);
        (arguments, added)
    }

    /// Returns the value of a sample.
    fn sampled(&self, (arguments, added): &(Vec<Value<'c>>, Vec<Value<'c>>), sample: &Sample) -> Row<'c> {
        let (b, types) = (&self.builder, self.builder.types());
        let register = match sample.source {
            Source::Number(number) => Value::int(types.int(64), number),
            Source::Output(output) => added[output],
            Source::Argument(input) => {
                let value = arguments[input];
                match value.ty().kind() {
                    Kind::Pointer(_) => b.ptr_to_int(value, types.int(64)),
                    Kind::Int(_) => value,
                    _ => b.bitcast(value, types.int(sample.bits)),
                }
            }
        };
        let mut value = b.fit(register, types.int(64));
        if sample.below != 0 {
            value = b.lshr(value, Value::int(types.int(64), u64::from(sample.below)));
        }
        if sample.offset != 0 {
            value = b.add(value, Value::int(types.int(64), sample.offset as u64));
        }
        if sample.negated {
            value = b.xor(value, Value::int(types.int(64), 1));
        }
        Row { value: b.fit(value, types.int(sample.ty.bits())), ty: sample.ty, kind: sample.kind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_after_the_outputs_move() {
        assert_eq!(renumbered("mad.lo $0, $1, ${2:x}, $$3;", 1, 2), "mad.lo $0, $3, ${4:x}, $$3;");
        assert_eq!(renumbered("bar.sync 0;", 0, 3), "bar.sync 0;");
    }
}
