//! Converts an address in the code to its expression.

use super::Sink;
use super::control::Control;
use super::shifting::Shifting;
use crate::ir::address::steps;
use crate::ir::class::{Register, register};
use crate::ir::space;
use crate::llvm::debug::Variable;
use crate::llvm::metadata::{LOCATION, location};
use crate::llvm::value::{IntPredicate, Opcode};
use crate::llvm::{Block, Layout, Value};
use std::collections::HashMap;
use warpline_format::expression::{
    AddressExpression, Binary, Comparison, ExpressionId, ExpressionKind, LoopExpression, LoopId, Reason,
};

/// The maximum number of values of a function that are analysed, so that the compile time stays linear in the size of
/// the code.
const BUDGET: u32 = 200_000;
/// The maximum depth of values that depend on each other.
const DEEPEST: u32 = 400;

/// A comparison that need not be in the code.
pub(crate) type Comparing<'c> = (IntPredicate, Value<'c>, Value<'c>);

/// Builds the expressions of one kernel's values.
pub(crate) struct Walk<'c, 'm> {
    function: u32,
    control: Control<'c>,
    layout: Layout<'m>,
    /// The numbers of the function's loops in the sink.
    laps: Vec<LoopId>,
    known: HashMap<Value<'c>, ExpressionId>,
    executed: HashMap<usize, Option<ExpressionId>>,
    budget: u32,
}

/// The variables to which an address may refer.
pub(crate) struct Variables<'a, 'c> {
    /// In the order of the site table.
    pub(crate) globals: &'a HashMap<Value<'c>, u32>,
    /// Returns the number of a variable in shared memory.
    pub(crate) shared: &'a mut dyn FnMut(Value<'c>) -> u32,
}

impl<'c, 'm> Walk<'c, 'm> {
    /// Creates an instance for a kernel before it is hooked; `None` if its control flow cannot be analysed.
    pub(crate) fn new(
        function: u32,
        blocks: Vec<Block<'c>>,
        layout: Layout<'m>,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> Option<Self> {
        let control = Control::new(blocks)?;
        let first = sink.loops.len();
        let laps: Vec<LoopId> = (first..first + control.loops.len()).map(|lap| lap as LoopId).collect();
        for natural in &control.loops {
            let around = control.around[natural.header].iter().map(|&one| laps[one]);
            let line = control.blocks[natural.header].instructions().into_iter().map(line_of).find(|&line| line != 0);
            let around = around.filter(|&lap| (lap as usize) < sink.loops.len()).collect();
            sink.loops.push(LoopExpression { line: line.unwrap_or(0), around, ends: Vec::new() });
        }
        let (known, executed) = (HashMap::new(), HashMap::new());
        let mut walk = Walk { function, control, layout, laps, known, executed, budget: BUDGET };
        for index in 0..walk.laps.len() {
            sink.loops[walk.laps[index] as usize].ends = walk.ends(index, sink, variables);
        }
        Some(walk)
    }

    /// Returns the address of an access by an instruction of `block`, which has no site yet. The access happens in
    /// lanes for which its own guard, a comparison, is true.
    pub(crate) fn address(
        &mut self,
        block: Block<'c>,
        (pointer, offset): (Value<'c>, u64),
        own: Option<Comparing<'c>>,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> Option<AddressExpression> {
        let block = *self.control.numbers.get(&block)?;
        let start = self.value(pointer, DEEPEST, sink, variables);
        let offset = sink.constant(64, offset as i64);
        let address = sink.binary(64, true, Binary::Sum, start, offset);
        let reached = self.execution(block, DEEPEST, sink, variables);
        let own = own.map(|comparison| self.comparison(comparison, DEEPEST, sink, variables));
        let guard = sink.and(reached, own);
        let address = guard.map_or(address, |guard| sink.where_holds(address, guard));
        let guard = guard.map(|guard| sink.in_turn(guard));
        let loops = self.control.around[block].iter().map(|&one| self.laps[one]).collect();
        Some(AddressExpression { site: 0, address, guard, loops })
    }

    /// Returns the condition that ends a loop in the iteration in which it is true.
    fn ends(&mut self, natural: usize, sink: &mut Sink, variables: &mut Variables<'_, 'c>) -> Vec<ExpressionId> {
        let mut all = Vec::new();
        for block in self.control.loops[natural].blocks.clone() {
            let out: Vec<usize> = self.control.successors[block]
                .iter()
                .copied()
                .filter(|&to| !self.control.inside(natural, to))
                .collect();
            for to in out {
                let taken = self.taken(block, to, DEEPEST, sink, variables);
                let end = if self.control.always(natural, block) {
                    taken
                } else {
                    let runs = self.execution(block, DEEPEST, sink, variables);
                    sink.and(runs, taken)
                };
                all.push(end.unwrap_or_else(|| sink.constant(1, 1)));
            }
        }
        all
    }

    /// Returns the condition under which a block runs in an iteration of the loops around it.
    fn execution(
        &mut self,
        block: usize,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> Option<ExpressionId> {
        if let Some(&found) = self.executed.get(&block) {
            return found;
        }
        if depth == 0 {
            return Some(sink.unknown(1, Reason::Complex, 0));
        }
        let decisions = self.control.decisions[block].clone();
        let mut all = decisions.into_iter().map(|decision| {
            let to = self.control.within[decision.block][decision.side];
            let runs = self.execution(decision.block, depth - 1, sink, variables);
            let taken = if self.control.successors[decision.block].contains(&to) {
                self.taken(decision.block, to, depth - 1, sink, variables)
            } else {
                Some(sink.unknown(1, Reason::Path, 0))
            };
            sink.and(runs, taken)
        });
        let ways: Vec<Option<ExpressionId>> = all.by_ref().collect();
        drop(all);
        let found = ways.into_iter().reduce(|one, other| sink.or(one, other)).flatten();
        self.executed.insert(block, found);
        found
    }

    /// Returns the condition under which a block's end leads to `to`.
    fn taken(
        &mut self,
        from: usize,
        to: usize,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> Option<ExpressionId> {
        let end = self.control.blocks[from].terminator()?;
        let target = self.control.blocks[to];
        let ways = end.successors();
        if ways.iter().all(|&way| way == target) {
            return None;
        }
        match end.opcode() {
            Some(Opcode::LLVMBr) => {
                let condition = self.value(end.condition()?, depth, sink, variables);
                Some(if ways[0] == target { condition } else { sink.opposite(condition) })
            }
            Some(Opcode::LLVMSwitch) => {
                let value = self.value(end.operand(0), depth, sink, variables);
                let mut found = None;
                let mut others = None;
                for (index, &way) in ways.iter().enumerate().skip(1) {
                    let Some(case) = end.switch_case(index as u32) else { continue };
                    let case = self.value(case, depth, sink, variables);
                    let equal = sink.node(1, false, ExpressionKind::Compare(Comparison::Equal, value, case));
                    let list = if way == target { &mut found } else { &mut others };
                    *list = match *list {
                        None => Some(equal),
                        Some(before) => sink.or(Some(before), Some(equal)),
                    };
                }
                Some(if ways[0] == target {
                    match others {
                        Some(others) => sink.opposite(others),
                        None => sink.constant(1, 1),
                    }
                } else {
                    found.unwrap_or_else(|| sink.constant(1, 0))
                })
            }
            _ => Some(sink.unknown(1, Reason::Path, line_of(end))),
        }
    }

    fn value(
        &mut self,
        value: Value<'c>,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        if let Some(&found) = self.known.get(&value) {
            return found;
        }
        let bits = width(value);
        if depth == 0 || self.budget == 0 || bits == 0 {
            return sink.unknown(bits, Reason::Complex, line_of(value));
        }
        self.budget -= 1;
        if value.is_phi() {
            // If the analysis of a value leads back to the value, it does not change by a constant.
            let pending = sink.unknown(bits, Reason::Recurrence, line_of(value));
            self.known.insert(value, pending);
        }
        let found = self.node(value, bits, depth - 1, sink, variables);
        self.known.insert(value, found);
        found
    }

    fn node(
        &mut self,
        value: Value<'c>,
        bits: u32,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        if let Some(number) = value.as_i64() {
            return sink.constant(bits, number);
        }
        if value.is_constant() && value.is_zero() {
            return sink.constant(bits, 0);
        }
        if value.is_argument() {
            return self.argument(value, 0, bits, value, sink);
        }
        if value.is_global_variable() {
            let kind = match (value.address_space(), variables.globals.get(&value)) {
                (space::SHARED, _) => ExpressionKind::Shared((variables.shared)(value)),
                (_, Some(&number)) => ExpressionKind::Global(number),
                _ => ExpressionKind::Unknown(Reason::Complex, 0),
            };
            return sink.node(64, false, kind);
        }
        let opcode = value.constant_opcode().or_else(|| value.is_instruction().then(|| value.opcode()).flatten());
        let line = line_of(value);
        let Some(opcode) = opcode else { return sink.unknown(bits, Reason::Complex, line) };
        let exact = value.is_instruction() && value.is_nsw();
        let operation = match opcode {
            Opcode::LLVMAdd => Some(Binary::Sum),
            Opcode::LLVMOr if value.is_disjoint() => Some(Binary::Sum),
            Opcode::LLVMSub => Some(Binary::Difference),
            Opcode::LLVMMul => Some(Binary::Product),
            Opcode::LLVMSDiv => Some(Binary::SignedQuotient),
            Opcode::LLVMUDiv => Some(Binary::UnsignedQuotient),
            Opcode::LLVMSRem => Some(Binary::SignedRemainder),
            Opcode::LLVMURem => Some(Binary::UnsignedRemainder),
            Opcode::LLVMAnd => Some(Binary::And),
            Opcode::LLVMOr => Some(Binary::Or),
            Opcode::LLVMXor => Some(Binary::Xor),
            Opcode::LLVMShl => Some(Binary::ShiftLeft),
            Opcode::LLVMAShr => Some(Binary::SignedShiftRight),
            Opcode::LLVMLShr => Some(Binary::UnsignedShiftRight),
            _ => None,
        };
        if let Some(operation) = operation {
            let left = self.value(value.operand(0), depth, sink, variables);
            let right = self.value(value.operand(1), depth, sink, variables);
            return sink.binary(bits, exact, operation, left, right);
        }
        match opcode {
            Opcode::LLVMSExt => {
                let of = self.value(value.operand(0), depth, sink, variables);
                sink.signed(bits, true, of)
            }
            Opcode::LLVMTrunc => {
                let of = self.value(value.operand(0), depth, sink, variables);
                sink.signed(bits, false, of)
            }
            Opcode::LLVMZExt => {
                let of = self.value(value.operand(0), depth, sink, variables);
                sink.node(bits, value.is_instruction() && value.is_nneg(), ExpressionKind::Unsigned(of))
            }
            Opcode::LLVMFreeze
            | Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMBitCast
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr => {
                let of = value.operand(0);
                if width(of) == 0 {
                    return sink.unknown(bits, Reason::Float, line);
                }
                let of = self.value(of, depth, sink, variables);
                sink.signed(bits, true, of)
            }
            Opcode::LLVMGetElementPtr => {
                let base = self.value(value.operand(0), depth, sink, variables);
                self.moved(value, base, depth, sink, variables)
            }
            Opcode::LLVMICmp => self.compare(value, depth, sink, variables),
            Opcode::LLVMSelect => {
                let [condition, one, other] =
                    [0, 1, 2].map(|index| self.value(value.operand(index), depth, sink, variables));
                sink.node(bits, false, ExpressionKind::Choice(condition, one, other))
            }
            Opcode::LLVMPHI => self.phi(value, bits, depth, sink, variables),
            Opcode::LLVMLoad => self.load(value, 0, bits, sink),
            Opcode::LLVMCall => self.call(value, bits, depth, sink, variables),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => sink.unknown(bits, Reason::Atomic, line),
            Opcode::LLVMExtractElement => self.element(value, bits, sink),
            Opcode::LLVMExtractValue => {
                let atomic = value.operand(0).opcode() == Some(Opcode::LLVMAtomicCmpXchg);
                sink.unknown(bits, if atomic { Reason::Atomic } else { Reason::Complex }, line)
            }
            Opcode::LLVMAlloca => sink.unknown(bits, Reason::Local, line),
            Opcode::LLVMFCmp | Opcode::LLVMFPToSI | Opcode::LLVMFPToUI => sink.unknown(bits, Reason::Float, line),
            _ => sink.unknown(bits, Reason::Complex, line),
        }
    }

    /// Returns a pointer to which a `getelementptr` was applied.
    fn moved(
        &mut self,
        gep: Value<'c>,
        base: ExpressionId,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        let Some(found) = steps(gep, self.layout) else { return sink.unknown(64, Reason::Complex, line_of(gep)) };
        let mut sum = base;
        for step in found.variable {
            let index = self.value(step.index, depth, sink, variables);
            let wide = sink.signed(64, true, index);
            let scale = sink.constant(64, step.scale as i64);
            let bytes = sink.binary(64, true, Binary::Product, wide, scale);
            sum = sink.binary(64, true, Binary::Sum, sum, bytes);
        }
        let constant = sink.constant(64, found.constant);
        sink.binary(64, true, Binary::Sum, sum, constant)
    }

    fn compare(
        &mut self,
        value: Value<'c>,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        match value.int_predicate() {
            Some(predicate) => self.comparison((predicate, value.operand(0), value.operand(1)), depth, sink, variables),
            None => sink.unknown(1, Reason::Complex, line_of(value)),
        }
    }

    fn comparison(
        &mut self,
        (predicate, left, right): Comparing<'c>,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        if width(left) == 0 {
            return sink.unknown(1, Reason::Complex, line_of(left));
        }
        let left = self.value(left, depth, sink, variables);
        let right = self.value(right, depth, sink, variables);
        use Comparison::{Equal, NotEqual, SignedLess, SignedLessEqual, UnsignedLess, UnsignedLessEqual};
        let (comparison, left, right) = match predicate {
            IntPredicate::LLVMIntEQ => (Equal, left, right),
            IntPredicate::LLVMIntNE => (NotEqual, left, right),
            IntPredicate::LLVMIntSLT => (SignedLess, left, right),
            IntPredicate::LLVMIntSLE => (SignedLessEqual, left, right),
            IntPredicate::LLVMIntSGT => (SignedLess, right, left),
            IntPredicate::LLVMIntSGE => (SignedLessEqual, right, left),
            IntPredicate::LLVMIntULT => (UnsignedLess, left, right),
            IntPredicate::LLVMIntULE => (UnsignedLessEqual, left, right),
            IntPredicate::LLVMIntUGT => (UnsignedLess, right, left),
            IntPredicate::LLVMIntUGE => (UnsignedLessEqual, right, left),
        };
        sink.compare(comparison, left, right)
    }

    fn phi(
        &mut self,
        phi: Value<'c>,
        bits: u32,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        let lost = |sink: &mut Sink, reason| sink.unknown(bits, reason, line_of(phi));
        let Some(&block) = phi.block().and_then(|block| self.control.numbers.get(&block)) else {
            return lost(sink, Reason::Path);
        };
        let incoming: Vec<(Value<'c>, usize)> = (phi.incoming().into_iter())
            .filter_map(|(value, from)| Some((value, *self.control.numbers.get(&from)?)))
            .collect();
        let natural = self.control.loops.iter().position(|one| one.header == block);
        if let Some(natural) = natural {
            let (back, before): (Vec<_>, Vec<_>) =
                incoming.into_iter().partition(|(_, from)| self.control.inside(natural, *from));
            let (Some(&(start, _)), Some(&(next, _))) = (before.first(), back.first()) else {
                return lost(sink, Reason::Path);
            };
            if before.iter().any(|(value, _)| *value != start) || back.iter().any(|(value, _)| *value != next) {
                return lost(sink, Reason::Path);
            }
            if next == phi {
                return self.value(start, depth, sink, variables);
            }
            let start = self.value(start, depth, sink, variables);
            if let Some(shifting) = Shifting::recognise(next, phi) {
                return shifting.value(bits, start, self.laps[natural], sink);
            }
            let zero = sink.constant(bits, 0);
            let Some((step, exact)) = self.step(next, phi, zero, depth, sink, variables) else {
                // The compiler keeps values that neighbouring iterations share, such as `a[i - 1]` in a sweep: the
                // value is then that of another value in the previous iteration.
                let now = self.value(next, depth, sink, variables);
                if !sink.is_known(now) {
                    return lost(sink, Reason::Recurrence);
                }
                let lap = self.laps[natural];
                let counter = sink.node(64, true, ExpressionKind::Counter(lap));
                let zero = sink.constant(64, 0);
                let first = sink.node(1, false, ExpressionKind::Compare(Comparison::Equal, counter, zero));
                let before = sink.before(now, lap);
                return sink.node(bits, false, ExpressionKind::Choice(first, start, before));
            };
            if sink.counts(step, self.laps[natural]) {
                return lost(sink, Reason::Recurrence);
            }
            let counter = sink.node(bits, true, ExpressionKind::Counter(self.laps[natural]));
            let moved = sink.binary(bits, exact, Binary::Product, step, counter);
            return sink.binary(bits, exact, Binary::Sum, start, moved);
        }
        let mut found = None;
        for (value, from) in incoming.into_iter().rev() {
            let here = self.value(value, depth, sink, variables);
            found = Some(match found {
                None => here,
                Some(other) if other == here => here,
                Some(other) => {
                    let runs = self.execution(from, depth, sink, variables);
                    let taken = self.taken(from, block, depth, sink, variables);
                    match sink.and(runs, taken) {
                        Some(way) => sink.node(bits, false, ExpressionKind::Choice(way, here, other)),
                        None => here,
                    }
                }
            });
        }
        found.unwrap_or_else(|| lost(sink, Reason::Path))
    }

    /// Returns the sum that is added to `phi` to get `value`, in addition to `sum`, and whether the additions do not
    /// wrap.
    fn step(
        &mut self,
        value: Value<'c>,
        phi: Value<'c>,
        sum: ExpressionId,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> Option<(ExpressionId, bool)> {
        if value == phi {
            return Some((sum, true));
        }
        if depth == 0 || !value.is_instruction() {
            return None;
        }
        let bits = width(value);
        match value.opcode()? {
            Opcode::LLVMGetElementPtr => {
                let sum = self.moved(value, sum, depth - 1, sink, variables);
                self.step(value.operand(0), phi, sum, depth - 1, sink, variables)
            }
            Opcode::LLVMFreeze => self.step(value.operand(0), phi, sum, depth - 1, sink, variables),
            // Threads for which a condition is true continue; the others keep their value.
            Opcode::LLVMSelect => {
                let (one, exact) = self.step(value.operand(1), phi, sum, depth - 1, sink, variables)?;
                let (other, too) = self.step(value.operand(2), phi, sum, depth - 1, sink, variables)?;
                let condition = self.value(value.operand(0), depth - 1, sink, variables);
                Some((sink.choice(bits, condition, one, other), exact && too))
            }
            Opcode::LLVMPHI => {
                let block = *self.control.numbers.get(&value.block()?)?;
                if self.control.loops.iter().any(|one| one.header == block) {
                    return None;
                }
                let mut found: Option<(ExpressionId, bool)> = None;
                for (value, from) in value.incoming().into_iter().rev() {
                    let from = *self.control.numbers.get(&from)?;
                    let (here, exact) = self.step(value, phi, sum, depth - 1, sink, variables)?;
                    found = Some(match found {
                        Some((other, too)) if other != here => {
                            let runs = self.execution(from, depth - 1, sink, variables);
                            let taken = self.taken(from, block, depth - 1, sink, variables);
                            match sink.and(runs, taken) {
                                Some(way) => (sink.choice(bits, way, here, other), exact && too),
                                None => (here, exact),
                            }
                        }
                        Some((_, too)) => (here, exact && too),
                        None => (here, exact),
                    });
                }
                found
            }
            opcode @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMOr) => {
                if opcode == Opcode::LLVMOr && !value.is_disjoint() {
                    return None;
                }
                let sides = if opcode == Opcode::LLVMSub { &[(0, 1)][..] } else { &[(0, 1), (1, 0)] };
                for &(of, by) in sides {
                    if let Some((rest, exact)) = self.step(value.operand(of), phi, sum, depth - 1, sink, variables) {
                        let by = self.value(value.operand(by), depth - 1, sink, variables);
                        let exact = exact && value.is_nsw();
                        let operation = if opcode == Opcode::LLVMSub { Binary::Difference } else { Binary::Sum };
                        return Some((sink.binary(bits, exact, operation, rest, by), exact));
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Returns a kernel parameter from a byte on; the source may have a name for `holder`.
    fn argument(
        &mut self,
        argument: Value<'c>,
        offset: u64,
        bits: u32,
        holder: Value<'c>,
        sink: &mut Sink,
    ) -> ExpressionId {
        let parameters = argument.argument_of().map(|function| function.parameters()).unwrap_or_default();
        let Some(parameter) = parameters.iter().position(|&one| one == argument) else {
            return sink.unknown(bits, Reason::Argument, 0);
        };
        let (parameter, offset, bytes) = (parameter as u32, offset as u32, bits.div_ceil(8));
        let name = Variable::of_value(argument).and_then(|variable| {
            let own = variable.name();
            let whole = own.is_empty() || holder == argument;
            let member = (!whole).then(|| variable.ty()?.member(u64::from(offset), u64::from(bytes), true)).flatten();
            let path = member.map(|(path, _)| path).unwrap_or_default();
            (!own.is_empty()).then(|| format!("{own}{path}"))
        });
        // If the IR does not come from clang, it may contain the name.
        let own = || Some(argument.name()).filter(|name| !name.is_empty() && offset == 0);
        sink.parameters.entry((self.function, parameter, offset, bytes)).or_insert_with(|| name.or_else(own));
        sink.node(bits, false, ExpressionKind::Parameter { parameter, offset })
    }

    /// Returns an element of a vector, because neighbouring parameters are loaded together.
    fn element(&mut self, value: Value<'c>, bits: u32, sink: &mut Sink) -> ExpressionId {
        let (vector, index) = (value.operand(0), value.operand(1).as_u64());
        match index.filter(|_| vector.opcode() == Some(Opcode::LLVMLoad)) {
            Some(index) if index < 64 => self.load(vector, index * u64::from(bits.div_ceil(8)), bits, sink),
            _ => sink.unknown(bits, Reason::Complex, line_of(value)),
        }
    }

    /// Returns the value of a load from `offset` bytes after the load's pointer. Values of parameters are known at the
    /// launch.
    fn load(&mut self, load: Value<'c>, offset: u64, bits: u32, sink: &mut Sink) -> ExpressionId {
        let mut pointer = load.operand(0);
        let mut offset = offset as i64;
        for _ in 0..DEEPEST {
            if pointer.is_argument() {
                let by_value = pointer.argument_of().is_some_and(|function| {
                    let index = function.parameters().iter().position(|&one| one == pointer);
                    index.is_some_and(|index| function.has_attribute(index as u32 + 1, "byval"))
                });
                if by_value && (0..1 << 16).contains(&offset) {
                    return self.argument(pointer, offset as u64, bits, load, sink);
                }
                break;
            }
            match pointer.opcode().or_else(|| pointer.constant_opcode()) {
                Some(Opcode::LLVMGetElementPtr) => match steps(pointer, self.layout) {
                    Some(found) if found.variable.is_empty() => offset = offset.wrapping_add(found.constant),
                    _ => break,
                },
                Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {}
                Some(Opcode::LLVMCall) if pointer.callee_name().starts_with("llvm.nvvm.internal.addrspace.wrap") => {}
                _ => break,
            }
            pointer = pointer.operand(0);
        }
        sink.unknown(bits, Reason::Loaded, line_of(load))
    }

    fn call(
        &mut self,
        call: Value<'c>,
        bits: u32,
        depth: u32,
        sink: &mut Sink,
        variables: &mut Variables<'_, 'c>,
    ) -> ExpressionId {
        let name = call.callee_name();
        let line = line_of(call);
        if let Some(found) = register(&name) {
            return self.register(found, bits, line, sink);
        }
        let Some(base) = name.strip_prefix("llvm.") else {
            return sink.unknown(bits, Reason::Called, line);
        };
        let both = [
            ("smin.", Binary::SignedLeast),
            ("smax.", Binary::SignedGreatest),
            ("umin.", Binary::UnsignedLeast),
            ("umax.", Binary::UnsignedGreatest),
        ];
        if let Some((_, operation)) = both.iter().find(|(prefix, _)| base.starts_with(prefix)) {
            let left = self.value(call.operand(0), depth, sink, variables);
            let right = self.value(call.operand(1), depth, sink, variables);
            return sink.binary(bits, false, *operation, left, right);
        }
        // The result is the remainder of the first number, or 0. The compiler uses this for `max(i - 1, 0)` if `i` is
        // not negative.
        if base.starts_with("usub.sat.") {
            let left = self.value(call.operand(0), depth, sink, variables);
            let right = self.value(call.operand(1), depth, sink, variables);
            let greater = sink.binary(bits, false, Binary::UnsignedGreatest, left, right);
            return sink.binary(bits, true, Binary::Difference, greater, right);
        }
        if base.starts_with("abs.") {
            let of = self.value(call.operand(0), depth, sink, variables);
            let zero = sink.constant(bits, 0);
            let negative = sink.node(1, false, ExpressionKind::Compare(Comparison::SignedLess, of, zero));
            let turned = sink.binary(bits, true, Binary::Difference, zero, of);
            return sink.node(bits, false, ExpressionKind::Choice(negative, turned, of));
        }
        if base.starts_with("nvvm.internal.addrspace.wrap") {
            return self.value(call.operand(0), depth, sink, variables);
        }
        let exchanged = ["nvvm.shfl", "nvvm.vote", "nvvm.match", "nvvm.redux"];
        if exchanged.iter().any(|prefix| base.starts_with(prefix)) {
            return sink.unknown(bits, Reason::Exchanged, line);
        }
        if base.starts_with("nvvm.atomic") {
            return sink.unknown(bits, Reason::Atomic, line);
        }
        let loads = ["nvvm.ldu", "nvvm.ldg", "masked."];
        let reason = if loads.iter().any(|prefix| base.starts_with(prefix)) { Reason::Loaded } else { Reason::Complex };
        sink.unknown(bits, reason, line)
    }

    fn register(&mut self, found: Register, bits: u32, line: u32, sink: &mut Sink) -> ExpressionId {
        let kind = match found {
            Register::Thread(axis) => ExpressionKind::Thread(axis as u8),
            Register::Block(axis) => ExpressionKind::Block(axis as u8),
            Register::BlockSize(axis) => ExpressionKind::BlockSize(axis as u8),
            Register::GridSize(axis) => ExpressionKind::GridSize(axis as u8),
            Register::WarpSize => ExpressionKind::Constant(32),
            Register::Zero => ExpressionKind::Constant(0),
            Register::Lane => {
                let [x, y, z] = [0, 1, 2].map(|axis| sink.node(bits, false, ExpressionKind::Thread(axis)));
                let [width, height] = [0, 1].map(|axis| sink.node(bits, false, ExpressionKind::BlockSize(axis)));
                let planes = sink.binary(bits, true, Binary::Product, z, height);
                let rows = sink.binary(bits, true, Binary::Sum, y, planes);
                let before = sink.binary(bits, true, Binary::Product, rows, width);
                let thread = sink.binary(bits, true, Binary::Sum, x, before);
                let last = sink.constant(bits, 31);
                return sink.binary(bits, false, Binary::And, thread, last);
            }
            _ => return sink.unknown(bits, Reason::Register, line),
        };
        sink.node(bits, false, kind)
    }
}

/// Returns the number of bits of an integer or pointer, or 0 for other types and for types that are too wide for
/// expressions.
fn width(value: Value<'_>) -> u32 {
    let ty = value.ty();
    if ty.is_pointer() { 64 } else { ty.int_bits().filter(|&bits| bits <= 64).unwrap_or(0) }
}

/// Returns the source line of an instruction, or 0 if it is unknown.
fn line_of(value: Value<'_>) -> u32 {
    if !value.is_instruction() {
        return 0;
    }
    match value.debug_line() {
        0 => location(value, LOCATION).map_or(0, |found| found.line()),
        line => line,
    }
}
