//! Results of matrix products in the floating-point check. The lane that holds a result differs from those that hold
//! its factors, so a value that a factor brings along takes its origin to another lane.

use super::{Floats, Origin, Role, ValueStep, note_stop, step};
use crate::device::execution::warp::Warp;
use crate::device::tensor::values::{Factor, Tile, results};
use std::collections::BTreeMap;
use warpline_format::access::LANES;
use warpline_format::event::LaunchId;
use warpline_format::operation::{FloatClass, FloatException, FloatFormat, FloatKind, FloatStep, MOST_STEPS};

/// A result that is exceptional, with the operand that already was.
struct Exceptional {
    lane: usize,
    index: u32,
    class: FloatClass,
    cause: Cause,
}

/// Origin of an exceptional result in the operands.
enum Cause {
    /// The element of C has the same property.
    Start,
    /// A factor has the same property.
    Factor(Factor),
    /// No operand has the property; the infinite factor or element of C (`None`: the lane's own) that makes a NaN.
    Made(Option<Option<Factor>>),
}

/// Results of one kind.
struct Found {
    lane: usize,
    index: u32,
    count: u64,
}

fn floats(tile: &Tile) -> Option<[FloatFormat; 2]> {
    Some([tile.operation.d.value_type().float()?, tile.operation.c.value_type().float()?])
}

/// Returns a result with its cause, if it is exceptional.
fn examine(tile: &Tile, [format, start_format]: [FloatFormat; 2], lane: usize, index: u32) -> Option<Exceptional> {
    let class = format.classify(tile.result(lane, index));
    if class == FloatClass::Ordinary {
        return None;
    }
    let is_like = |one: FloatClass| one == class || one == FloatClass::NotANumber;
    let start = start_format.classify(tile.start(lane, index));
    let factors = || tile.factors(lane, index).flatten();
    let cause = if is_like(start) {
        Cause::Start
    } else if let Some(factor) = factors().find(|factor| is_like(factor.class())) {
        Cause::Factor(factor)
    } else if start == FloatClass::Infinite {
        Cause::Made(Some(None))
    } else {
        Cause::Made(factors().find(|factor| factor.class() == FloatClass::Infinite).map(Some))
    };
    Some(Exceptional { lane, index, class, cause })
}

/// Returns the operands of a result as shown values: the factors with the product that is not finite or else the
/// largest, and the element of C.
fn operands(tile: &Tile, start_format: FloatFormat, lane: usize, index: u32) -> [f64; 3] {
    let size = |[left, right]: [Factor; 2]| {
        let product = (left.value() * right.value()).abs();
        if product.is_nan() { f64::INFINITY } else { product }
    };
    let larger = |one: [Factor; 2], other: [Factor; 2]| if size(other) > size(one) { other } else { one };
    let [left, right] = tile.factors(lane, index).reduce(larger).map_or([0.0; 2], |both| both.map(Factor::value));
    [left, right, start_format.value(tile.start(lane, index))]
}

impl Floats {
    /// Returns the origin that the last such value of a lane had before the product.
    fn product_origin(before: &[[Origin; LANES]; 2], lane: usize, class: FloatClass) -> Origin {
        before[usize::from(class == FloatClass::Infinite)][lane]
    }

    /// Returns the origin of a factor's NaN or infinity.
    fn factor_origin(
        &mut self,
        warp: *mut Warp,
        before: &[[Origin; LANES]; 2],
        factor: &Factor,
        class: FloatClass,
    ) -> Origin {
        match self.bits_origin(warp, factor.lane, factor.top()) {
            0 => Self::product_origin(before, factor.lane, class),
            origin => origin,
        }
    }

    /// Notes the origin of a result that is NaN or infinite.
    fn note_product(&mut self, warp: *mut Warp, step: FloatStep, before: &[[Origin; LANES]; 2], result: &Exceptional) {
        let (role, from) = match &result.cause {
            // The value stays in its lane.
            Cause::Start => return,
            Cause::Factor(factor) => (Role::Passes, self.factor_origin(warp, before, factor, result.class)),
            Cause::Made(Some(Some(factor))) => {
                (Role::Produces, self.factor_origin(warp, before, factor, FloatClass::Infinite))
            }
            Cause::Made(Some(None)) => {
                (Role::Produces, Self::product_origin(before, result.lane, FloatClass::Infinite))
            }
            Cause::Made(None) => (Role::Produces, 0),
        };
        // For a loop whose results become factors, the first occurrence is enough.
        let comes_again = |kept: &ValueStep| kept.role == role && kept.step.operation == step.operation;
        let again = from != 0 && self.chain(from).take(MOST_STEPS).any(comes_again);
        let origin = if again { from } else { self.keep(step, from, role) };
        *self.origin(warp, result.lane, result.class) = origin;
    }

    /// Examines the results of a product; returns the lane whose NaN stops the kernel.
    fn product(&mut self, warp: *mut Warp, launch: LaunchId, number: u32, tile: &Tile) -> Option<usize> {
        let formats = floats(tile)?;
        let held = self.held(warp);
        if tile.is_first() {
            held.counted = 0;
        }
        let (before, counted) = ([held.not_numbers, held.infinities], held.counted);
        let mut found: BTreeMap<FloatKind, Found> = BTreeMap::new();
        for result in results(tile).filter_map(|(lane, index)| examine(tile, formats, lane, index)) {
            if result.class != FloatClass::Subnormal {
                self.note_product(warp, step(warp, launch, number, result.lane), &before, &result);
            }
            let kind = match (&result.cause, result.class) {
                (Cause::Start | Cause::Factor(_), _) | (_, FloatClass::Ordinary) => continue,
                (_, FloatClass::NotANumber) => FloatKind::NotANumber,
                (_, FloatClass::Infinite) => FloatKind::Overflow,
                (_, FloatClass::Subnormal) => FloatKind::Subnormal,
            };
            let first = Found { lane: result.lane, index: result.index, count: 0 };
            found.entry(kind).or_insert(first).count += 1;
        }
        for (kind, one) in &found {
            let first = step(warp, launch, number, one.lane);
            let fresh = FloatException {
                launch,
                operation: number,
                kind: *kind,
                format: formats[0],
                requests: 0,
                lanes: 0,
                block: first.block,
                thread: first.thread,
                operands: 3,
                values: operands(tile, formats[1], one.lane, one.index).map(f64::to_bits),
            };
            let row = self.exceptions.entry((number, *kind)).or_insert(fresh);
            // The tiles of an instruction are one request.
            row.requests += u64::from(counted >> *kind as u32 & 1 == 0);
            row.lanes += one.count;
            self.held(warp).counted |= 1 << *kind as u32;
        }
        found.get(&FloatKind::NotANumber).filter(|_| self.stops).map(|one| one.lane)
    }
}

/// Processes the product of a tile; returns `true` if it stops the kernel.
///
/// # Safety
/// The warp runs.
pub unsafe fn follow(warp: *mut Warp, number: u32, tile: &Tile) -> bool {
    // SAFETY: by the contract.
    let (running, floats) = unsafe { (&*(*warp).running, (*(*warp).running).floats.as_mut()) };
    let Some(floats) = floats else { return false };
    let Some(lane) = floats.product(warp, running.launch, number, tile) else { return false };
    // SAFETY: by the contract.
    unsafe { note_stop(warp, number, lane) };
    true
}
