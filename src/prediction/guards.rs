//! Conditions under which sites are executed.

use warpline_format::expression::{AddressExpression, Binary, ExpressionId, ExpressionKind};

use super::evaluated::Evaluated;
use super::form::{Bounds, FIXED, Form, Truth, one_of};
use super::value::{Lost, Value};
use warpline_profile::model::Addresses;

/// Returns the condition under which a site is executed in the iterations that its loops reach; `None` if it is not
/// affine.
pub fn condition(
    addresses: &Addresses,
    evaluated: &Evaluated,
    site: &AddressExpression,
) -> Result<Option<Truth>, Lost> {
    // If a guard is never true, the unknown trip count of a loop without iterations does not matter.
    if let Some(Value::Truth(truth)) = site.guard.map(|guard| evaluated.value(guard))
        && truth.over(&evaluated.bounds) == Some(false)
    {
        return Ok(Some(Truth::Known(false)));
    }
    let mut parts = laps_reached(addresses, evaluated, site)?;
    if site.loops.iter().any(|&loop_id| evaluated.by_thread[loop_id as usize]) {
        return Ok(None);
    }
    let guard = match site.guard.map(|guard| evaluated.value(guard)) {
        None => None,
        Some(Value::Truth(truth)) if differs(evaluated, truth, site) => return Ok(None),
        Some(Value::Truth(truth)) => {
            let settled = truth.map(&|form| settled(addresses, evaluated, form, site).ok());
            Some(settled.ok_or(Lost::Loop(0))?)
        }
        Some(Value::Lost(lost)) => return Err(of_guard(*lost)),
        Some(_) => return Ok(None),
    };
    for reached in &mut parts {
        without_first(reached, guard.as_ref().unwrap_or(&Truth::Known(true)), &evaluated.bounds);
    }
    parts.extend(guard);
    Ok(Some(one_of(parts, Truth::All)))
}

/// Simplifies "in the first iteration, or if the loop continues" to "if the loop continues". This is valid if all
/// threads continue in the first iteration or a guard ensures it, as for a loop that may have no iteration. Footprints
/// can be cut by the simplified condition.
fn without_first(reached: &mut Truth, guard: &Truth, bounds: &Bounds) {
    let Truth::Any(parts) = &*reached else { return };
    let [Truth::Zero(first), goes_on @ Truth::AtLeast(form)] = &parts[..] else { return };
    let &[(index, 1)] = &first.terms[..] else { return };
    let Some(at_first) = form.at(index, 0).filter(|_| index >= FIXED && first.constant == 0) else { return };
    let says_so = |part: &Truth| matches!(part, Truth::AtLeast(own) if own.terms == at_first.terms && own.constant <= at_first.constant);
    let said = match guard {
        Truth::All(parts) => parts.iter().any(says_so),
        one => says_so(one),
    };
    if said || at_first.range(bounds).0 >= 0 {
        *reached = goes_on.clone();
    }
}

/// Returns the affine part of a site's condition: the iterations of its loops that each thread reaches, and parts of
/// its guard.
pub fn affine_part(addresses: &Addresses, evaluated: &Evaluated, site: &AddressExpression) -> Result<Truth, Lost> {
    let mut parts = laps_reached(addresses, evaluated, site)?;
    let mut open: Vec<ExpressionId> = site.guard.into_iter().collect();
    while let Some(id) = open.pop() {
        match (evaluated.value(id), addresses.expressions[id as usize].kind) {
            (Value::Truth(truth), _) if !differs(evaluated, truth, site) => {
                parts.extend(truth.map(&|form| settled(addresses, evaluated, form, site).ok()));
            }
            (_, ExpressionKind::Binary(Binary::And, one, other)) => open.extend([other, one]),
            _ => {}
        }
    }
    Ok(one_of(parts, Truth::All))
}

fn laps_reached(addresses: &Addresses, evaluated: &Evaluated, site: &AddressExpression) -> Result<Vec<Truth>, Lost> {
    let mut parts = Vec::new();
    for &loop_id in &site.loops {
        match &evaluated.loops[loop_id as usize] {
            Ok(Some(truth)) => {
                // If the loop starts after another loop has ended, that loop's counter has its last value.
                let settled = truth.map(&|form| settled(addresses, evaluated, form, site).ok());
                parts.push(settled.ok_or(Lost::Loop(addresses.loops[loop_id as usize].line))?);
            }
            Ok(None) => {}
            Err(lost) => return Err(of_guard(*lost)),
        }
    }
    Ok(parts)
}

fn of_guard(lost: Lost) -> Lost {
    match lost {
        Lost::Code(reason, line) => Lost::Guard(reason, line),
        other => other,
    }
}

/// Returns whether a condition depends on the last iteration of an ended loop that differs between threads.
fn differs(evaluated: &Evaluated, truth: &Truth, site: &AddressExpression) -> bool {
    let mut found = false;
    truth.forms(&mut |form| found |= !is_settled(evaluated, form, site));
    found
}

/// Returns whether all threads have the same last iteration in those loops that have ended at the site and on which a
/// form depends.
pub fn is_settled(evaluated: &Evaluated, form: &Form, site: &AddressExpression) -> bool {
    let over = form.terms.iter().filter(|(index, _)| *index >= FIXED).map(|(index, _)| (*index - FIXED) as u32);
    over.filter(|loop_id| !site.loops.contains(loop_id)).all(|loop_id| !evaluated.differs(loop_id))
}

/// Returns the form in which the counters of loops that have ended at the site are replaced by their last values.
pub fn settled(
    addresses: &Addresses,
    evaluated: &Evaluated,
    form: &Form,
    site: &AddressExpression,
) -> Result<Form, Lost> {
    let mut form = form.clone();
    while let Some(&(index, _)) =
        form.terms.iter().find(|(index, _)| *index >= FIXED && !site.loops.contains(&((*index - FIXED) as u32)))
    {
        let loop_id = index - FIXED;
        match &evaluated.loops[loop_id] {
            Ok(None) => form = form.at(index, evaluated.bounds.range(index).1).ok_or(Lost::Range)?,
            Ok(Some(_)) => return Err(Lost::Loop(addresses.loops[loop_id].line)),
            Err(lost) => return Err(*lost),
        }
    }
    Ok(form)
}
