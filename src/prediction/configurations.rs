//! Which launches are predicted: block shapes, and the grids that go with them.

use std::collections::BTreeMap;

use warpline_format::expression::ExpressionKind;

use super::count::condition;
use super::digits::taken_apart;
use super::evaluate::{Evaluated, Value};
use super::form::{THREADS, block, thread};
use super::launch::Launch;
use super::subject::Subject;
use crate::profile::model::Parameter;

/// Threads of a block, at most.
pub const MOST_THREADS: u32 = 1024;
/// Threads along z, at most.
const MOST_DEEP: u32 = 64;
/// Indices at the end of an axis that nothing is done for, at most, where a grid is taken to follow a parameter.
const MOST_RIM: i64 = 64;
/// Smallest block that `all` names.
const FEWEST_THREADS: u32 = 64;

/// Sizes along x, y and z, as `32x8` or `32,8`; what is left out is 1.
pub fn sizes(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<u32> =
        text.split(['x', 'X']).map(|part| part.trim().parse().ok().filter(|size| *size > 0)).collect::<Option<_>>()?;
    let [x, ref rest @ ..] = parts[..] else { return None };
    let size = |axis: usize| rest.get(axis).copied().unwrap_or(1);
    (parts.len() <= 3).then(|| [x, size(0), size(1)])
}

/// Whether a GPU takes a block of this shape.
pub fn is_block(block: [u32; 3]) -> bool {
    let threads = block.iter().try_fold(1u32, |all, &size| all.checked_mul(size));
    threads.is_some_and(|threads| (1..=MOST_THREADS).contains(&threads)) && block[2] <= MOST_DEEP
}

/// Powers of two along the axes that a launch uses, 64 to 1024 threads together, and the launch's own shape.
pub fn all_blocks(launch: &Launch) -> Vec<[u32; 3]> {
    let uses = |axis: usize| launch.block[axis] > 1 || launch.grid[axis] > 1;
    let along = |axis: usize| {
        (0..=10).map(|log| 1u32 << log).take_while(move |&size| size == 1 || uses(axis)).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for z in along(2) {
        for y in along(1) {
            for x in along(0) {
                let block = [x, y, z];
                if is_block(block) && x * y * z >= FEWEST_THREADS {
                    found.push(block);
                }
            }
        }
    }
    if !found.contains(&launch.block) {
        found.push(launch.block);
    }
    found
}

/// How a grid came to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GridRule {
    /// It covers as many indices as the recorded one, along each axis.
    SameIndices,
    /// Along an axis it follows the parameter of this name, as the recorded one did.
    Parameter(String),
    /// It was given.
    Given,
}

/// A parameter that a grid follows along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// It.
    pub parameter: &'a Parameter,
    /// Indices that a thread goes over, as the code says.
    pub per_thread: u32,
}

/// The parameters that the recorded grid follows along each axis: what the accesses compare their index with, or a little more
/// for the sake of a rim, divided by the indices of a block and rounded up. Threads of the subject's code do `fold` points along each.
pub fn followed<'a>(subject: &Subject<'a>, fold: [u32; 3]) -> [Option<Followed<'a>>; 3] {
    let recorded = subject.recorded;
    // A grid that fits without a rest leaves nothing to compare; with a block more along each axis there is.
    let larger = Launch { grid: recorded.grid.map(|size| size.saturating_add(1)), ..subject.launch.clone() };
    let evaluated = Evaluated::new(subject.addresses, &larger);
    let apart = taken_apart(subject.addresses, &larger, &evaluated);
    let (addresses, evaluated) = match &apart {
        Some(apart) => (&apart.addresses, &apart.evaluated),
        None => (subject.addresses, &evaluated),
    };
    // By axis: the indices of a block, and how many of all are gone over.
    let mut needed: [BTreeMap<i64, i64>; 3] = Default::default();
    for site in &addresses.sites {
        let Ok(Some(truth)) = condition(addresses, evaluated, site) else { continue };
        truth.forms(&mut |form| {
            for (axis, needed) in needed.iter_mut().enumerate() {
                let of_block = -form.factor(block(axis));
                let alone = form.terms.iter().all(|(index, _)| *index < thread(THREADS) || *index == block(axis));
                // `c - (blockIdx * blockDim + threadIdx)` is not negative up to the index `c`.
                if alone && of_block > 0 {
                    let most = needed.entry(of_block).or_default();
                    *most = (*most).max(form.constant.saturating_add(1));
                }
            }
        });
    }
    std::array::from_fn(|axis| {
        let threads = u64::from(recorded.block[axis]);
        let folded = i64::from(recorded.block[axis]) * i64::from(fold[axis]);
        let value =
            |one: &Parameter| subject.launch.arguments.get(&(one.number, one.offset)).map(|&value| value as i64);
        let fits = |one: &Parameter, per_thread: u32, needed: i64| {
            let value = value(one).filter(|value| *value > 0 && (0..=MOST_RIM).contains(&(value - needed)));
            let blocks = value.map(|value| value.unsigned_abs().div_ceil(threads * u64::from(per_thread)));
            blocks == Some(u64::from(recorded.grid[axis]))
        };
        let mut found = Vec::new();
        for (&of_block, &needed) in needed[axis].iter().filter(|(of_block, _)| *of_block % folded == 0) {
            let Ok(per_thread) = u32::try_from(of_block / folded) else { continue };
            let fitting = subject.addresses.parameters.iter().filter(|one| fits(one, per_thread, needed));
            found.extend(fitting.map(|parameter| Followed { parameter, per_thread }));
        }
        found.into_iter().min_by_key(|one| (value(one.parameter), one.per_thread))
    })
}

/// The grid for a block shape: by the parameters that it follows, else as many blocks as cover the indices that the recorded
/// launch covered.
pub fn grid_for(
    subject: &Subject<'_>,
    launch: &Launch,
    block: [u32; 3],
    followed: &[Option<Followed<'_>>; 3],
) -> ([u32; 3], Vec<GridRule>) {
    let recorded = subject.recorded;
    let mut rules = Vec::new();
    let grid = std::array::from_fn(|axis| {
        let by = followed[axis].and_then(|one| {
            let known = launch.arguments.get(&(one.parameter.number, one.parameter.offset))?;
            Some((one, *known))
        });
        let (covered, rule, per_thread) = match by {
            Some((Followed { parameter: one, per_thread }, value)) => {
                (value, GridRule::Parameter(subject.parameter_name(one.number, one.offset)), per_thread)
            }
            None => (u64::from(recorded.grid[axis]) * u64::from(recorded.block[axis]), GridRule::SameIndices, 1),
        };
        if recorded.grid[axis] * recorded.block[axis] > 1 && !rules.contains(&rule) {
            rules.push(rule);
        }
        let of_block = u64::from(block[axis]) * u64::from(per_thread);
        u32::try_from(covered.div_ceil(of_block).max(1)).unwrap_or(u32::MAX)
    });
    (grid, rules)
}

/// Whether the code's addresses change with the size of a block. Where they do not and still change with its number, the shape is
/// written into the code, and another one would touch other memory.
pub fn is_free(subject: &Subject<'_>) -> bool {
    let any =
        |wanted: fn(&ExpressionKind) -> bool| subject.addresses.expressions.iter().any(|entry| wanted(&entry.kind));
    any(|kind| matches!(kind, ExpressionKind::BlockSize(_))) || !any(|kind| matches!(kind, ExpressionKind::Block(_)))
}

/// Axes along which blocks of another size cover the same elements: wherever the number of the block moves an address, it does so
/// by as much as all threads of the axis do. Where threads of one axis stand for indices that the blocks of another one divide, or
/// the threads of an axis share the work of a block, they would not.
pub fn tiled_axes(subject: &Subject<'_>) -> [bool; 3] {
    // Along an axis of one thread its index is always 0 and moves nothing: looked at is a launch with two of them.
    let launch = Launch::new(
        subject.launch.block.map(|size| size.max(2)),
        subject.launch.grid,
        subject.launch.arguments.clone(),
    );
    let evaluated = Evaluated::new(subject.addresses, &launch);
    std::array::from_fn(|axis| {
        subject.addresses.sites.iter().all(|site| match evaluated.value(site.address) {
            Value::Form(form) => {
                let of_threads = form.factor(thread(axis)).checked_mul(i64::from(launch.block[axis]));
                of_threads == Some(form.factor(block(axis)))
            }
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read() {
        assert_eq!((sizes("32x8"), sizes("64"), sizes("4x4x4")), (Some([32, 8, 1]), Some([64, 1, 1]), Some([4, 4, 4])));
        assert_eq!((sizes(""), sizes("0x4"), sizes("1x2x3x4"), sizes("32*8")), (None, None, None, None));
        assert!(is_block([1024, 1, 1]) && is_block([4, 4, 64]));
        assert!(!is_block([1024, 2, 1]) && !is_block([1, 1, 128]) && !is_block([u32::MAX, u32::MAX, 2]));
    }

    #[test]
    fn all_shapes_keep_to_the_axes_in_use() {
        let launch = |block, grid| Launch::new(block, grid, Default::default());
        assert_eq!(
            all_blocks(&launch([256, 1, 1], [4, 1, 1])),
            [[64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1], [1024, 1, 1]]
        );
        let plane = all_blocks(&launch([16, 16, 1], [4, 4, 1]));
        assert!(plane.iter().all(|block| block[2] == 1) && plane.contains(&[1, 64, 1]) && plane.len() == 45);
        assert!(all_blocks(&launch([20, 5, 1], [4, 4, 1])).contains(&[20, 5, 1]));
    }
}
