//! The shapes of all values of a function, and the positions where its lanes can diverge.

use super::body::Body;
use super::flow::Flow;
use super::shape::{Affine, Flags, Shape, VARYING, combine};
use crate::ir::class::{self, Call, Register};
use crate::ir::linear::Linear;
use crate::ir::range::Range;
use crate::llvm::types::{Kind, Layout};
use crate::llvm::value::Opcode;
use crate::llvm::{Type, Value};
use std::collections::{HashMap, HashSet};

/// The shapes of thread blocks for which a version of a kernel is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Blocks in which each warp is a sequence of consecutive `threadIdx.x`.
    Linear,
    /// Blocks in which each half warp is such a sequence.
    Half,
    /// Blocks of any shape.
    General,
    /// One thread of a warp: the threads of blocks of [`Version::Linear`] run one after the other.
    Serial,
}

impl Version {
    /// Returns the number of groups of lanes with a separate base.
    pub fn groups(self) -> usize {
        match self {
            Version::Linear | Version::Serial => 1,
            _ => 2,
        }
    }

    /// Returns the suffix of the names of its functions.
    pub fn suffix(self) -> &'static str {
        match self {
            Version::Linear => "linear",
            Version::Half => "half",
            Version::General => "general",
            Version::Serial => "serial",
        }
    }
}

/// The properties of a function's values in one version.
pub struct Analysis<'c> {
    version: Version,
    shapes: HashMap<Value<'c>, Shape>,
    ranges: HashMap<Value<'c>, Range>,
    /// Values of cautious regions that lanes in different iterations cannot share.
    apart: Vec<Value<'c>>,
    /// The analysis of waiting lanes.
    pub flow: Flow,
}

impl<'c> Analysis<'c> {
    /// Analyses a function. `arguments_uniform` means that the function is a kernel.
    pub fn new(body: &Body<'c>, version: Version, arguments_uniform: bool, layout: Layout<'_>) -> Analysis<'c> {
        let mut analysis = Analysis {
            version,
            shapes: HashMap::new(),
            ranges: HashMap::new(),
            apart: apart(body),
            flow: Flow::new(&[], &[]),
        };
        for argument in body.function.parameters() {
            let shape = if arguments_uniform { Shape::Uniform } else { VARYING };
            analysis.shapes.insert(argument, shape);
        }
        // At first, all lanes are assumed to take each branch together. Each iteration splits the branches whose
        // condition was found to vary, which can make more phis vary. Both sets only grow, so this ends.
        loop {
            let ends = body.ends(|condition| analysis.shape(condition) != Shape::Uniform);
            let flow = Flow::new(&ends, &body.regions);
            analysis.flow = flow;
            analysis.settle(body, layout);
            if body.ends(|condition| analysis.shape(condition) != Shape::Uniform) == ends {
                return analysis;
            }
        }
    }

    /// Returns the shape of a value.
    pub fn shape(&self, value: Value<'c>) -> Shape {
        self.shapes.get(&value).copied().unwrap_or(Shape::Uniform)
    }

    /// Returns the properties of an affine value.
    pub fn affine(&self, value: Value<'c>) -> Option<Affine> {
        match self.shape(value) {
            Shape::Affine(affine) => Some(affine),
            _ => None,
        }
    }

    fn range(&self, value: Value<'c>) -> Range {
        if let Some(constant) = value.as_i64() {
            return Range::constant(constant);
        }
        let bits = value.ty().int_bits().unwrap_or(64);
        self.ranges.get(&value).copied().unwrap_or(Range::full(bits))
    }

    fn settle(&mut self, body: &Body<'c>, layout: Layout<'_>) {
        let mut known: HashMap<Value<'c>, Shape> = HashMap::new();
        for argument in body.function.parameters() {
            known.insert(argument, self.shape(argument));
        }
        known.extend(self.apart.iter().map(|&value| (value, VARYING)));
        self.shapes = known;
        loop {
            let mut changed = false;
            for position in 0..body.blocks.len() {
                for &value in &body.blocks[position].instructions {
                    if value.ty().is_void() {
                        continue;
                    }
                    let before = self.shapes.get(&value).copied();
                    let Some((shape, range)) = self.transfer(body, position, value, layout) else { continue };
                    let shape = match before {
                        Some(old) if old != shape => weaker(old, shape),
                        _ => shape,
                    };
                    if let Some(range) = range {
                        self.ranges.insert(value, range);
                    }
                    if before != Some(shape) {
                        self.shapes.insert(value, shape);
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the shape of an operand, if it is already known.
    fn known(&self, value: Value<'c>) -> Option<Shape> {
        if !(value.is_instruction() || value.is_argument()) {
            Some(Shape::Uniform)
        } else {
            self.shapes.get(&value).copied()
        }
    }

    fn transfer(
        &self,
        body: &Body<'c>,
        position: usize,
        value: Value<'c>,
        layout: Layout<'_>,
    ) -> Option<(Shape, Option<Range>)> {
        if value.is_phi() {
            return self.phi(body, position, value).map(|shape| (shape, None));
        }
        let operands = if value.is_call() { value.arguments() } else { value.operands() };
        let mut shapes = Vec::with_capacity(operands.len());
        for operand in &operands {
            shapes.push(self.known(*operand)?);
        }
        let uniform = shapes.iter().all(|shape| *shape == Shape::Uniform);
        let if_uniform = if uniform { Shape::Uniform } else { VARYING };
        Some(match value.opcode()? {
            Opcode::LLVMAdd
            | Opcode::LLVMSub
            | Opcode::LLVMMul
            | Opcode::LLVMShl
            | Opcode::LLVMOr
            | Opcode::LLVMAnd => self.arithmetic(value, &shapes),
            Opcode::LLVMTrunc => {
                let bits = value.ty().int_bits();
                let range = self.range(operands[0]);
                let fits = bits.is_some_and(|bits| range.fits(bits));
                let shape = match shapes[0] {
                    Shape::Affine(affine) if bits.is_some_and(|bits| bits > 1) => {
                        // A wide value that fits in the narrow type is the sign extension of the narrow value.
                        let exact = fits && affine.signed;
                        Shape::affine(affine.stride, exact, exact && range.is_natural())
                    }
                    _ => if_uniform,
                };
                (shape, fits.then_some(range))
            }
            Opcode::LLVMSExt => {
                (self.extension(shapes[0], |affine| affine.signed, &operands, value), Some(self.range(operands[0])))
            }
            Opcode::LLVMZExt => {
                let range = self.range(operands[0]);
                let nneg = value.is_nneg() || range.is_natural();
                let shape =
                    self.extension(shapes[0], |affine| affine.unsigned || nneg && affine.signed, &operands, value);
                let bits = operands[0].ty().int_bits().unwrap_or(64);
                let range = if range.is_natural() {
                    Some(range)
                } else {
                    (bits < 63).then(|| Range { low: 0, high: (1 << bits) - 1 })
                };
                (shape, range)
            }
            Opcode::LLVMGetElementPtr => (self.pointer_arithmetic(value, &shapes, layout), None),
            Opcode::LLVMPtrToInt => {
                let shape = match shapes[0] {
                    Shape::Affine(affine) => Shape::affine(affine.stride, false, false),
                    other => other,
                };
                (shape, None)
            }
            Opcode::LLVMIntToPtr if value.operand(0).ty().int_bits() == Some(64) => (shapes[0], None),
            Opcode::LLVMAddrSpaceCast => (self.space_cast(value, shapes[0]), None),
            Opcode::LLVMFreeze => (shapes[0], Some(self.range(operands[0]))),
            Opcode::LLVMSelect => {
                let shape = if shapes[0] == Shape::Uniform {
                    shapes[1].meet(shapes[2])
                } else {
                    Shape::Varying { probably_affine: false }
                };
                let (yes, no) = (self.range(operands[1]), self.range(operands[2]));
                (shape, Some(Range { low: yes.low.min(no.low), high: yes.high.max(no.high) }))
            }
            Opcode::LLVMLoad => {
                let local = matches!(operands[0].ty().kind(), Kind::Pointer(5));
                (if local { VARYING } else { if_uniform }, None)
            }
            Opcode::LLVMAlloca | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (VARYING, None),
            Opcode::LLVMCall => self.call(value, if_uniform, &shapes),
            Opcode::LLVMURem => {
                // A remainder by a positive number is smaller than the number.
                let divisor = self.range(operands[1]);
                let range = divisor.is_natural().then_some(Range { low: 0, high: divisor.high });
                (if_uniform, range)
            }
            Opcode::LLVMLShr => {
                let shifted = operands[1].as_u64().zip(value.ty().int_bits());
                let range = shifted
                    .filter(|&(by, bits)| by > 0 && by < u64::from(bits) && bits <= 64)
                    .map(|(by, bits)| Range { low: 0, high: (u64::MAX >> (64 - u64::from(bits) + by)) as i64 });
                (if_uniform, range)
            }
            Opcode::LLVMUDiv => {
                let (value, divisor) = (self.range(operands[0]), self.range(operands[1]));
                let range = (value.is_natural() && divisor.low > 0).then_some(Range { low: 0, high: value.high });
                (if_uniform, range)
            }
            _ => (if_uniform, None),
        })
    }

    fn phi(&self, body: &Body<'c>, position: usize, phi: Value<'c>) -> Option<Shape> {
        let mut result: Option<Shape> = None;
        for (value, from) in phi.incoming() {
            let Some(&from) = body.positions.get(&from) else { continue };
            let Some(shape) = self.known(value) else { continue };
            if value.is_undef() {
                continue;
            }
            if self.flow.accumulates(from, position) {
                return Some(Shape::Varying { probably_affine: false });
            }
            // Both sides of one branch lead here, so lanes select between the values.
            let twice = body.blocks[from].successors.iter().filter(|&&next| next == position).count() > 1;
            if twice
                && body.blocks[from].terminator().condition().is_some_and(|c| self.known(c) != Some(Shape::Uniform))
            {
                return Some(VARYING);
            }
            result = Some(result.map_or(shape, |other| other.meet(shape)));
        }
        // If only one incoming value is known and it is undefined, any value is valid. The other values may depend on
        // the phi itself, and they count as soon as their shape is known.
        result.or_else(|| phi.incoming().iter().any(|(value, _)| value.is_undef()).then_some(Shape::Uniform))
    }

    fn arithmetic(&self, value: Value<'c>, shapes: &[Shape]) -> (Shape, Option<Range>) {
        let bits = match value.ty().int_bits() {
            Some(bits) if (2..=64).contains(&bits) => bits,
            _ => return (varying_unless_uniform(shapes), None),
        };
        let (left, right) = (value.operand(0), value.operand(1));
        let (left_range, right_range) = (self.range(left), self.range(right));
        let opcode = value.opcode();
        // A shift by the number of bits or more is poison.
        let linear = Linear::recognise(value)
            .filter(|linear| !matches!(linear, Linear::Shifted(_, by) if by.trailing_zeros() >= bits));
        let exact = match &linear {
            Some(Linear::Sum(_, _, 1)) => left_range.plus(right_range),
            Some(Linear::Sum(..)) => left_range.minus(right_range),
            Some(Linear::Product(..)) => left_range.times(right_range),
            Some(Linear::Shifted(_, by)) => left_range.times(Range::constant(*by)),
            None => None,
        };
        let kept = match opcode {
            Some(Opcode::LLVMAnd) => {
                let bound = [left_range, right_range]
                    .into_iter()
                    .filter(|range| range.is_natural())
                    .map(|range| range.high)
                    .min();
                bound.map(|high| Range { low: 0, high })
            }
            Some(Opcode::LLVMOr) if left_range.is_natural() && right_range.is_natural() => {
                Some(left_range.or(right_range))
            }
            _ => exact.filter(|range| range.fits(bits)),
        };
        if shapes.iter().all(|shape| *shape == Shape::Uniform) {
            return (Shape::Uniform, kept);
        }
        let (Some(l), Some(r)) = (shapes[0].terms(), shapes[1].terms()) else {
            return (probably(shapes), kept);
        };
        let disjoint = value.is_disjoint();
        let flags = Flags { nsw: disjoint || value.is_nsw(), nuw: disjoint || value.is_nuw() };
        let stride = match linear {
            Some(Linear::Sum(_, _, sign)) => l.stride + sign * r.stride,
            Some(Linear::Product(..)) => match (left.as_i64(), right.as_i64()) {
                (_, Some(by)) if by.unsigned_abs() < 1 << 20 => l.stride * by,
                (Some(by), _) if by.unsigned_abs() < 1 << 20 => r.stride * by,
                _ if l.stride == 0 && r.stride == 0 => 0,
                _ => return (VARYING, kept),
            },
            Some(Linear::Shifted(_, by)) if by < 1 << 20 => l.stride * by,
            _ => return (VARYING, kept),
        };
        (combine(stride, l, r, flags, exact, bits), kept)
    }

    fn extension(
        &self,
        shape: Shape,
        exact: impl Fn(Affine) -> bool,
        operands: &[Value<'c>],
        value: Value<'c>,
    ) -> Shape {
        let wide = value.ty().int_bits().is_some_and(|bits| bits <= 64);
        match shape {
            Shape::Uniform => Shape::Uniform,
            Shape::Affine(affine) if wide && exact(affine) && operands[0].ty().int_bits() != Some(1) => {
                // The extended value is its own sign extension; it is natural if the narrow value was zero-extended.
                let natural = value.opcode() == Some(Opcode::LLVMZExt) || self.range(operands[0]).is_natural();
                Shape::affine(affine.stride, true, natural)
            }
            Shape::Affine(_) if wide => Shape::Varying { probably_affine: true },
            other => other.widened(),
        }
    }

    fn pointer_arithmetic(&self, gep: Value<'c>, shapes: &[Shape], layout: Layout<'_>) -> Shape {
        if shapes.iter().all(|shape| *shape == Shape::Uniform) {
            return Shape::Uniform;
        }
        if !gep.ty().is_pointer() {
            return VARYING;
        }
        let Some(steps) = crate::ir::address::steps(gep, layout) else { return VARYING };
        let Some(base) = shapes[0].terms() else { return probably(shapes) };
        let mut stride = base.stride;
        for step in steps.variable {
            let Some(shape) = self.known(step.index) else { return VARYING };
            match shape {
                Shape::Uniform => {}
                Shape::Affine(affine) if step.index.ty().int_bits() == Some(64) || affine.signed => {
                    match affine.stride.checked_mul(step.scale as i64) {
                        Some(more) => stride += more,
                        None => return VARYING,
                    }
                }
                _ => return probably(shapes),
            }
        }
        Shape::affine(stride, false, false)
    }

    fn space_cast(&self, value: Value<'c>, shape: Shape) -> Shape {
        let space = |ty: Type<'c>| match ty.kind() {
            Kind::Pointer(space) => space,
            _ => 0,
        };
        let operand = value.operand(0);
        match (space(operand.ty()), space(value.ty())) {
            // A local pointer is an offset in the lane's stack, which is the same for all lanes if it comes from a
            // variable.
            (0, 5) if operand.opcode() == Some(Opcode::LLVMAlloca) => Shape::Uniform,
            (from, to) if (from == 5) != (to == 5) => VARYING,
            _ => shape,
        }
    }

    fn call(&self, call: Value<'c>, if_uniform: Shape, shapes: &[Shape]) -> (Shape, Option<Range>) {
        let Some(callee) = call.called_function() else { return (VARYING, None) };
        match class::classify(&callee.name()) {
            Call::Register(register) => {
                let range = class::register_range(register);
                let trusted = self.version != Version::General
                    || !matches!(
                        register,
                        Register::Block(_) | Register::GridSize(_) | Register::ClusterIndex(_) | Register::Clusters(_)
                    );
                (self.register(register), trusted.then_some(range))
            }
            Call::PassThrough => (shapes.first().copied().unwrap_or(VARYING), None),
            // The result of a vote is the same for all members, whatever the lanes' votes are.
            Call::WarpWide if shapes.len() == 2 && callee.name().contains(".vote.") => {
                (shapes[0].meet(Shape::Uniform), None)
            }
            Call::WarpWide if callee.name().contains(".barrier") => (Shape::Uniform, None),
            Call::Pure | Call::WarpWide => (if_uniform, pure_range(&callee.name(), call)),
            _ => (VARYING, None),
        }
    }

    fn register(&self, register: Register) -> Shape {
        match register {
            Register::Lane | Register::Thread(_) if self.version == Version::Serial => Shape::Uniform,
            Register::Lane => Shape::affine(1, true, true),
            Register::Thread(dimension) => match (self.version, dimension) {
                (Version::Linear, 0) => Shape::affine(1, true, true),
                (Version::Linear, _) => Shape::Uniform,
                (Version::Half, 0) => Shape::affine(1, true, true),
                (Version::Half, _) => Shape::affine(0, true, true),
                _ => VARYING,
            },
            Register::LaneMask(_) => VARYING,
            _ => Shape::Uniform,
        }
    }
}

/// Returns the values of cautious regions that may differ depending on when they are computed while the region runs.
/// Values that depend only on the lane and on values from outside are not among them, because those do not change while
/// the region runs.
fn apart<'c>(body: &Body<'c>) -> Vec<Value<'c>> {
    let mut apart = Vec::new();
    for region in &body.regions {
        let mut timeless: HashSet<Value<'c>> = HashSet::new();
        // In warp order, definitions precede their uses, except for phis.
        for value in body.blocks[region.clone()].iter().flat_map(|block| &block.instructions).copied() {
            let operands = if value.is_call() { value.arguments() } else { value.operands() };
            let position = |value: Value<'c>| value.block().and_then(|block| body.positions.get(&block).copied());
            let outside = |value: Value<'c>| position(value).is_none_or(|at| !region.contains(&at));
            if is_pure(value) && operands.iter().all(|one| outside(*one) || timeless.contains(one)) {
                timeless.insert(value);
            } else {
                apart.push(value);
            }
        }
    }
    apart
}

/// Returns whether an instruction's value depends only on its operands, the lane and the launch.
fn is_pure(value: Value<'_>) -> bool {
    match value.opcode() {
        Some(
            Opcode::LLVMPHI
            | Opcode::LLVMLoad
            | Opcode::LLVMStore
            | Opcode::LLVMAlloca
            | Opcode::LLVMFreeze
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg,
        ) => false,
        Some(Opcode::LLVMCall) => match class::classify(&value.callee_name()) {
            Call::Register(Register::Clock | Register::Clock64 | Register::GlobalTimer) => false,
            Call::Register(_) | Call::PassThrough | Call::Pure => true,
            _ => false,
        },
        _ => !value.is_terminator(),
    }
}

impl Shape {
    fn widened(self) -> Shape {
        match self {
            Shape::Affine(_) => VARYING,
            other => other,
        }
    }
}

fn pure_range(name: &str, call: Value<'_>) -> Option<Range> {
    let counts = ["llvm.ctpop.", "llvm.ctlz.", "llvm.cttz."].iter().any(|prefix| name.starts_with(prefix));
    let bits = call.ty().int_bits()?;
    counts.then_some(Range { low: 0, high: i64::from(bits) })
}

/// Returns a shape that neither of two successive results contradicts; it is never stronger than the older one.
fn weaker(old: Shape, new: Shape) -> Shape {
    match (old, new) {
        (Shape::Varying { .. }, _) => old,
        (Shape::Affine(_), Shape::Uniform) => VARYING,
        (Shape::Affine(left), Shape::Affine(right)) if left.stride != right.stride => VARYING,
        (Shape::Affine(_), Shape::Affine(_)) => old.meet(new),
        (_, new) => new,
    }
}

fn varying_unless_uniform(shapes: &[Shape]) -> Shape {
    if shapes.iter().all(|shape| *shape == Shape::Uniform) { Shape::Uniform } else { VARYING }
}

fn probably(shapes: &[Shape]) -> Shape {
    Shape::Varying { probably_affine: shapes.iter().all(|shape| shape.may_be_affine()) }
}
