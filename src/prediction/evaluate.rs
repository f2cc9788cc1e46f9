//! Expressions of a kernel for one launch: affine forms and conditions, or why not.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, LoopId, Reason, parts};

use super::form::{Bounds, Form, Truth, block, counter, one_of, thread};
use super::interpret::{bits_of, bounds_of, combine, wrap};
use super::launch::Launch;
use super::throughout::holds_throughout;
use super::{laps, stepped, unrolled};
use warpline_profile::model::Addresses;

/// Most iterations that are looked at where the end of a loop has no closed form.
const MOST_STEPS: i64 = 1 << 16;
/// Iterations that a loop may have, until that is known.
const GUESSES: [i64; 3] = [1 << 12, 1 << 20, i32::MAX as i64];
/// Most iterations of a loop.
const MOST_ITERATIONS: i64 = 1 << 40;

/// What an expression is in a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number for each point.
    Form(Form),
    /// A condition.
    Truth(Truth),
    /// A number of one form or another, by conditions of which one holds at each point.
    Cases(Vec<(Truth, Form)>),
    /// A number that the indices give, but not an affine one.
    Computed,
    /// Not known before it runs.
    Lost(Lost),
}

/// Why a value is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    /// By the code, at a source line (0: unknown).
    Code(Reason, u32),
    /// So is the condition under which it is executed, and what the loops around it end by.
    Guard(Reason, u32),
    /// The launch has no value for a parameter.
    Parameter(u32, u32),
    /// It is the counter of a loop whose number of iterations is not known; its line.
    Loop(u32),
    /// It does not fit 64 bits, or divides by zero.
    Range,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lost::Code(reason, 0) => write!(f, "its address is {}", reason.text()),
            Lost::Code(reason, line) => write!(f, "its address is {} at line {line}", reason.text()),
            Lost::Guard(reason, 0) => write!(f, "whether it is executed depends on a value {}", reason.text()),
            Lost::Guard(reason, line) => {
                write!(f, "whether it is executed depends on a value {} at line {line}", reason.text())
            }
            Lost::Parameter(parameter, 0) => write!(f, "parameter {parameter} has no value"),
            Lost::Parameter(parameter, offset) => write!(f, "byte {offset} of parameter {parameter} has no value"),
            Lost::Loop(0) => f.write_str("the number of a loop's iterations is not known"),
            Lost::Loop(line) => write!(f, "the number of iterations of the loop at line {line} is not known"),
            Lost::Range => f.write_str("a number of its address leaves its range"),
        }
    }
}

/// All expressions of a kernel in one launch.
pub struct Evaluated {
    values: Vec<Value>,
    /// Ranges of all indices.
    pub bounds: Bounds,
    /// Of each loop: how many iterations any thread makes at most, and the condition for a thread to come to the iteration
    /// that the counter says.
    pub loops: Vec<Result<Option<Truth>, Lost>>,
    /// Of each loop: its end is no condition of forms, and differs from thread to thread ([`super::laps`]).
    pub by_thread: Vec<bool>,
}

impl Evaluated {
    /// Evaluates everything.
    pub fn new(addresses: &Addresses, launch: &Launch) -> Evaluated {
        let bounds = bounds_of(launch, addresses.loops.len());
        let none = vec![false; addresses.loops.len()];
        let loops = vec![Ok(None); addresses.loops.len()];
        let mut evaluated = Evaluated { values: Vec::new(), bounds, loops, by_thread: none };
        for lap in outer_first(addresses) {
            let entry = &addresses.loops[lap as usize];
            let mut found = Err(Lost::Loop(entry.line));
            // Whether numbers keep to their widths depends on how far the counter goes, which is guessed and then checked.
            for guess in GUESSES {
                evaluated.bounds.0[counter(lap)] = (0, guess);
                evaluated.fill(addresses, launch);
                let ends: Vec<Value> = entry.ends.iter().map(|&end| evaluated.end(addresses, lap, end)).collect();
                let ends: Vec<&Value> = ends.iter().collect();
                found = iterations(lap, entry.line, &ends, &evaluated.bounds);
                if matches!(found, Ok((most, _)) if most <= guess) || matches!(found, Err(Lost::Code(..))) {
                    break;
                }
            }
            let (most, reached) = match found {
                Ok((most, reached)) => (most, Ok(reached)),
                Err(lost) => {
                    evaluated.bounds.0[counter(lap)] = (0, 0);
                    let stepped = stepped::iterations(addresses, launch, lap);
                    evaluated.by_thread[lap as usize] = stepped.is_none();
                    match stepped.or_else(|| laps::most(addresses, launch, &evaluated, lap)) {
                        Some(most) => (most, Ok(None)),
                        None => (1, Err(lost)),
                    }
                }
            };
            evaluated.by_thread[lap as usize] &= reached.is_ok();
            evaluated.bounds.0[counter(lap)] = (0, most - 1);
            evaluated.loops[lap as usize] = reached;
        }
        evaluated.fill(addresses, launch);
        evaluated
    }

    /// The value of an expression.
    pub fn value(&self, id: ExpressionId) -> &Value {
        &self.values[id as usize]
    }

    /// Whether threads come to different last iterations of a loop, which is short enough to go through it for each of them.
    pub fn differs(&self, lap: LoopId) -> bool {
        let own = self.by_thread[lap as usize] || matches!(self.loops.get(lap as usize), Some(Ok(Some(_))));
        own && self.bounds.extent(counter(lap)) <= laps::MOST
    }

    /// What a loop ends by.
    fn end(&self, addresses: &Addresses, lap: LoopId, end: ExpressionId) -> Value {
        let unrolled = unrolled::end(addresses, &self.values, &self.bounds, lap, end);
        unrolled.map_or_else(|| self.value(end).clone(), Value::Truth)
    }

    fn fill(&mut self, addresses: &Addresses, launch: &Launch) {
        self.values.clear();
        for id in 0..addresses.expressions.len() {
            let value = node(addresses, launch, &self.values, &self.bounds, id);
            self.values.push(value);
        }
    }

    /// All expressions over a part of the launch, where more may be affine.
    pub fn narrowed(&self, addresses: &Addresses, launch: &Launch, bounds: Bounds) -> Evaluated {
        let mut found =
            Evaluated { values: Vec::new(), bounds, loops: self.loops.clone(), by_thread: self.by_thread.clone() };
        found.fill(addresses, launch);
        found
    }

    /// The value of an expression over a part of the launch, where more may be affine.
    pub fn within(addresses: &Addresses, launch: &Launch, bounds: &Bounds, id: ExpressionId) -> Value {
        let mut values = Vec::with_capacity(id as usize + 1);
        for id in 0..=id as usize {
            values.push(node(addresses, launch, &values, bounds, id));
        }
        values.pop().unwrap_or(Value::Computed)
    }
}

/// Loops in an order in which each comes behind those around it and those whose counters its ends use.
fn outer_first(addresses: &Addresses) -> Vec<LoopId> {
    let uses = |lap: LoopId| {
        let entry = &addresses.loops[lap as usize];
        let counters = parts(&addresses.expressions, entry.ends.iter().copied()).filter_map(|(_, kind)| match kind {
            ExpressionKind::Counter(other) => Some(other),
            _ => None,
        });
        counters.chain(entry.around.iter().copied()).filter(|other| *other != lap).collect::<Vec<_>>()
    };
    let mut left: Vec<(LoopId, Vec<LoopId>)> =
        (0..addresses.loops.len() as LoopId).map(|lap| (lap, uses(lap))).collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        // None waits for itself but in a table that is wrong.
        let next = left.iter().position(|(_, uses)| uses.iter().all(|other| found.contains(other))).unwrap_or(0);
        found.push(left.remove(next).0);
    }
    found
}

fn node(addresses: &Addresses, launch: &Launch, values: &[Value], bounds: &Bounds, id: usize) -> Value {
    let entry = addresses.expressions[id];
    let axis_size = |sizes: &[u32; 3], axis: u8| Form::number(i64::from(sizes[usize::from(axis).min(2)]));
    let of = |id: ExpressionId| &values[id as usize];
    let form = match entry.kind {
        ExpressionKind::Constant(number) if entry.bits == 1 => return Value::Truth(Truth::Known(number != 0)),
        ExpressionKind::Constant(number) => Form::number(number),
        ExpressionKind::Thread(axis) => single(thread(axis.into()), bounds),
        ExpressionKind::Block(axis) => single(block(axis.into()), bounds),
        ExpressionKind::BlockSize(axis) => axis_size(&launch.block, axis),
        ExpressionKind::GridSize(axis) => axis_size(&launch.grid, axis),
        ExpressionKind::Parameter { parameter, offset } => match launch.arguments.get(&(parameter, offset)) {
            Some(&value) if entry.bits == 1 => return Value::Truth(Truth::Known(value & 1 != 0)),
            Some(&value) => Form::number(wrap(value as i64, entry.bits)),
            None => return Value::Lost(Lost::Parameter(parameter, offset)),
        },
        ExpressionKind::Global(number) => match addresses.globals.iter().find(|one| one.number == number) {
            Some(variable) => Form::number(variable.address as i64),
            None => return Value::Lost(Lost::Code(Reason::Complex, 0)),
        },
        ExpressionKind::Shared(_) => Form::number(0),
        ExpressionKind::Counter(lap) => single(counter(lap), bounds),
        ExpressionKind::Binary(operation, left, right) if entry.bits == 1 => {
            return logic(operation, of(left), of(right));
        }
        ExpressionKind::Binary(operation, left, right) => {
            return pairs(of(left), of(right), bounds, |left, right| {
                binary(operation, left, right, entry.bits, entry.exact, bounds)
            });
        }
        ExpressionKind::Signed(inner) | ExpressionKind::Unsigned(inner) if let Value::Cases(cases) = of(inner) => {
            let bits = addresses.expressions[inner as usize].bits;
            let each = cases.iter().map(|(condition, form)| {
                let fits = match entry.kind {
                    ExpressionKind::Signed(_) => entry.bits >= bits || entry.exact,
                    _ => entry.exact || form.range(bounds).0 >= 0,
                };
                fits.then(|| (condition.clone(), Value::Form(form.clone())))
            });
            return each.collect::<Option<_>>().map_or(Value::Computed, |each| cases_of(each, bounds));
        }
        ExpressionKind::Signed(inner) => {
            let bits = addresses.expressions[inner as usize].bits;
            match of(inner) {
                Value::Form(form) if entry.bits >= bits || entry.exact => form.clone(),
                Value::Form(form) => return fitting(form.clone(), entry.bits, bounds),
                Value::Truth(Truth::Known(known)) => Form::number(-i64::from(*known)),
                Value::Lost(lost) => return Value::Lost(*lost),
                _ => return Value::Computed,
            }
        }
        ExpressionKind::Unsigned(inner) => match of(inner) {
            Value::Form(form) if entry.exact || form.range(bounds).0 >= 0 => form.clone(),
            Value::Form(form) => {
                let bits = addresses.expressions[inner as usize].bits;
                match form.as_number() {
                    Some(number) => Form::number(bits_of(number, bits) as i64),
                    None => return Value::Computed,
                }
            }
            Value::Truth(Truth::Known(known)) => Form::number(i64::from(*known)),
            Value::Lost(lost) => return Value::Lost(*lost),
            _ => return Value::Computed,
        },
        ExpressionKind::Compare(comparison, left, right) => {
            return comparing(comparison, of(left), of(right), addresses.expressions[left as usize].bits, bounds);
        }
        ExpressionKind::Choice(condition, one, other) => return choice(of(condition), of(one), of(other), bounds),
        ExpressionKind::Unknown(reason, line) => return Value::Lost(Lost::Code(reason, line)),
    };
    Value::Form(form)
}

/// An index, or its only value.
fn single(index: usize, bounds: &Bounds) -> Form {
    match bounds.of(index) {
        (low, high) if low == high => Form::number(low),
        _ => Form::index(index),
    }
}

/// A form that has to fit so many bits, as far as it does.
fn fitting(form: Form, bits: u8, bounds: &Bounds) -> Value {
    let limit = 1i128 << (u32::from(bits.clamp(1, 64)) - 1);
    match (form.as_number(), form.range(bounds)) {
        (Some(number), _) => Value::Form(Form::number(wrap(number, bits))),
        (_, (low, high)) if low >= -limit && high < limit => Value::Form(form),
        _ => Value::Computed,
    }
}

/// Values of a quotient that are told apart, at most.
const MOST_TURNS: i64 = 3;
/// Cases of a number, at most.
const MOST_CASES: usize = 8;

/// What `of` makes of two numbers, in each of their cases.
fn pairs(left: &Value, right: &Value, bounds: &Bounds, of: impl Fn(&Form, &Form) -> Result<Form, Value>) -> Value {
    let always = || Truth::Known(true);
    let (left, right) = match (left, right) {
        (Value::Form(left), Value::Form(right)) => return of(left, right).map_or_else(|value| value, Value::Form),
        (Value::Lost(lost), _) | (_, Value::Lost(lost)) => return Value::Lost(*lost),
        (Value::Form(left), Value::Cases(right)) => (vec![(always(), left.clone())], right.clone()),
        (Value::Cases(left), Value::Form(right)) => (left.clone(), vec![(always(), right.clone())]),
        (Value::Cases(left), Value::Cases(right)) => (left.clone(), right.clone()),
        _ => return Value::Computed,
    };
    let each = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    let found = each.map(|((one, left), (other, right))| {
        let both = Truth::All(vec![one.clone(), other.clone()]).within(bounds);
        (both, of(left, right).map_or_else(|value| value, Value::Form))
    });
    cases_of(found.collect(), bounds)
}

/// A number by cases that are values themselves.
fn cases_of(each: Vec<(Truth, Value)>, bounds: &Bounds) -> Value {
    let mut found: Vec<(Truth, Form)> = Vec::new();
    for (condition, value) in each.into_iter().filter(|(condition, _)| *condition != Truth::Known(false)) {
        match value {
            Value::Form(form) => found.push((condition, form)),
            Value::Cases(cases) => found.extend(cases.into_iter().filter_map(|(further, form)| {
                let both = Truth::All(vec![condition.clone(), further]).within(bounds);
                (both != Truth::Known(false)).then_some((both, form))
            })),
            Value::Lost(lost) => return Value::Lost(lost),
            Value::Truth(_) | Value::Computed => return Value::Computed,
        }
    }
    match found.first() {
        Some((_, first)) if found.iter().all(|(_, form)| form == first) => Value::Form(first.clone()),
        Some(_) if found.len() <= MOST_CASES => Value::Cases(found),
        _ => Value::Computed,
    }
}

fn binary(operation: Binary, left: &Form, right: &Form, bits: u8, exact: bool, bounds: &Bounds) -> Result<Form, Value> {
    let numbers = (left.as_number(), right.as_number());
    if let (Some(one), Some(two)) = numbers {
        return combine(operation, one, two, bits).map(Form::number).ok_or(Value::Lost(Lost::Range));
    }
    let (low, _) = left.range(bounds);
    let form = match (operation, numbers) {
        (Binary::Sum, _) => left.plus(right, 1),
        (Binary::Difference, _) => left.plus(right, -1),
        (Binary::Product, (_, Some(factor))) => left.times(factor),
        (Binary::Product, (Some(factor), _)) => right.times(factor),
        (Binary::ShiftLeft, (_, Some(by))) if (0..63).contains(&by) => left.times(1 << by),
        (Binary::And, (_, Some(mask))) if low >= 0 => return masked(left, mask, bounds),
        (Binary::Or | Binary::Xor, _) => Some(joined(left, right, bounds).ok_or(Value::Computed)?),
        (Binary::UnsignedRemainder | Binary::SignedRemainder, (_, Some(by))) if low >= 0 && by > 0 => {
            return remainder(left, by, bounds).map_err(|value| by_quotient(left, by, bounds, true).unwrap_or(value));
        }
        (Binary::UnsignedQuotient | Binary::SignedQuotient, (_, Some(by))) if low >= 0 && by > 0 => {
            return quotient(left, by, bounds).map_err(|value| by_quotient(left, by, bounds, false).unwrap_or(value));
        }
        (Binary::UnsignedShiftRight | Binary::SignedShiftRight, (_, Some(by))) if low >= 0 && (0..63).contains(&by) => {
            return quotient(left, 1 << by, bounds);
        }
        (Binary::SignedLeast | Binary::UnsignedLeast, _) => return least(left, right, operation, bounds, false),
        (Binary::SignedGreatest | Binary::UnsignedGreatest, _) => return least(left, right, operation, bounds, true),
        _ => return Err(Value::Computed),
    };
    let form = form.ok_or(Value::Lost(Lost::Range))?;
    if exact || bits == 64 {
        return Ok(form);
    }
    match fitting(form, bits, bounds) {
        Value::Form(form) => Ok(form),
        other => Err(other),
    }
}

/// A quotient is affine where the divisor divides all factors and the rest never carries.
fn quotient(form: &Form, by: i64, bounds: &Bounds) -> Result<Form, Value> {
    let (divided, rest): (Vec<_>, Vec<_>) = form.terms.iter().partition(|(_, factor)| factor % by == 0);
    let left = Form { constant: form.constant.rem_euclid(by), terms: rest };
    let (low, high) = left.range(bounds);
    if low < 0 || high >= by.into() {
        return Err(Value::Computed);
    }
    let terms = divided.into_iter().map(|(index, factor)| (index, factor / by)).collect();
    Ok(Form { constant: form.constant.div_euclid(by), terms })
}

/// What a quotient leaves, where that is affine.
fn remainder(form: &Form, by: i64, bounds: &Bounds) -> Result<Form, Value> {
    form.plus(&quotient(form, by, bounds)?, -by).ok_or(Value::Lost(Lost::Range))
}

/// A remainder or quotient by the few values that the quotient has, as of `(x + 1) % n`, which begins again once.
fn by_quotient(form: &Form, by: i64, bounds: &Bounds, remainder: bool) -> Option<Value> {
    let (low, high) = form.range(bounds);
    let (first, last) = (i64::try_from(low / i128::from(by)).ok()?, i64::try_from(high / i128::from(by)).ok()?);
    if last - first >= MOST_TURNS {
        return None;
    }
    let each = (first..=last).map(|quotient| {
        let rest = form.plus(&Form::number(quotient), -by)?;
        let below = Form::number(by - 1).plus(&rest, -1)?;
        let condition = Truth::All(vec![Truth::AtLeast(rest.clone()), Truth::AtLeast(below)]).within(bounds);
        Some((condition, if remainder { rest } else { Form::number(quotient) }))
    });
    Some(Value::Cases(each.collect::<Option<_>>()?))
}

/// Bits of a number that is not negative: those of a mask without a gap, or all but the lowest ones.
fn masked(form: &Form, mask: i64, bounds: &Bounds) -> Result<Form, Value> {
    let lowest = 1i64.checked_shl(mask.trailing_zeros()).filter(|&lowest| lowest > 0).ok_or(Value::Computed)?;
    let upper = match mask {
        0.. => match mask.checked_add(lowest) {
            Some(end) if end & (end - 1) == 0 => remainder(form, end, bounds)?,
            _ => return Err(Value::Computed),
        },
        _ if mask == -lowest => form.clone(),
        _ => return Err(Value::Computed),
    };
    upper.plus(&remainder(form, lowest, bounds)?, -1).ok_or(Value::Lost(Lost::Range))
}

/// The sum of two numbers that have no bit in common, as one has only bits below the lowest one of the other.
fn joined(left: &Form, right: &Form, bounds: &Bounds) -> Option<Form> {
    let below = |low: &Form, high: &Form| {
        let bits = high.terms.iter().fold(high.constant, |bits, (_, factor)| bits | factor).trailing_zeros();
        let (least, most) = low.range(bounds);
        least >= 0 && most < 1i128 << bits && high.range(bounds).0 >= 0
    };
    if below(left, right) || below(right, left) { left.plus(right, 1) } else { None }
}

fn least(left: &Form, right: &Form, operation: Binary, bounds: &Bounds, greatest: bool) -> Result<Form, Value> {
    let natural = matches!(operation, Binary::UnsignedLeast | Binary::UnsignedGreatest);
    if natural && (left.range(bounds).0 < 0 || right.range(bounds).0 < 0) {
        return Err(Value::Computed);
    }
    let distance = right.plus(left, -1).ok_or(Value::Lost(Lost::Range))?;
    match distance.range(bounds) {
        (low, _) if low >= 0 => Ok(if greatest { right } else { left }.clone()),
        (_, high) if high <= 0 => Ok(if greatest { left } else { right }.clone()),
        _ => {
            let (above, below) = if greatest { (right, left) } else { (left, right) };
            let rises = Truth::AtLeast(distance);
            Err(Value::Cases(vec![(rises.clone(), above.clone()), (rises.opposite(), below.clone())]))
        }
    }
}

fn logic(operation: Binary, left: &Value, right: &Value) -> Value {
    let known = |value: &Value| match value {
        Value::Truth(Truth::Known(known)) => Some(*known),
        _ => None,
    };
    match (operation, known(left), known(right)) {
        (Binary::And, Some(false), _) | (Binary::And, _, Some(false)) => return Value::Truth(Truth::Known(false)),
        (Binary::Or, Some(true), _) | (Binary::Or, _, Some(true)) => return Value::Truth(Truth::Known(true)),
        (Binary::And, Some(true), _) | (Binary::Or | Binary::Xor, Some(false), _) => return right.clone(),
        (Binary::And, _, Some(true)) | (Binary::Or | Binary::Xor, _, Some(false)) => return left.clone(),
        _ => {}
    }
    match (left, right) {
        (Value::Truth(left), Value::Truth(right)) => match operation {
            Binary::And => Value::Truth(Truth::All(vec![left.clone(), right.clone()])),
            Binary::Or => Value::Truth(Truth::Any(vec![left.clone(), right.clone()])),
            Binary::Xor if *right == Truth::Known(true) => Value::Truth(left.clone().opposite()),
            Binary::Xor if *left == Truth::Known(true) => Value::Truth(right.clone().opposite()),
            _ => Value::Computed,
        },
        (Value::Lost(lost), _) | (_, Value::Lost(lost)) => Value::Lost(*lost),
        _ => Value::Computed,
    }
}

fn comparing(comparison: Comparison, left: &Value, right: &Value, bits: u8, bounds: &Bounds) -> Value {
    let cases = |value: &Value| match value {
        Value::Form(form) => vec![(Truth::Known(true), form.clone())],
        Value::Cases(cases) => cases.clone(),
        _ => Vec::new(),
    };
    let (left, right) = match (left, right) {
        (Value::Form(left), Value::Form(right)) => (left, right),
        (Value::Lost(lost), _) | (_, Value::Lost(lost)) => return Value::Lost(*lost),
        (Value::Cases(_), Value::Form(_) | Value::Cases(_)) | (Value::Form(_), Value::Cases(_)) => {
            let mut any = Vec::new();
            for (one, left) in cases(left) {
                for (other, right) in cases(right) {
                    let (left, right) = (Value::Form(left.clone()), Value::Form(right));
                    match comparing(comparison, &left, &right, bits, bounds) {
                        Value::Truth(truth) => any.push(Truth::All(vec![one.clone(), other, truth])),
                        value => return value,
                    }
                }
            }
            return Value::Truth(Truth::Any(any).within(bounds));
        }
        (Value::Truth(Truth::Known(one)), Value::Truth(Truth::Known(two))) => {
            let holds = super::interpret::compare(comparison, -i64::from(*one), -i64::from(*two), 1);
            return Value::Truth(Truth::Known(holds));
        }
        _ => return Value::Computed,
    };
    let apart = |more: &Form, less: &Form, by: i64| {
        let form = more.plus(less, -1).and_then(|form| form.plus(&Form::number(1), -by));
        form.map_or(Value::Lost(Lost::Range), |form| Value::Truth(Truth::AtLeast(form)))
    };
    let natural = |form: &Form| form.range(bounds).0 >= 0;
    let found = match comparison {
        Comparison::Equal | Comparison::NotEqual => {
            let Some(form) = left.plus(right, -1) else { return Value::Lost(Lost::Range) };
            // Where a number is not negative, to be 0 is to be no more, which can be cut along an axis.
            let zero = match form.range(bounds) {
                (0, _) => form.times(-1).map_or_else(|| Truth::Zero(form.clone()), Truth::AtLeast),
                (_, 0) => Truth::AtLeast(form),
                _ => Truth::Zero(form),
            };
            Value::Truth(if comparison == Comparison::Equal { zero } else { zero.opposite() })
        }
        Comparison::SignedLess => apart(right, left, 1),
        Comparison::SignedLessEqual => apart(right, left, 0),
        Comparison::UnsignedLess | Comparison::UnsignedLessEqual => {
            let by = i64::from(comparison == Comparison::UnsignedLess);
            match (left.as_number(), right.as_number()) {
                (Some(one), Some(two)) => {
                    let holds = super::interpret::compare(comparison, one, two, bits);
                    Value::Truth(Truth::Known(holds))
                }
                _ if natural(left) && natural(right) => apart(right, left, by),
                // A negative number is a large one.
                _ if natural(right) => match apart(right, left, by) {
                    Value::Truth(below) => Value::Truth(Truth::All(vec![Truth::AtLeast(left.clone()), below])),
                    other => other,
                },
                _ => Value::Computed,
            }
        }
    };
    match found {
        Value::Truth(truth) => Value::Truth(truth.within(bounds)),
        other => other,
    }
}

fn choice(condition: &Value, one: &Value, other: &Value, bounds: &Bounds) -> Value {
    match condition {
        _ if one == other => one.clone(),
        Value::Truth(truth) => match truth.over(bounds) {
            Some(true) => one.clone(),
            Some(false) => other.clone(),
            None => match (one, other) {
                // `a ? true : b` and the like are what the compiler makes of `a || b`.
                (Value::Truth(one), Value::Truth(other)) => {
                    let (is, not) = (truth.clone(), truth.clone().opposite());
                    Value::Truth(match (one, other) {
                        (Truth::Known(true), other) => Truth::Any(vec![is, other.clone()]),
                        (Truth::Known(false), other) => Truth::All(vec![not, other.clone()]),
                        (one, Truth::Known(false)) => Truth::All(vec![is, one.clone()]),
                        (one, Truth::Known(true)) => Truth::Any(vec![not, one.clone()]),
                        (one, other) => {
                            let sides = [Truth::All(vec![is, one.clone()]), Truth::All(vec![not, other.clone()])];
                            Truth::Any(sides.to_vec())
                        }
                    })
                }
                (Value::Lost(lost), _) | (_, Value::Lost(lost)) => Value::Lost(*lost),
                (Value::Form(one), Value::Form(form)) if equal_where(truth, one, form, bounds) => other.clone(),
                (Value::Form(_) | Value::Cases(_), Value::Form(_) | Value::Cases(_)) => {
                    let sides = [(truth.clone(), one.clone()), (truth.clone().opposite(), other.clone())];
                    cases_of(sides.to_vec(), bounds)
                }
                _ => Value::Computed,
            },
        },
        Value::Lost(lost) => Value::Lost(*lost),
        _ => Value::Computed,
    }
}

/// Whether two forms are equal wherever a condition holds: it says that a number is 0, and they differ by a multiple of it. So is
/// what an iteration took over from the one before, and the first one from before the loop.
fn equal_where(truth: &Truth, one: &Form, other: &Form, bounds: &Bounds) -> bool {
    let zero = match truth {
        Truth::Zero(form) => form,
        Truth::AtLeast(form) if form.range(bounds).1 == 0 => form,
        _ => return false,
    };
    let (Some(apart), Some(&(index, factor))) = (other.plus(one, -1), zero.terms.first()) else { return false };
    let by = apart.factor(index) / factor;
    zero.times(by).is_some_and(|multiple| multiple == apart)
}

/// How many iterations a loop has at most, and the condition for reaching the one that its counter says.
fn iterations(lap: LoopId, line: u32, ends: &[&Value], bounds: &Bounds) -> Result<(i64, Option<Truth>), Lost> {
    let index = counter(lap);
    let mut most = None;
    let mut reached = Vec::new();
    for end in ends {
        let truth = match end {
            Value::Truth(truth) => truth,
            Value::Lost(lost) => return Err(*lost),
            _ => return Err(Lost::Loop(line)),
        };
        if let Some((latest, before)) = counted_down(truth, index, bounds) {
            most = Some(most.map_or(latest, |most: i64| most.min(latest)));
            reached.push(before);
            continue;
        }
        let passed;
        let truth = match truth {
            Truth::All(_) | Truth::Any(_) => {
                passed = passing(truth, index);
                &passed
            }
            one => one,
        };
        let (latest, uniform) = latest_end(truth, index, bounds).ok_or(Lost::Loop(line))?;
        most = Some(most.map_or(latest, |most: i64| most.min(latest)));
        if !uniform || ends.len() > 1 {
            // It did not end in the iteration before this one. Conditions like `i >= n` stay true once they are, so that
            // no earlier one has to be looked at.
            let before = truth.map(&|form| form.shifted(index, -1)).ok_or(Lost::Range)?;
            let first = Truth::Zero(Form::index(index));
            reached.push(Truth::Any(vec![first, before.opposite()]));
        }
    }
    let most = most.filter(|most| *most < MOST_ITERATIONS).ok_or(Lost::Loop(line))?;
    let reached = if reached.is_empty() { None } else { Some(one_of(reached, Truth::All)) };
    Ok((most + 1, reached))
}

/// Of a loop that ends where its counter comes to a number that differs from thread to thread: the last iteration of any, and the
/// condition for reaching the one that the counter says. Threads whose number is below 0 do not come to such a loop.
fn counted_down(truth: &Truth, index: usize, bounds: &Bounds) -> Option<(i64, Truth)> {
    let Truth::Zero(form) = truth else { return None };
    let left = match form.factor(index) {
        1 => form.times(-1)?,
        -1 => form.clone(),
        _ => return None,
    };
    let rest = left.at(index, 0)?;
    if rest.terms.is_empty() {
        return None;
    }
    let latest = i64::try_from(rest.range(bounds).1).ok().filter(|latest| *latest >= 0)?;
    Some((latest, Truth::AtLeast(left)))
}

/// The last iteration in which a loop ends by a condition, over all threads, and whether it is the same for all.
fn latest_end(truth: &Truth, index: usize, bounds: &Bounds) -> Option<(i64, bool)> {
    let mut uniform = true;
    truth.forms(&mut |form| uniform &= form.terms.iter().all(|term| term.0 == index));
    if let Truth::AtLeast(form) = truth {
        let factor = form.factor(index);
        let rest = form.at(index, 0)?;
        // The latest is where the rest is smallest.
        let (low, _) = rest.range(bounds);
        let low = i64::try_from(low).ok()?;
        return match (low, factor) {
            (0.., _) => Some((0, uniform)),
            (_, 1..) => Some(((-low).checked_add(factor - 1)? / factor, uniform)),
            _ => None,
        };
    }
    if !uniform {
        return first_throughout(truth, index, bounds).map(|step| (step, false));
    }
    if let Truth::Zero(form) = truth {
        let factor = form.factor(index);
        if factor == 0 {
            return (form.constant == 0).then_some((0, true));
        }
        let at = -form.constant / factor;
        return (form.constant % factor == 0 && at >= 0).then_some((at, true));
    }
    let mut at = bounds.clone();
    for step in 0..MOST_STEPS {
        at.0[index] = (step, step);
        if truth.over(&at) == Some(true) {
            return Some((step, true));
        }
    }
    None
}

/// A condition in whose parts a counter comes to a number step by step, each of them taken to hold from there on: a loop that ends by it is not gone
/// on with behind.
fn passing(truth: &Truth, index: usize) -> Truth {
    match truth {
        Truth::Zero(form) => match form.factor(index) {
            1 => Truth::AtLeast(form.clone()),
            -1 => form.times(-1).map_or_else(|| truth.clone(), Truth::AtLeast),
            _ => truth.clone(),
        },
        Truth::All(parts) => Truth::All(parts.iter().map(|part| passing(part, index)).collect()),
        Truth::Any(parts) => Truth::Any(parts.iter().map(|part| passing(part, index)).collect()),
        other => other.clone(),
    }
}

/// The first iteration in which all threads are at the end of a loop, as where each side of a clamp has an end of its own; once they are, they
/// stay so.
fn first_throughout(truth: &Truth, index: usize, bounds: &Bounds) -> Option<i64> {
    let all_end = |step: i64| {
        let here = truth.map(&|form| form.at(index, step));
        here.is_some_and(|here| holds_throughout(&here, bounds))
    };
    let (mut before, mut found) = (-1, 0);
    while !all_end(found) {
        (before, found) = (found, 2 * found + 1);
        if found > MOST_STEPS {
            return None;
        }
    }
    while found - before > 1 {
        let middle = before + (found - before) / 2;
        if all_end(middle) { found = middle } else { before = middle }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use warpline_format::expression::Expression;

    use super::*;
    use crate::interpret::Interpreter;

    /// Operations and the operands they take, as steps back among what there is.
    fn steps() -> impl Strategy<Value = Vec<(u8, usize, usize, i64)>> {
        prop::collection::vec((0u8..10, 0usize..6, 0usize..6, -9i64..40), 1..9)
    }

    /// Expressions over `threadIdx.x`, `blockIdx.x` and numbers, each made of earlier ones.
    fn code(steps: &[(u8, usize, usize, i64)]) -> Vec<Expression> {
        let mut all: Vec<Expression> = Vec::new();
        let mut node = |bits, kind| {
            all.push(Expression { bits, exact: false, kind });
            all.len() as ExpressionId - 1
        };
        let mut numbers = vec![node(32, ExpressionKind::Thread(0)), node(32, ExpressionKind::Block(0))];
        for &(operation, one, other, number) in steps {
            let back = |by: usize| numbers[numbers.len() - 1 - by % numbers.len()];
            let (one, other) = (back(one), back(other));
            let number = node(32, ExpressionKind::Constant(number));
            let by = node(32, ExpressionKind::Constant(8));
            let holds = node(1, ExpressionKind::Compare(Comparison::SignedLess, one, number));
            numbers.push(match operation {
                0 => node(32, ExpressionKind::Binary(Binary::Sum, one, other)),
                1 => node(32, ExpressionKind::Binary(Binary::Difference, one, other)),
                2 => node(32, ExpressionKind::Binary(Binary::Product, one, number)),
                3 => node(32, ExpressionKind::Binary(Binary::SignedLeast, one, number)),
                4 => node(32, ExpressionKind::Binary(Binary::SignedGreatest, one, other)),
                5 => node(32, ExpressionKind::Choice(holds, one, other)),
                6 => node(32, ExpressionKind::Binary(Binary::SignedRemainder, one, by)),
                7 => node(32, ExpressionKind::Binary(Binary::UnsignedQuotient, one, by)),
                8 => node(32, ExpressionKind::Binary(Binary::And, one, number)),
                _ => node(32, ExpressionKind::Binary(Binary::Or, one, number)),
            });
        }
        all
    }

    proptest! {
        /// What is a form, a condition or has cases is at each point what the interpreter says.
        #[test]
        fn values_are_those_of_the_interpreter(steps in steps(), block in 1u32..40, grid in 1u32..5) {
            let launch = Launch::new([block, 1, 1], [grid, 1, 1], BTreeMap::new());
            let addresses = Addresses { expressions: code(&steps), ..Addresses::default() };
            let evaluated = Evaluated::new(&addresses, &launch);
            let all = 0..addresses.expressions.len() as ExpressionId;
            let mut interpreter = Interpreter::new(&addresses, &launch, all.clone());
            for linear in 0..launch.blocks() {
                for number in 0..launch.threads() {
                    let at: Vec<i64> = launch.thread(number).into_iter().chain(launch.place(linear)).collect();
                    interpreter.set(&at);
                    let here = Bounds(at.iter().map(|&at| (at, at)).collect());
                    for id in all.clone() {
                        let want = interpreter.value(id);
                        match evaluated.value(id) {
                            Value::Form(form) => prop_assert_eq!(Some(form.range(&here).0 as i64), want),
                            Value::Truth(truth) => prop_assert_eq!(truth.over(&here).map(|holds| -i64::from(holds)), want),
                            Value::Cases(cases) => {
                                let holding: Vec<_> = cases.iter().filter(|(case, _)| case.over(&here) == Some(true)).collect();
                                prop_assert_eq!(holding.len(), 1, "{:?}", cases);
                                prop_assert_eq!(Some(holding[0].1.range(&here).0 as i64), want);
                            }
                            Value::Computed | Value::Lost(_) => {}
                        }
                    }
                }
            }
        }
    }
}
