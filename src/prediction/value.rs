//! The value of an expression in one launch: an affine form, a condition, forms by cases, or another kind.

use warpline_format::expression::{Binary, Comparison, ExpressionId, ExpressionKind, Reason};

use super::form::{Bounds, Form, Truth, block, counter, thread};
use super::interpret::{bits_of, combine, compare, wrap};
use super::launch::Launch;
use warpline_profile::model::Addresses;

/// The value of an expression in a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An affine number.
    Form(Form),
    /// A condition.
    Truth(Truth),
    /// A number with several forms, each with a condition. Exactly one condition is true at each point.
    Cases(Vec<(Truth, Form)>),
    /// A number that depends on the indices but is not affine.
    Computed,
    /// The value is unknown before the kernel runs.
    Lost(Lost),
}

/// Reasons why a value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lost {
    /// The code makes it unknown, at a source line (0 if the line is unknown).
    Code(Reason, u32),
    /// The condition under which it is executed, or the end of a loop around it, is also unknown.
    Guard(Reason, u32),
    /// The launch has no value for a parameter (number and offset).
    Parameter(u32, u32),
    /// It is the counter of a loop with an unknown trip count. Contains the source line.
    Loop(u32),
    /// It does not fit into 64 bits, or is divided by zero.
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
            Lost::Range => f.write_str("a number in its address exceeds its range"),
        }
    }
}

/// Returns the value of an expression, given the values of the preceding expressions.
pub fn node(addresses: &Addresses, launch: &Launch, values: &[Value], bounds: &Bounds, id: usize) -> Value {
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
        ExpressionKind::Counter(loop_id) => single(counter(loop_id), bounds),
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

/// Returns the form of an index, or its only value as a number.
fn single(index: usize, bounds: &Bounds) -> Form {
    match bounds.range(index) {
        (low, high) if low == high => Form::number(low),
        _ => Form::index(index),
    }
}

/// Returns a form if it fits into this many bits.
fn fitting(form: Form, bits: u8, bounds: &Bounds) -> Value {
    let limit = 1i128 << (u32::from(bits.clamp(1, 64)) - 1);
    match (form.as_number(), form.range(bounds)) {
        (Some(number), _) => Value::Form(Form::number(wrap(number, bits))),
        (_, (low, high)) if low >= -limit && high < limit => Value::Form(form),
        _ => Value::Computed,
    }
}

/// Maximum number of quotient values that are distinguished.
const MOST_TURNS: i64 = 3;
/// Maximum number of cases of a number.
const MOST_CASES: usize = 8;

/// Applies `of` to two numbers, for each combination of their cases.
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

/// Returns a number whose cases are values.
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

/// Returns a quotient if it is affine. This requires that the divisor divides all factors and that the remainder never
/// carries.
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

/// Returns the remainder of a quotient, if it is affine.
fn remainder(form: &Form, by: i64, bounds: &Bounds) -> Result<Form, Value> {
    form.plus(&quotient(form, by, bounds)?, -by).ok_or(Value::Lost(Lost::Range))
}

/// Returns a remainder or quotient by cases if the quotient has only a few values, as in `(x + 1) % n`, which wraps
/// around once.
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

/// Returns the selected bits of a number that is not negative, for a mask that is contiguous or clears only the lowest
/// bits.
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

/// Returns the sum of two numbers without common bits: one has only bits below the lowest bit of the other.
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
            let holds = compare(comparison, -i64::from(*one), -i64::from(*two), 1);
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
            // If a number is never negative, `x == 0` is equivalent to `x <= 0`, by which an axis can be cut.
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
                    let holds = compare(comparison, one, two, bits);
                    Value::Truth(Truth::Known(holds))
                }
                _ if natural(left) && natural(right) => apart(right, left, by),
                // As an unsigned number, a negative number is large.
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
                // The compiler turns `a || b` into `a ? true : b` and similar expressions.
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

/// Returns whether two forms are equal wherever a condition is true. The condition then states that a number is 0, and
/// the forms differ by a multiple of that number. An example is a value that an iteration takes over from the previous
/// one, and the first iteration from before the loop.
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
