//! Splits the numbers of threads and blocks into digits.
//!
//! Some code lays out the threads of a block itself. It divides a thread's number (`threadIdx.x / 32`) or extracts some
//! of its bits, as all layouts of Triton do. No affine form can express that. But a block of 128 x 1 x 1 threads has
//! the same warps as a block of 4 x 32 x 1, in which `threadIdx.x / 4` is an index. The threads therefore get the
//! indices of such a shape, with up to six axes, and the thread number becomes a sum of these indices. The blocks of a
//! grid get up to three indices.

use warpline_format::expression::{
    AddressExpression, Binary, Expression, ExpressionId, ExpressionKind, LoopExpression,
};

use super::changes::Graph;
use super::evaluated::Evaluated;
use super::form::{Index, THREADS, block, thread};
use super::launch::Launch;
use super::value::Value;
use warpline_profile::model::Addresses;

/// Weights of the digits of a number, without the first weight, which is 1.
#[derive(Clone, Default)]
struct Cuts(Vec<u32>);

impl Cuts {
    /// Returns the weight of a digit.
    fn weight(&self, digit: usize) -> u32 {
        digit.checked_sub(1).map_or(1, |before| self.0[before])
    }

    /// Returns the sizes of the digits of numbers below `size`.
    fn sizes<const AXES: usize>(&self, size: u32) -> [u32; AXES] {
        let end = |digit: usize| self.0.get(digit).copied().unwrap_or(size);
        std::array::from_fn(|digit| if digit > self.0.len() { 1 } else { end(digit) / self.weight(digit) })
    }

    /// Splits a digit; returns whether that was possible with at most `most` digits.
    fn add(&mut self, digit: usize, by: u32, most: usize) -> bool {
        let place = self.weight(digit).checked_mul(by);
        match place.filter(|_| self.0.len() + 1 < most) {
            Some(place) => {
                self.0.push(place);
                self.0.sort_unstable();
                true
            }
            None => false,
        }
    }
}

/// The numbers along x of a launch that does not use y and z.
struct Axis {
    index: fn(usize) -> Index,
    /// Maximum number of digits.
    most: usize,
    /// `None` if the launch itself uses the other axes.
    cuts: Option<Cuts>,
}

/// A kernel's addresses and launch after the numbers of threads and blocks were split into digits.
pub struct SplitDigits {
    /// The expressions that compute the numbers from the digits.
    pub addresses: Addresses,
    /// The launch in which the digits are indices.
    pub launch: Launch,
    /// The values of these addresses in this launch.
    pub evaluated: Evaluated,
}

/// Splits numbers of threads and blocks into digits if more expressions become affine.
pub fn split_digits(addresses: &Addresses, launch: &Launch, evaluated: &Evaluated) -> Option<SplitDigits> {
    let free = |sizes: [u32; 3]| (sizes[1..] == [1, 1]).then(Cuts::default);
    let mut axes = [
        Axis { index: thread, most: THREADS, cuts: free(launch.block) },
        Axis { index: block, most: 3, cuts: free(launch.grid) },
    ];
    if !cut(&mut axes, addresses, evaluated) {
        return None;
    }
    loop {
        let (apart, shape) = rewritten(addresses, launch, &axes);
        let evaluated = Evaluated::new(&apart, &shape);
        if !cut(&mut axes, &apart, &evaluated) {
            return Some(SplitDigits { addresses: apart, launch: shape, evaluated });
        }
    }
}

/// Splits digits as required by the first expressions that are not affine because of them; returns whether there are
/// any.
fn cut(axes: &mut [Axis; 2], addresses: &Addresses, evaluated: &Evaluated) -> bool {
    let mut any = false;
    for (id, one) in (0..).zip(&addresses.expressions) {
        let ExpressionKind::Binary(operation, left, right) = one.kind else { continue };
        let (Value::Computed | Value::Cases(_), Value::Form(form), Value::Form(by)) =
            (evaluated.value(id), evaluated.value(left), evaluated.value(right))
        else {
            continue;
        };
        let Some(by) = by.as_number() else { continue };
        for divisor in divisors(operation, by) {
            for axis in axes.iter_mut() {
                let Some(cuts) = &mut axis.cuts else { continue };
                for digit in (0..axis.most).rev() {
                    let index = (axis.index)(digit);
                    let (factor, size) = (form.factor(index), evaluated.bounds.extent(index));
                    if factor <= 0 || divisor % factor != 0 {
                        continue;
                    }
                    let by = divisor / factor;
                    if by > 1
                        && by < size
                        && size % by == 0
                        && let Ok(by) = u32::try_from(by)
                        && cuts.add(digit, by, axis.most)
                    {
                        any = true;
                        break;
                    }
                }
            }
            // The forms were computed with the previous digits and are no longer valid.
            if any {
                return true;
            }
        }
    }
    any
}

/// Returns the divisors of an operation.
fn divisors(operation: Binary, by: i64) -> Vec<i64> {
    match operation {
        Binary::SignedQuotient | Binary::UnsignedQuotient | Binary::SignedRemainder | Binary::UnsignedRemainder => {
            vec![by]
        }
        Binary::SignedShiftRight | Binary::UnsignedShiftRight if (0..63).contains(&by) => vec![1 << by],
        // The bits of a mask separate the bits above from those below.
        Binary::And if by != 0 => {
            let lowest = 1i64.wrapping_shl(by.trailing_zeros());
            vec![lowest, by.wrapping_add(lowest)]
        }
        _ => Vec::new(),
    }
}

/// Returns the code that computes numbers from digits, and the launch in which these digits are indices.
fn rewritten(addresses: &Addresses, launch: &Launch, axes: &[Axis; 2]) -> (Addresses, Launch) {
    let mut graph = Graph::new(&[]);
    let cuts = axes.each_ref().map(|axis| axis.cuts.as_ref().filter(|cuts| !cuts.0.is_empty()));
    let [threads, blocks] = cuts;
    let mut numbers: Vec<ExpressionId> = Vec::with_capacity(addresses.expressions.len());
    for &one in &addresses.expressions {
        let number = match (one.kind, threads, blocks) {
            (ExpressionKind::Thread(axis), Some(cuts), _) => {
                put_together(&mut graph, one, axis, cuts, ExpressionKind::Thread)
            }
            (ExpressionKind::Block(axis), _, Some(cuts)) => {
                put_together(&mut graph, one, axis, cuts, ExpressionKind::Block)
            }
            (ExpressionKind::GridSize(axis), _, Some(_)) => {
                graph.constant(i64::from(launch.grid[usize::from(axis).min(2)]), one.bits)
            }
            _ => graph.again(one, |operand| numbers[operand as usize]),
        };
        numbers.push(number);
    }
    let of = |id: ExpressionId| numbers[id as usize];
    let sites = addresses.sites.iter().map(|site| AddressExpression {
        address: of(site.address),
        guard: site.guard.map(of),
        ..site.clone()
    });
    let loops = addresses
        .loops
        .iter()
        .map(|one| LoopExpression { ends: one.ends.iter().map(|&end| of(end)).collect(), ..one.clone() });
    let apart = Addresses {
        sites: sites.collect(),
        loops: loops.collect(),
        expressions: graph.expressions,
        unreached: addresses.unreached.clone(),
        bundles: addresses.bundles.clone(),
        parameters: addresses.parameters.clone(),
        globals: addresses.globals.clone(),
        shared: addresses.shared.clone(),
        resources: addresses.resources.clone(),
    };
    let shape = Launch {
        block: launch.block,
        grid: blocks.map_or(launch.grid, |cuts| cuts.sizes(launch.grid[0])),
        indices: threads.map_or(launch.indices, |cuts| cuts.sizes(launch.block[0])),
        arguments: launch.arguments.clone(),
    };
    (apart, shape)
}

/// Returns the expression of a block or thread index along an axis. Along x, the expression is the sum of the index's
/// digits, each multiplied by its weight. The other axes have size 1, so their index is 0.
fn put_together(
    graph: &mut Graph,
    one: Expression,
    axis: u8,
    cuts: &Cuts,
    index: fn(u8) -> ExpressionKind,
) -> ExpressionId {
    if axis > 0 {
        return graph.constant(0, one.bits);
    }
    let mut sum = graph.add(Expression { kind: index(0), ..one });
    for (digit, &weight) in (1..).zip(&cuts.0) {
        let digit = graph.add(Expression { kind: index(digit), ..one });
        let weight = graph.constant(i64::from(weight), one.bits);
        let part = graph.exact(Binary::Product, digit, weight, one.bits);
        sum = graph.exact(Binary::Sum, sum, part, one.bits);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Form;
    use crate::warp_interpreter::WarpInterpreter;

    /// Builds expressions of 32 bits.
    struct Code(Vec<Expression>);

    impl Code {
        fn node(&mut self, kind: ExpressionKind) -> ExpressionId {
            self.0.push(Expression { bits: 32, exact: false, kind });
            self.0.len() as ExpressionId - 1
        }

        fn with(&mut self, operation: Binary, left: ExpressionId, number: i64) -> ExpressionId {
            let right = self.node(ExpressionKind::Constant(number));
            self.node(ExpressionKind::Binary(operation, left, right))
        }

        fn sum(&mut self, left: ExpressionId, right: ExpressionId) -> ExpressionId {
            self.node(ExpressionKind::Binary(Binary::Sum, left, right))
        }
    }

    fn launch(block: u32, grid: u32) -> Launch {
        Launch::new([block, 1, 1], [grid, 1, 1], Default::default())
    }

    fn apart(code: Code, launch: &Launch) -> (Addresses, Option<SplitDigits>) {
        let address = code.0.len() as ExpressionId - 1;
        let sites = vec![AddressExpression { site: 0, address, guard: None, loops: Vec::new() }];
        let addresses = Addresses { expressions: code.0, sites, ..Addresses::default() };
        let found = split_digits(&addresses, launch, &Evaluated::new(&addresses, launch));
        (addresses, found)
    }

    /// Returns the value of the code for each thread of each block, computed one thread at a time.
    fn values(addresses: &Addresses, launch: &Launch) -> Vec<i64> {
        let address = addresses.sites[0].address;
        let mut interpreter = WarpInterpreter::new(addresses, launch, [address], &[]);
        let mut found = Vec::new();
        for linear in 0..launch.blocks() {
            for number in 0..launch.threads() {
                let at: Vec<i64> = launch.thread(number).into_iter().chain(launch.place(linear)).collect();
                interpreter.set_thread(&at);
                found.push(interpreter.value(address).expect("nothing is unknown"));
            }
        }
        found
    }

    fn is_form(apart: &SplitDigits) -> Option<Form> {
        match apart.evaluated.value(apart.addresses.sites[0].address) {
            Value::Form(form) => Some(form.clone()),
            _ => None,
        }
    }

    #[test]
    fn rows_and_columns_of_a_block_become_indices() {
        // The expression is 16 bytes times the lower two bits, plus 1000 times the next five bits, plus a term that the
        // compiler left shifted.
        let mut code = Code(Vec::new());
        let number = code.node(ExpressionKind::Thread(0));
        let column = code.with(Binary::And, number, 3);
        let column = code.with(Binary::Product, column, 16);
        let row = code.with(Binary::UnsignedShiftRight, number, 2);
        let row = code.with(Binary::And, row, 31);
        let row = code.with(Binary::Product, row, 1000);
        let shifted = code.with(Binary::ShiftLeft, number, 3);
        let shifted = code.with(Binary::And, shifted, 992);
        let sum = code.sum(column, row);
        code.sum(sum, shifted);
        let launch = launch(128, 3);
        let (addresses, found) = apart(code, &launch);
        let found = found.expect("the number is divided by 4");
        assert_eq!(found.launch.indices, [4, 32, 1, 1, 1, 1]);
        assert_eq!(found.launch.grid, [3, 1, 1]);
        assert_eq!(is_form(&found).expect("affine").terms, [(thread(0), 16), (thread(1), 1032)]);
        assert_eq!(values(&addresses, &launch), values(&found.addresses, &found.launch));
    }

    #[test]
    fn four_digits_of_a_thread_and_two_of_a_block() {
        let mut code = Code(Vec::new());
        let number = code.node(ExpressionKind::Thread(0));
        let lane = code.with(Binary::UnsignedRemainder, number, 8);
        let middle = code.with(Binary::UnsignedQuotient, number, 8);
        let middle = code.with(Binary::UnsignedRemainder, middle, 4);
        let middle = code.with(Binary::Product, middle, 100);
        let warp = code.with(Binary::UnsignedQuotient, number, 32);
        let pair = code.with(Binary::UnsignedQuotient, warp, 2);
        let pair = code.with(Binary::Product, pair, 77);
        let warp = code.with(Binary::UnsignedRemainder, warp, 2);
        let warp = code.with(Binary::Product, warp, 10_000);
        let block = code.node(ExpressionKind::Block(0));
        let row = code.with(Binary::SignedQuotient, block, 5);
        let row = code.with(Binary::Product, row, 1 << 20);
        let column = code.with(Binary::SignedRemainder, block, 5);
        let column = code.with(Binary::Product, column, 7);
        let parts = [middle, warp, pair, row, column];
        parts.into_iter().fold(lane, |sum, part| code.sum(sum, part));
        let launch = launch(256, 15);
        let (addresses, found) = apart(code, &launch);
        let found = found.expect("both are divided");
        assert_eq!((found.launch.indices, found.launch.grid), ([8, 4, 2, 4, 1, 1], [5, 3, 1]));
        assert_eq!(is_form(&found).expect("affine").terms.len(), 6);
        assert_eq!(values(&addresses, &launch), values(&found.addresses, &found.launch));
    }

    #[test]
    fn what_has_no_digits_stays() {
        // 96 threads are not divisible by 5.
        let mut code = Code(Vec::new());
        let number = code.node(ExpressionKind::Thread(0));
        code.with(Binary::UnsignedQuotient, number, 5);
        assert!(apart(code, &launch(96, 1)).1.is_none());
        // The code contains no division.
        let mut code = Code(Vec::new());
        let number = code.node(ExpressionKind::Thread(0));
        code.with(Binary::Product, number, 4);
        assert!(apart(code, &launch(128, 2)).1.is_none());
    }
}
