//! How a kernel divides its work among blocks: along which axes the size of a block may change, and with which sizes the indices
//! grow from a block to the next.

use warpline_format::expression::{Binary, ExpressionKind, parts};

use super::evaluated::Evaluated;
use super::form::{block, thread};
use super::launch::Launch;
use super::subject::Subject;
use super::value::Value;

/// What the shape of a block has to do with the indices that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Indexed by axis: the code asks for the size of a block along it. Where it does not, the size is written into the code, or all
    /// threads along the axis do the same.
    pub free: [bool; 3],
    /// Indexed by axis of the grid: the axes of a block with whose sizes some index grows from a block to the next. Where there are none, a
    /// block's work does not depend on how many threads it has, as where each block has a row of a matrix.
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
        // A place that is computed from a block's number, `blockIdx.x % tiles`, times the size of a block.
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
        // Where the number of a block is in no expression, nothing says how blocks divide the work: they cover the same indices, unless those of
        // another axis do.
        let taken: [bool; 3] = std::array::from_fn(|size| steps.iter().any(|steps| steps[size]));
        for (axis, steps) in steps.iter_mut().enumerate() {
            let is_used = has(&|kind| matches!(kind, ExpressionKind::Block(of) if usize::from(*of) == axis));
            steps[axis] |= !is_used && !taken[axis];
        }
        Tiling { free, steps }
    }

    /// Returns whether the shape of a block may change at all.
    pub fn is_free(&self) -> bool {
        self.free.contains(&true)
    }

    /// Indices along an axis from a block of these sizes to the next, at least one.
    pub fn step(&self, axis: usize, sizes: [u32; 3]) -> u64 {
        let along = sizes.into_iter().zip(self.steps[axis]).filter(|(_, counts)| *counts);
        along.fold(1, |product, (size, _)| product.saturating_mul(u64::from(size.max(1))))
    }

    /// Returns whether the number of blocks along an axis does not depend on their shape.
    pub fn keeps_blocks(&self, axis: usize) -> bool {
        !self.steps[axis].contains(&true)
    }
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

/// Two launches of as many threads along an axis, the second with blocks of twice the size there.
fn halved(launch: &Launch, axis: usize) -> [Launch; 2] {
    let with = |block_size: u32, grid_size: u32| {
        let (mut block, mut grid) = (launch.block, launch.grid);
        (block[axis], grid[axis]) = (block_size, grid_size);
        Launch::new(block, grid, launch.arguments.clone())
    };
    // Of one block along the axis its number is always 0 and moves nothing.
    let (block, grid) = (launch.block[axis], launch.grid[axis].max(2));
    match block % 2 {
        0 => [with(block / 2, grid.saturating_mul(2)), with(block, grid)],
        _ => [with(block, grid.saturating_mul(2)), with(block.saturating_mul(2), grid)],
    }
}
