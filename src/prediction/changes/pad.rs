//! Padded arrays, whose rows or planes are longer than their used part.
//!
//! The length of a row is a parameter that indices are multiplied by. Padding increases this parameter in the addresses
//! of the array only; comparisons with the parameter stay unchanged.

use warpline_format::expression::{Binary, ExpressionId, ExpressionKind};

use super::ChangeError;
use super::graph::Graph;
use crate::evaluated::Evaluated;
use crate::form::Form;
use crate::launch::Launch;
use crate::subject::Subject;
use crate::value::Value;
use warpline_profile::model::{Addresses, Parameter};

/// Returns the expressions with an array (its number in the subject) padded by this many elements along an axis.
///
/// # Errors
/// [`ChangeError::NoLength`].
pub fn padded(subject: &Subject<'_>, array: usize, axis: usize, by: i64) -> Result<Addresses, ChangeError> {
    let lengths = lengths(subject, array);
    let Some(length) = lengths.get(axis) else {
        let name = subject.arrays[array].name();
        return Err(ChangeError::NoLength { name, axis: ['x', 'y', 'z'][axis.min(2)] });
    };
    let mut changed = subject.addresses.clone();
    let mut graph = Graph::new(&changed.expressions);
    let mut known = vec![None; changed.expressions.len()];
    let own = subject.allocations.iter().map(|number| *number == array);
    for (site, _) in changed.sites.iter_mut().zip(own).filter(|(_, own)| *own) {
        site.address = grown(&mut graph, &mut known, site.address, (length.number, length.offset), by);
    }
    changed.expressions = graph.expressions;
    Ok(changed)
}

/// Returns the parameters that contain the lengths of an array along x, y and z, starting with the parameter that
/// changes the smallest stride.
fn lengths<'a>(subject: &Subject<'a>, array: usize) -> Vec<&'a Parameter> {
    let forms = |launch: &Launch| {
        let evaluated = Evaluated::new(subject.addresses, launch);
        let own = subject.addresses.sites.iter().zip(&subject.allocations).filter(|(_, number)| **number == array);
        own.map(|(site, _)| match evaluated.value(site.address) {
            Value::Form(form) => form.clone(),
            _ => Form::default(),
        })
        .collect::<Vec<Form>>()
    };
    let before = forms(&subject.launch);
    let mut found: Vec<(i64, &Parameter)> = Vec::new();
    for parameter in subject.addresses.parameters.iter().filter(|one| subject.is_number(one)) {
        let mut launch = subject.launch.clone();
        let Some(value) = launch.arguments.get_mut(&(parameter.number, parameter.offset)) else { continue };
        *value += 1;
        let changed = forms(&launch);
        let pairs = before.iter().zip(&changed).flat_map(|(before, after)| {
            before
                .terms
                .iter()
                .filter(|(index, factor)| after.factor(*index) != *factor)
                .map(|(_, factor)| factor.abs())
        });
        if let Some(smallest) = pairs.min() {
            found.push((smallest, parameter));
        }
    }
    found.sort_by_key(|(smallest, parameter)| (*smallest, parameter.number, parameter.offset));
    found.into_iter().map(|(_, parameter)| parameter).collect()
}

/// Returns an address with a larger parameter wherever an index is multiplied by it or added to it.
fn grown(
    graph: &mut Graph,
    known: &mut [Option<ExpressionId>],
    id: ExpressionId,
    parameter: (u32, u32),
    by: i64,
) -> ExpressionId {
    if let Some(found) = known.get(id as usize).copied().flatten() {
        return found;
    }
    let one = graph.expressions[id as usize];
    let found = match one.kind {
        ExpressionKind::Parameter { parameter: number, offset } if (number, offset) == parameter => {
            let more = graph.constant(by, one.bits);
            graph.exact(Binary::Sum, id, more, one.bits)
        }
        ExpressionKind::Binary(Binary::Sum | Binary::Difference | Binary::Product | Binary::ShiftLeft, left, right) => {
            let left_grown = grown(graph, known, left, parameter, by);
            let right_grown = grown(graph, known, right, parameter, by);
            graph.again(one, |operand| if operand == left { left_grown } else { right_grown })
        }
        ExpressionKind::Signed(inner) | ExpressionKind::Unsigned(inner) => {
            let inner = grown(graph, known, inner, parameter, by);
            graph.again(one, |_| inner)
        }
        _ => id,
    };
    if let Some(slot) = known.get_mut(id as usize) {
        *slot = Some(found);
    }
    found
}
