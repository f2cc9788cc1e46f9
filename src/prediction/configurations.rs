//! Which launches are predicted: block shapes, and the grids that go with them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::digits::split_digits;
use super::evaluated::Evaluated;
use super::form::{FIXED, THREADS, block, thread};
use super::guards::{affine_part, condition};
use super::launch::Launch;
use super::subject::Subject;
use super::tiling::Tiling;
use warpline_profile::model::Parameter;

/// Threads of a block, at most.
pub const MOST_THREADS: u32 = 1024;
/// Threads along z, at most.
const MOST_DEEP: u32 = 64;
/// Indices at the end of an axis that nothing is done for, at most, where a grid is taken to follow a parameter.
const MOST_RIM: i64 = 64;
/// Times a parameter that a grid may follow, at most, as where each element of an array becomes several.
const MOST_TIMES: i64 = 4;
/// Doublings of a grid within which a block's indices reach their end, at most.
const MOST_DOUBLINGS: u32 = 9;
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

/// Returns whether a GPU takes a block of this shape.
pub fn is_block(block: [u32; 3]) -> bool {
    let threads = block.iter().try_fold(1u32, |all, &size| all.checked_mul(size));
    threads.is_some_and(|threads| (1..=MOST_THREADS).contains(&threads)) && block[2] <= MOST_DEEP
}

/// Returns whether a GPU takes a grid of this shape (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
pub fn is_grid(grid: [u32; 3]) -> bool {
    grid[0] <= i32::MAX as u32 && grid[1..].iter().all(|&size| size <= u32::from(u16::MAX))
}

/// Powers of two along the axes that a launch uses and whose size may change, 64 to 1024 threads together, and the launch's own
/// shape.
pub fn all_blocks(launch: &Launch, tiling: &Tiling) -> Vec<[u32; 3]> {
    let uses = |axis: usize| launch.block[axis] > 1 || launch.grid[axis] > 1;
    let along = |axis: usize| match tiling.free[axis] && uses(axis) {
        true => (0..=10).map(|log| 1u32 << log).collect(),
        false => vec![launch.block[axis]],
    };
    let mut found = Vec::new();
    for z in along(2) {
        for y in along(1) {
            for x in along(0) {
                let block = [x, y, z];
                if is_block(block) && block.iter().product::<u32>() >= FEWEST_THREADS {
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
    /// It has as many blocks as the recorded one along an axis where each has work of its own, however many threads it has.
    SameBlocks,
    /// Along an axis it follows the parameter of this name, as the recorded one did.
    Parameter(String),
    /// It was given.
    Given,
}

/// A parameter that a grid follows along an axis.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    /// It.
    parameter: &'a Parameter,
    /// Indices that a block goes over for each of those from a block to the next, as the code says.
    per_step: u32,
    /// Indices that are iterated over: a multiple of the parameter less a constant, as `2 * n - 1`.
    times: i64,
    less: i64,
}

impl Followed<'_> {
    /// Indices that are gone over where the parameter has this value.
    fn indices(&self, value: i64) -> i64 {
        value.saturating_mul(self.times).saturating_sub(self.less)
    }

    /// Returns the parameter's value, with its sign.
    fn value(&self, launch: &Launch) -> Option<i64> {
        let kept = *launch.arguments.get(&(self.parameter.number, self.parameter.offset))?;
        let unused = 64 - 8 * self.parameter.bytes.clamp(1, 8);
        Some((kept << unused) as i64 >> unused)
    }
}

/// How the grid of a kernel goes with the shape of its blocks.
pub struct Grids<'a> {
    /// Which axes may change.
    pub tiling: Tiling,
    /// Indexed by axis.
    followed: [Option<Followed<'a>>; 3],
    /// Points along each axis that a block of the recorded shape goes over.
    points: [u32; 3],
    /// What the accesses compare with their indices for the arguments of the last query.
    needed: RefCell<Option<(Arguments, Needed)>>,
}

type Arguments = BTreeMap<(u32, u32), u64>;

impl<'a> Grids<'a> {
    /// Creates a `Grids` for the subject, whose threads do `fold` points along each axis.
    pub fn new(subject: &Subject<'a>, fold: [u32; 3]) -> Grids<'a> {
        let tiling = Tiling::detect(subject);
        let points = std::array::from_fn(|axis| subject.recorded.block[axis].saturating_mul(fold[axis]));
        Grids { tiling, followed: followed(subject, &tiling, points), points, needed: RefCell::default() }
    }

    /// Along which axes in use it has as many indices or blocks as the recorded one, whatever values parameters have.
    pub fn fixed(&self, subject: &Subject<'_>) -> [bool; 3] {
        let recorded = subject.recorded;
        let is_used = |axis: usize| match self.tiling.keeps_blocks(axis) {
            true => recorded.grid[axis] > 1,
            false => recorded.grid[axis] > 1 || recorded.block[axis] > 1,
        };
        std::array::from_fn(|axis| self.followed[axis].is_none() && is_used(axis))
    }

    /// Name and value of a parameter that the grid follows, where it leaves no block.
    pub fn empty_by(&self, subject: &Subject<'_>, launch: &Launch) -> Option<(String, i64)> {
        self.followed.iter().flatten().find_map(|one| {
            let value = one.value(launch)?;
            let name = || subject.parameter_name(one.parameter.number, one.parameter.offset);
            (one.indices(value) < 1).then(|| (name(), value))
        })
    }

    /// Indices that a block goes over along an axis for each of those from a block to the next, where parameters may say how many (points of a thread).
    fn per_step(&self, subject: &Subject<'_>, launch: &Launch, axis: usize, recorded: u32) -> u32 {
        if launch.arguments == subject.launch.arguments {
            return recorded;
        }
        let mut known = self.needed.borrow_mut();
        if known.as_ref().is_none_or(|(arguments, _)| *arguments != launch.arguments) {
            // Where a block goes over fewer indices, only a grid of more blocks reaches the end of them.
            let tries = (0..=MOST_DOUBLINGS).step_by(3).map(|doublings| {
                let grid = subject.recorded.grid.map(|size| size.saturating_add(2).saturating_mul(1 << doublings));
                needed(subject, &Launch { grid, ..with_rim(subject, launch) }, true)
            });
            let found = tries.reduce(|one, other| {
                let mut both = one.into_iter().zip(other);
                std::array::from_fn(|_| {
                    both.next().map_or_else(BTreeMap::new, |(one, other)| if one.is_empty() { other } else { one })
                })
            });
            *known = Some((launch.arguments.clone(), found.unwrap_or_default()));
        }
        let Some((_, needed)) = known.as_ref() else { return recorded };
        let step = self.tiling.step(axis, self.points);
        let all = needed[axis].keys().filter(|of_block| of_block.unsigned_abs().is_multiple_of(step));
        let found: Vec<u32> = all.filter_map(|of_block| u32::try_from(of_block.unsigned_abs() / step).ok()).collect();
        match found[..] {
            [one] => one,
            _ => recorded,
        }
    }

    /// Returns the grid for blocks that go over this many points: by the parameters that it follows, else as many blocks as cover the indices
    /// that the recorded launch covered.
    pub fn grid_for(&self, subject: &Subject<'_>, launch: &Launch, points: [u32; 3]) -> ([u32; 3], Vec<GridRule>) {
        let recorded = subject.recorded;
        let mut rules = Vec::new();
        let grid = std::array::from_fn(|axis| {
            let by = self.followed[axis].and_then(|one| Some((one, one.indices(one.value(launch)?).max(0) as u64)));
            let (covered, rule, per_step) = match by {
                Some((Followed { parameter: one, per_step, times, less }, covered)) => {
                    let name = subject.parameter_name(one.number, one.offset);
                    let name = match (times, less) {
                        (1, 0) => name,
                        (1, less) => format!("{name} - {less}"),
                        (times, 0) => format!("{times} * {name}"),
                        (times, less) => format!("{times} * {name} - {less}"),
                    };
                    (covered, GridRule::Parameter(name), self.per_step(subject, launch, axis, per_step))
                }
                None => {
                    let covered = u64::from(recorded.grid[axis]).saturating_mul(self.tiling.step(axis, recorded.block));
                    let keeps = self.tiling.keeps_blocks(axis);
                    (covered, if keeps { GridRule::SameBlocks } else { GridRule::SameIndices }, 1)
                }
            };
            let is_used = match rule {
                GridRule::SameBlocks => recorded.grid[axis] > 1,
                _ => recorded.grid[axis] > 1 || recorded.block[axis] > 1,
            };
            if is_used && !rules.contains(&rule) {
                rules.push(rule);
            }
            let of_block = self.tiling.step(axis, points).saturating_mul(u64::from(per_step));
            u32::try_from(covered.div_ceil(of_block).max(1)).unwrap_or(u32::MAX)
        });
        (grid, rules)
    }
}

/// By axis: for each extent of a block, how many indices the accesses iterate over.
type Needed = [BTreeMap<i64, i64>; 3];

/// What the accesses of a launch compare their indices with; `in_loops`: in some iteration, too.
fn needed(subject: &Subject<'_>, launch: &Launch, in_loops: bool) -> Needed {
    let evaluated = Evaluated::new(subject.addresses, launch);
    let apart = split_digits(subject.addresses, launch, &evaluated);
    let (addresses, evaluated) = match &apart {
        Some(apart) => (&apart.addresses, &apart.evaluated),
        None => (subject.addresses, &evaluated),
    };
    let of = |is_sure: bool| {
        let mut needed = Needed::default();
        for site in &addresses.sites {
            let truth = match condition(addresses, evaluated, site) {
                Ok(Some(truth)) if is_sure => Ok(truth),
                Ok(None) if !is_sure => affine_part(addresses, evaluated, site),
                _ => continue,
            };
            let Ok(truth) = truth else { continue };
            truth.forms(&mut |form| {
                for (axis, needed) in needed.iter_mut().enumerate() {
                    let of_block = -form.factor(block(axis));
                    let is_own = |index: usize| index < thread(THREADS) || index == block(axis);
                    let alone = form.terms.iter().all(|(index, _)| is_own(*index) || in_loops && *index >= FIXED);
                    // `c - (blockIdx * blockDim + threadIdx)` is not negative up to the index `c`.
                    if alone && of_block > 0 {
                        let most = needed.entry(of_block).or_default();
                        *most = (*most).max(form.constant.saturating_add(1));
                    }
                }
            });
        }
        needed
    };
    // What stands beside conditions that are not affine counts where nothing else says how far an axis goes.
    let (mut needed, mut others) = (of(true), of(false));
    for (needed, others) in needed.iter_mut().zip(&mut others) {
        if needed.is_empty() {
            std::mem::swap(needed, others);
        }
    }
    needed
}

/// Returns the recorded launch, with the arguments of another one. A grid that fits without a rest leaves nothing to compare; with a block more along each axis there
/// is, and with another one for a parameter that is one more.
fn with_rim(subject: &Subject<'_>, launch: &Launch) -> Launch {
    let grid = subject.recorded.grid.map(|size| size.saturating_add(2));
    Launch::new(subject.launch.block, grid, launch.arguments.clone())
}

/// Returns the parameters that the recorded grid follows along each axis: what the accesses compare their index with, or a little more
/// for the sake of a rim, divided by the indices of a block and rounded up.
fn followed<'a>(subject: &Subject<'a>, tiling: &Tiling, points: [u32; 3]) -> [Option<Followed<'a>>; 3] {
    let recorded = subject.recorded;
    let larger = with_rim(subject, &subject.launch);
    let needed = self::needed(subject, &larger, false);
    // If several parameters have the same value, changing one at a time shows which one an index is compared with.
    let with_more: Vec<(&Parameter, Needed)> = subject
        .addresses
        .parameters
        .iter()
        .filter(|one| subject.is_number(one))
        .map(|one| {
            let mut more = larger.clone();
            if let Some(value) = more.arguments.get_mut(&(one.number, one.offset)) {
                *value = value.wrapping_add(1);
            }
            (one, self::needed(subject, &more, false))
        })
        .collect();
    let candidates: [Vec<Followed<'a>>; 3] = std::array::from_fn(|axis| {
        // Threads of folded code go over more indices than those of the recorded launch.
        let (step, recorded_step) = (tiling.step(axis, points), tiling.step(axis, recorded.block));
        let mut found = Vec::new();
        for (&signed, &needed) in &needed[axis] {
            let of_block = signed.unsigned_abs();
            let per_step = u32::try_from(of_block / step).ok().filter(|_| of_block.is_multiple_of(step));
            let Some(per_step) = per_step else { continue };
            let of_recorded = recorded_step.saturating_mul(u64::from(per_step));
            let grown = |more: &Needed| more[axis].get(&signed).map(|after| after.saturating_sub(needed));
            for (parameter, more) in &with_more {
                let times = grown(more).filter(|times| (1..=MOST_TIMES).contains(times));
                let all = times.into_iter().map(|times| Followed { parameter, per_step, times, less: 0 });
                found.extend(
                    all.flat_map(|one| fitting(one, &subject.launch, needed, of_recorded, recorded.grid[axis])),
                );
            }
        }
        found
    });
    // Where the grid leaves out a rim along one axis, it does along the others, too.
    let without_rim = candidates.iter().any(|all| !all.is_empty() && all.iter().all(|one| one.less > 0));
    candidates.map(|all| {
        let key =
            |one: &Followed<'_>| (one.times, (one.less > 0) != without_rim, one.value(&subject.launch), one.per_step);
        all.into_iter().min_by_key(key)
    })
}

/// Ways to follow a parameter that give a launch its number of blocks: by all of it where the code leaves out a rim, or by what it goes over.
fn fitting<'a>(
    one: Followed<'a>,
    launch: &Launch,
    needed: i64,
    of_block: u64,
    blocks: u32,
) -> impl Iterator<Item = Followed<'a>> {
    let value = one.value(launch).filter(|value| *value > 0);
    let less =
        value.map(|value| one.indices(value).saturating_sub(needed)).filter(|less| (0..=MOST_RIM).contains(less));
    let ways = less.into_iter().flat_map(move |less| {
        // What several times a parameter is needs no rim to be followed.
        let whole = Followed { less: 0, ..one };
        let part = Followed { less, ..one };
        [Some(whole), (less > 0).then_some(part)].into_iter().flatten()
    });
    let fits = move |way: &Followed<'_>| {
        let indices = value.map_or(0, |value| way.indices(value));
        indices > 0 && indices.unsigned_abs().div_ceil(of_block.max(1)) == u64::from(blocks)
    };
    ways.filter(fits)
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
        let free = |free: [bool; 3]| Tiling { free, steps: [[false; 3]; 3] };
        let all_blocks = |launch: &Launch| super::all_blocks(launch, &free([true; 3]));
        assert_eq!(
            all_blocks(&launch([256, 1, 1], [4, 1, 1])),
            [[64, 1, 1], [128, 1, 1], [256, 1, 1], [512, 1, 1], [1024, 1, 1]]
        );
        let plane = all_blocks(&launch([16, 16, 1], [4, 4, 1]));
        assert!(plane.iter().all(|block| block[2] == 1) && plane.contains(&[1, 64, 1]) && plane.len() == 45);
        assert!(all_blocks(&launch([20, 5, 1], [4, 4, 1])).contains(&[20, 5, 1]));
        let rows = super::all_blocks(&launch([96, 1, 1], [8, 500, 1]), &free([true, false, false]));
        assert_eq!(rows.len(), 6);
        assert!(rows.iter().all(|block| block[1] == 1) && rows.contains(&[96, 1, 1]));
    }
}
