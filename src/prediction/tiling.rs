//! Detects how a kernel divides its work among blocks: the axes along which the block size may change, and the block
//! sizes by which indices advance from one block to the next.

use warpline_format::expression::{Binary, ExpressionKind, parts};

use super::evaluated::Evaluated;
use super::form::{block, thread};
use super::launch::Launch;
use super::subject::Subject;
use super::value::Value;

/// The relation between the shape of a block and the indices that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Indexed by axis: the code uses the block's size along it. Otherwise, the size is a constant in the code, or all
    /// threads along the axis do the same.
    pub free: [bool; 3],
    /// Indexed by axis of the grid: the block axes whose sizes determine how far some index advances from one block to
    /// the next. If there are none, a block's work does not depend on its number of threads, for example if each block
    /// processes one row of a matrix.
    pub steps: [[bool; 3]; 3],
}

impl Tiling {
    /// Detects the tiling of a kernel from its recorded launch.
    pub fn detect(subject: &Subject<'_>) -> Tiling {
        let has = |wanted: &dyn Fn(&ExpressionKind) -> bool| {
            subject.addresses.expressions.iter().any(|entry| wanted(&entry.kind))
        };
        let free = std::array::from_fn(|axis| {
            has(&|kind| matches!(kind, ExpressionKind::BlockSize(of) if usize::from(*of) == axis))
        });
        let mut steps = [[false; 3]; 3];
        for size in (0..3).filter(|&axis| free[axis]) {
            let [small, large] = halved(&subject.launch, size).map(|one| Evaluated::new(subject.addresses, &one));
            for id in 0..subject.addresses.expressions.len() {
                let (Value::Form(small), Value::Form(large)) = (small.value(id as u32), large.value(id as u32)) else {
                    continue;
                };
                for (axis, steps) in steps.iter_mut().enumerate() {
                    let (small, large) = (small.factor(block(axis)), large.factor(block(axis)));
                    steps[size] |= small != 0 && small.checked_mul(2) == Some(large);
                }
            }
        }
        // A position is computed from a block's number, as in `blockIdx.x % tiles`, and multiplied by the size of a
        // block.
        let recorded = Evaluated::new(subject.addresses, &subject.launch);
        let expressions = &subject.addresses.expressions;
        for entry in expressions {
            let ExpressionKind::Binary(Binary::Product, left, right) = entry.kind else { continue };
            for (place, size) in [(left, right), (right, left)] {
                let mut size = expressions[size as usize].kind;
                while let ExpressionKind::Signed(of) | ExpressionKind::Unsigned(of) = size {
                    size = expressions[of as usize].kind;
                }
                let (ExpressionKind::BlockSize(size), Value::Computed) = (size, recorded.value(place)) else {
                    continue;
                };
                for (_, kind) in parts(expressions, [place]) {
                    if let ExpressionKind::Block(axis) = kind {
                        steps[usize::from(axis)][usize::from(size)] = true;
                    }
                }
            }
        }
        // If no expression contains the block's number, the division of work is unknown. Blocks are then assumed to
        // cover the same indices, unless the size is used by another axis.
        let taken: [bool; 3] = std::array::from_fn(|size| steps.iter().any(|steps| steps[size]));
        for (axis, steps) in steps.iter_mut().enumerate() {
            let is_used = has(&|kind| matches!(kind, ExpressionKind::Block(of) if usize::from(*of) == axis));
            steps[axis] |= !is_used && !taken[axis];
        }
        Tiling { free, steps }
    }

    /// Returns whether any size of the block may change.
    pub fn is_free(&self) -> bool {
        self.free.contains(&true)
    }

    /// Returns the number of indices along an axis from one block to the next for these block sizes; at least one.
    pub fn step(&self, axis: usize, sizes: [u32; 3]) -> u64 {
        let along = sizes.into_iter().zip(self.steps[axis]).filter(|(_, counts)| *counts);
        along.fold(1, |product, (size, _)| product.saturating_mul(u64::from(size.max(1))))
    }

    /// Returns whether the number of blocks along an axis is independent of their shape.
    pub fn keeps_blocks(&self, axis: usize) -> bool {
        !self.steps[axis].contains(&true)
    }
}

/// Returns the axes along which blocks of another size cover the same elements. Along such an axis, one block moves an
/// address as far as all threads of the axis together do. This is not the case if the axis's threads index what blocks
/// of another axis divide, or share the work of a block.
pub fn tiled_axes(subject: &Subject<'_>) -> [bool; 3] {
    // With one thread along an axis, its index is always 0 and moves no address; a launch with two threads is evaluated
    // instead.
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

/// Returns two launches with equal numbers of threads along an axis; blocks of the second have twice the size.
fn halved(launch: &Launch, axis: usize) -> [Launch; 2] {
    let with = |block_size: u32, grid_size: u32| {
        let (mut block, mut grid) = (launch.block, launch.grid);
        (block[axis], grid[axis]) = (block_size, grid_size);
        Launch::new(block, grid, launch.arguments.clone())
    };
    // With one block along the axis, its number is always 0 and moves no address.
    let (block, grid) = (launch.block[axis], launch.grid[axis].max(2));
    match block % 2 {
        0 => [with(block / 2, grid.saturating_mul(2)), with(block, grid)],
        _ => [with(block, grid.saturating_mul(2)), with(block.saturating_mul(2), grid)],
    }
}
