//! Evaluates the expressions of a kernel for one launch, and solves the end conditions of its loops.

use warpline_format::expression::{ExpressionId, ExpressionKind, LoopId, parts};

use super::evaluated::Evaluated;
use super::form::{Bounds, Form, Truth, counter, one_of};
use super::interpret::bounds_of;
use super::launch::Launch;
use super::throughout::is_true_throughout;
use super::value::{Lost, Value};
use super::{trip_counts, unrolled};
use warpline_profile::model::Addresses;

/// Maximum number of iterations that are evaluated one by one if the end of a loop has no closed form.
const MOST_STEPS: i64 = 1 << 16;
/// Assumed trip counts that are tried until the actual trip count is known.
const GUESSES: [i64; 3] = [1 << 12, 1 << 20, i32::MAX as i64];
/// Maximum trip count of a loop.
const MOST_ITERATIONS: i64 = 1 << 40;

impl Evaluated {
    /// Evaluates all expressions and the ends of all loops.
    pub fn new(addresses: &Addresses, launch: &Launch) -> Evaluated {
        let bounds = bounds_of(launch, addresses.loops.len());
        let none = vec![false; addresses.loops.len()];
        let loops = vec![Ok(None); addresses.loops.len()];
        let mut evaluated = Evaluated { values: Vec::new(), bounds, loops, by_thread: none };
        for loop_id in outer_first(addresses) {
            let entry = &addresses.loops[loop_id as usize];
            let mut found = Err(Lost::Loop(entry.line));
            // Whether numbers overflow depends on the range of the counter. The range is first guessed and then
            // checked.
            for guess in GUESSES {
                evaluated.bounds.0[counter(loop_id)] = (0, guess);
                evaluated.fill(addresses, launch);
                let ends: Vec<Value> = entry.ends.iter().map(|&end| evaluated.end(addresses, loop_id, end)).collect();
                let ends: Vec<&Value> = ends.iter().collect();
                found = iterations(loop_id, entry.line, &ends, &evaluated.bounds);
                if matches!(found, Ok((most, _)) if most <= guess) || matches!(found, Err(Lost::Code(..))) {
                    break;
                }
            }
            let (most, reached) = match found {
                Ok((most, reached)) => (most, Ok(reached)),
                Err(lost) => {
                    evaluated.bounds.0[counter(loop_id)] = (0, 0);
                    evaluated.by_thread[loop_id as usize] = !trip_counts::is_uniform(addresses, loop_id);
                    match trip_counts::longest(addresses, launch, &evaluated, loop_id) {
                        Some(most) => (most, Ok(None)),
                        None => (1, Err(lost)),
                    }
                }
            };
            evaluated.by_thread[loop_id as usize] &= reached.is_ok();
            evaluated.bounds.0[counter(loop_id)] = (0, most - 1);
            evaluated.loops[loop_id as usize] = reached;
        }
        evaluated.fill(addresses, launch);
        evaluated
    }

    /// Returns the condition that ends a loop.
    fn end(&self, addresses: &Addresses, loop_id: LoopId, end: ExpressionId) -> Value {
        let unrolled = unrolled::end(addresses, &self.values, &self.bounds, loop_id, end);
        unrolled.map_or_else(|| self.value(end).clone(), Value::Truth)
    }
}

/// Returns loops in an order in which each loop follows the loops around it and the loops whose counters its end
/// conditions use.
fn outer_first(addresses: &Addresses) -> Vec<LoopId> {
    let uses = |loop_id: LoopId| {
        let entry = &addresses.loops[loop_id as usize];
        let counters = parts(&addresses.expressions, entry.ends.iter().copied()).filter_map(|(_, kind)| match kind {
            ExpressionKind::Counter(other) => Some(other),
            _ => None,
        });
        counters.chain(entry.around.iter().copied()).filter(|other| *other != loop_id).collect::<Vec<_>>()
    };
    let mut left: Vec<(LoopId, Vec<LoopId>)> =
        (0..addresses.loops.len() as LoopId).map(|loop_id| (loop_id, uses(loop_id))).collect();
    let mut found = Vec::new();
    while !left.is_empty() {
        // Only an invalid table contains cyclic dependencies.
        let next = left.iter().position(|(_, uses)| uses.iter().all(|other| found.contains(other))).unwrap_or(0);
        found.push(left.remove(next).0);
    }
    found
}

/// Returns the maximum trip count of a loop, and the condition for reaching the iteration given by the counter.
fn iterations(loop_id: LoopId, line: u32, ends: &[&Value], bounds: &Bounds) -> Result<(i64, Option<Truth>), Lost> {
    let index = counter(loop_id);
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
            // The loop did not end in the previous iteration. Conditions like `i >= n` stay true, so earlier iterations
            // need not be checked.
            let before = truth.map(&|form| form.shifted(index, -1)).ok_or(Lost::Range)?;
            let first = Truth::Zero(Form::index(index));
            reached.push(Truth::Any(vec![first, before.opposite()]));
        }
    }
    let most = most.filter(|most| *most < MOST_ITERATIONS).ok_or(Lost::Loop(line))?;
    let reached = if reached.is_empty() { None } else { Some(one_of(reached, Truth::All)) };
    Ok((most + 1, reached))
}

/// Handles a loop that ends when its counter reaches a number that differs between threads. Returns the last iteration
/// of any thread, and the condition for reaching the iteration given by the counter. Threads whose number is below 0 do
/// not reach such a loop.
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

/// Returns the last iteration, over all threads, in which a condition ends a loop, and whether it is the same for all
/// threads.
fn latest_end(truth: &Truth, index: usize, bounds: &Bounds) -> Option<(i64, bool)> {
    let mut uniform = true;
    truth.forms(&mut |form| uniform &= form.terms.iter().all(|term| term.0 == index));
    if let Truth::AtLeast(form) = truth {
        let factor = form.factor(index);
        let rest = form.at(index, 0)?;
        // The latest iteration is the one in which the other terms have their minimum.
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

/// Returns a condition in which each equality with the counter is replaced by an inequality that stays true in later
/// iterations. A loop that ends by the condition does not continue after it.
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

/// Returns the first iteration in which the end condition is true for all threads and stays true. An example is a clamp
/// whose two sides have different ends.
fn first_throughout(truth: &Truth, index: usize, bounds: &Bounds) -> Option<i64> {
    let all_end = |step: i64| {
        let here = truth.map(&|form| form.at(index, step));
        here.is_some_and(|here| is_true_throughout(&here, bounds))
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
    use warpline_format::expression::{Binary, Comparison, Expression};

    use super::*;
    use crate::warp_interpreter::WarpInterpreter;

    /// Generates operations with their operands. Operands are given as distances back in the list of existing
    /// expressions.
    fn steps() -> impl Strategy<Value = Vec<(u8, usize, usize, i64)>> {
        prop::collection::vec((0u8..10, 0usize..6, 0usize..6, -9i64..40), 1..9)
    }

    /// Builds expressions over `threadIdx.x`, `blockIdx.x` and constants, each made of earlier expressions.
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
        /// Compares forms, conditions and cases with the interpreter's value at each point.
        #[test]
        fn values_are_those_of_the_interpreter(steps in steps(), block in 1u32..40, grid in 1u32..5) {
            let launch = Launch::new([block, 1, 1], [grid, 1, 1], BTreeMap::new());
            let addresses = Addresses { expressions: code(&steps), ..Addresses::default() };
            let evaluated = Evaluated::new(&addresses, &launch);
            let all = 0..addresses.expressions.len() as ExpressionId;
            let mut interpreter = WarpInterpreter::new(&addresses, &launch, all.clone(), &[]);
            for linear in 0..launch.blocks() {
                for number in 0..launch.threads() {
                    let at: Vec<i64> = launch.thread(number).into_iter().chain(launch.place(linear)).collect();
                    interpreter.set_thread(&at);
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
