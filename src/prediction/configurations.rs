//! Chooses the launches to predict: block shapes and the matching grids.

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

/// Maximum number of threads per block.
pub const MOST_THREADS: u32 = 1024;
/// Maximum number of threads along z.
const MOST_DEEP: u32 = 64;
/// Maximum number of unprocessed indices at the end of an axis for which a grid can still follow a parameter.
const MOST_RIM: i64 = 64;
/// Maximum multiple of a parameter that a grid may follow, as when each element of an array becomes several.
const MOST_TIMES: i64 = 4;
/// Maximum number of times that a grid is doubled to find the end of the indices.
const MOST_DOUBLINGS: u32 = 9;
/// Smallest number of threads in a block that `all` includes.
const FEWEST_THREADS: u32 = 64;

/// Parses sizes along x, y and z, as `32x8` or `32,8`; omitted sizes are 1.
pub fn sizes(text: &str) -> Option<[u32; 3]> {
    let parts: Vec<u32> =
        text.split(['x', 'X']).map(|part| part.trim().parse().ok().filter(|size| *size > 0)).collect::<Option<_>>()?;
    let [x, ref rest @ ..] = parts[..] else { return None };
    let size = |axis: usize| rest.get(axis).copied().unwrap_or(1);
    (parts.len() <= 3).then(|| [x, size(0), size(1)])
}

/// Returns whether CUDA accepts a block of this shape.
pub fn is_block(block: [u32; 3]) -> bool {
    let threads = block.iter().try_fold(1u32, |all, &size| all.checked_mul(size));
    threads.is_some_and(|threads| (1..=MOST_THREADS).contains(&threads)) && block[2] <= MOST_DEEP
}

/// Returns whether CUDA accepts a grid of this shape (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
pub fn is_grid(grid: [u32; 3]) -> bool {
    grid[0] <= i32::MAX as u32 && grid[1..].iter().all(|&size| size <= u32::from(u16::MAX))
}

/// Returns all blocks of 64 to 1024 threads whose sizes are powers of two along the axes that the launch uses and that
/// may change, and the launch's own shape.
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

/// The rule by which a grid was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GridRule {
    /// The grid covers as many indices as the recorded grid along each axis.
    SameIndices,
    /// Along an axis on which each block has its own work, regardless of its number of threads, the grid has as many
    /// blocks as the recorded grid.
    SameBlocks,
    /// Along an axis, the grid follows the parameter with this name, as the recorded grid did.
    Parameter(String),
    /// The user specified the grid.
    Given,
}

/// A parameter that a grid follows along an axis.
#[derive(Clone, Copy, Debug)]
struct Followed<'a> {
    /// The parameter.
    parameter: &'a Parameter,
    /// Number of indices that a block processes for each index between the starts of adjacent blocks, according to the
    /// code.
    per_step: u32,
    /// The grid covers `times` · parameter − `less` indices, for example `2 * n - 1`.
    times: i64,
    less: i64,
}

impl Followed<'_> {
    /// Returns the number of covered indices if the parameter has this value.
    fn indices(&self, value: i64) -> i64 {
        value.saturating_mul(self.times).saturating_sub(self.less)
    }

    /// Returns the parameter's signed value.
    fn value(&self, launch: &Launch) -> Option<i64> {
        let kept = *launch.arguments.get(&(self.parameter.number, self.parameter.offset))?;
        let unused = 64 - 8 * self.parameter.bytes.clamp(1, 8);
        Some((kept << unused) as i64 >> unused)
    }
}

/// The relation between the grid of a kernel and the shape of its blocks.
pub struct Grids<'a> {
    /// The axes whose sizes may change.
    pub tiling: Tiling,
    /// The followed parameter, indexed by axis.
    followed: [Option<Followed<'a>>; 3],
    /// Number of points that a block of the recorded shape processes along each axis.
    points: [u32; 3],
    /// Index limits in the conditions of accesses, for the arguments of the last query.
    needed: RefCell<Option<(Arguments, Needed)>>,
}

type Arguments = BTreeMap<(u32, u32), u64>;

impl<'a> Grids<'a> {
    /// Creates a `Grids` for the subject, whose threads process `fold` points along each axis.
    pub fn new(subject: &Subject<'a>, fold: [u32; 3]) -> Grids<'a> {
        let tiling = Tiling::detect(subject);
        let points = std::array::from_fn(|axis| subject.recorded.block[axis].saturating_mul(fold[axis]));
        Grids { tiling, followed: followed(subject, &tiling, points), points, needed: RefCell::default() }
    }

    /// Returns the axes in use along which the number of indices or blocks is the recorded one for all values of
    /// parameters.
    pub fn fixed(&self, subject: &Subject<'_>) -> [bool; 3] {
        let recorded = subject.recorded;
        let is_used = |axis: usize| match self.tiling.keeps_blocks(axis) {
            true => recorded.grid[axis] > 1,
            false => recorded.grid[axis] > 1 || recorded.block[axis] > 1,
        };
        std::array::from_fn(|axis| self.followed[axis].is_none() && is_used(axis))
    }

    /// Returns the name and the value of a followed parameter for which the grid has no block.
    pub fn empty_by(&self, subject: &Subject<'_>, launch: &Launch) -> Option<(String, i64)> {
        self.followed.iter().flatten().find_map(|one| {
            let value = one.value(launch)?;
            let name = || subject.parameter_name(one.parameter.number, one.parameter.offset);
            (one.indices(value) < 1).then(|| (name(), value))
        })
    }

    /// Returns the number of indices that a block processes along an axis for each index between the starts of adjacent
    /// blocks. Parameters may determine this number (points per thread).
    fn per_step(&self, subject: &Subject<'_>, launch: &Launch, axis: usize, recorded: u32) -> u32 {
        if launch.arguments == subject.launch.arguments {
            return recorded;
        }
        let mut known = self.needed.borrow_mut();
        if known.as_ref().is_none_or(|(arguments, _)| *arguments != launch.arguments) {
            // If a block processes fewer indices, a grid needs more blocks to reach the last index.
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

    /// Returns the grid for blocks that process this many points. It follows parameters where possible; otherwise, it
    /// covers the indices that the recorded launch covered.
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

/// By axis and extent of a block: the number of indices that the accesses iterate over.
type Needed = [BTreeMap<i64, i64>; 3];

/// Returns the index limits in the conditions of a launch's accesses. If `in_loops` is true, conditions inside loops
/// are included.
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
    // Conditions combined with non-affine conditions are used only if no other condition limits the axis.
    let (mut needed, mut others) = (of(true), of(false));
    for (needed, others) in needed.iter_mut().zip(&mut others) {
        if needed.is_empty() {
            std::mem::swap(needed, others);
        }
    }
    needed
}

/// Returns the recorded launch with the arguments of another launch. If the grid fits exactly, no condition may contain
/// the limit; the launch therefore gets one block more along each axis, or a parameter value that is larger by one.
fn with_rim(subject: &Subject<'_>, launch: &Launch) -> Launch {
    let grid = subject.recorded.grid.map(|size| size.saturating_add(2));
    Launch::new(subject.launch.block, grid, launch.arguments.clone())
}

/// Returns the parameters that the recorded grid follows along each axis. Such a parameter (plus a small rim, if
/// needed) limits an access's index, and the grid is its value divided by the indices of a block, rounded up.
fn followed<'a>(subject: &Subject<'a>, tiling: &Tiling, points: [u32; 3]) -> [Option<Followed<'a>>; 3] {
    let recorded = subject.recorded;
    let larger = with_rim(subject, &subject.launch);
    let needed = self::needed(subject, &larger, false);
    // If several parameters have the same value, changing one at a time shows which one limits an index.
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
        // Threads of folded code process more indices than threads of the recorded launch.
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
    // If the grid omits a rim along one axis, it also does along the others.
    let without_rim = candidates.iter().any(|all| !all.is_empty() && all.iter().all(|one| one.less > 0));
    candidates.map(|all| {
        let key =
            |one: &Followed<'_>| (one.times, (one.less > 0) != without_rim, one.value(&subject.launch), one.per_step);
        all.into_iter().min_by_key(key)
    })
}

/// Returns the ways to follow a parameter that match a launch's number of blocks: by the whole parameter if the code
/// omits a rim, or by the processed indices.
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
        // A multiple of a parameter is followed only if there is no rim.
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
