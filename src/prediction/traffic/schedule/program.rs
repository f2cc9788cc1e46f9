//! Arranges accesses in the order in which a warp executes them, inside their loops.

use std::ops::Range;

use crate::form::{Bounds, Index};
use crate::traffic::access::MemoryAccess;

/// A step of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The warp makes the access with this number.
    Access(usize),
    /// The warp enters a loop with this many iterations, which ends at this step.
    Open(Index, i64, usize),
    /// The warp returns to the loop's first step if an iteration is left.
    Close(Index, i64, usize),
}

/// Trip counts of shortened loops are multiples of these numbers, so that the share of first touches stays the same.
/// Adjacent words fill a line after 32 iterations and a sector after 8.
const ROUNDS: [i64; 2] = [32, 8];

/// Returns the steps of a warp. Accesses are in program order; a loop is placed at its first access. If `share` is
/// below 1, outermost loops are shortened to about that share. Also returns the largest share that was skipped in a
/// loop.
pub fn steps(accesses: &[MemoryAccess], bounds: &Bounds, share: f64) -> (Vec<Step>, f64) {
    let mut found = Vec::new();
    let all: Vec<usize> = (0..accesses.len()).collect();
    nest(accesses, bounds, &all, (0, share), &mut found);
    let outermost = accesses.iter().filter_map(|access| access.shared_counters.first());
    let left_out = outermost
        .map(|&counter| trip_count(accesses, bounds, counter))
        .filter(|iterations| *iterations > 0)
        .map(|iterations| {
            let run = shortened(iterations, share);
            1.0 - run as f64 / iterations as f64
        });
    (found, left_out.fold(0.0, f64::max))
}

/// Returns the position of a warp that has made a share of its accesses: its next step, and the completed iterations of
/// the loops around it.
pub fn position_after(steps: &[Step], share: f64) -> (usize, Vec<(Index, i64)>) {
    let (mut at, mut end) = (0, steps.len());
    let mut left = (share.clamp(0.0, 1.0) * accesses_of(steps, 0..end) as f64) as u64;
    let mut iterations = Vec::new();
    while at < end && left > 0 {
        match steps[at] {
            Step::Open(counter, all, close) => {
                let body = accesses_of(steps, at + 1..close).max(1);
                let whole = body.saturating_mul(all.max(0) as u64);
                if left < whole {
                    iterations.push((counter, (left / body) as i64));
                    (at, end, left) = (at + 1, close, left % body);
                } else {
                    (at, left) = (close + 1, left - whole);
                }
            }
            Step::Access(_) => (at, left) = (at + 1, left - 1),
            Step::Close(..) => at += 1,
        }
    }
    (at, iterations)
}

/// Returns the number of accesses that a warp makes in some steps.
fn accesses_of(steps: &[Step], range: Range<usize>) -> u64 {
    let (mut at, mut all) = (range.start, 0u64);
    while at < range.end {
        match steps[at] {
            Step::Open(_, iterations, close) => {
                let body = accesses_of(steps, at + 1..close);
                all = all.saturating_add(body.saturating_mul(iterations.max(0) as u64));
                at = close + 1;
            }
            Step::Access(_) => (at, all) = (at + 1, all + 1),
            Step::Close(..) => at += 1,
        }
    }
    all
}

/// Returns the counters that count a loop's iterations for one of a thread's points each; the loop's own counter comes
/// first.
pub fn counters_of(accesses: &[MemoryAccess], counter: Index) -> Vec<Index> {
    let mut found = vec![counter];
    for access in accesses {
        let own = access.shared_counters.iter().zip(&access.counters).filter(|(shared, _)| **shared == counter);
        found.extend(own.map(|(_, own)| *own));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the trip count of a loop: the largest over a thread's points.
fn trip_count(accesses: &[MemoryAccess], bounds: &Bounds, counter: Index) -> i64 {
    counters_of(accesses, counter).into_iter().map(|own| bounds.extent(own)).max().unwrap_or(0)
}

/// Returns the trip count of a loop that runs only a share of its iterations.
fn shortened(iterations: i64, share: f64) -> i64 {
    let wanted = (iterations as f64 * share) as i64;
    let round = ROUNDS.into_iter().find(|&round| wanted >= round).unwrap_or(ROUNDS[1]);
    if share >= 1.0 { iterations } else { (wanted / round * round).max(round).min(iterations) }
}

fn nest(
    accesses: &[MemoryAccess],
    bounds: &Bounds,
    members: &[usize],
    (depth, share): (usize, f64),
    found: &mut Vec<Step>,
) {
    let mut done: Vec<Index> = Vec::new();
    for &number in members {
        let Some(&counter) = accesses[number].shared_counters.get(depth) else {
            found.push(Step::Access(number));
            continue;
        };
        if done.contains(&counter) {
            continue;
        }
        done.push(counter);
        let inside: Vec<usize> =
            members.iter().copied().filter(|&one| accesses[one].shared_counters.get(depth) == Some(&counter)).collect();
        let iterations = shortened(trip_count(accesses, bounds, counter), share);
        if iterations == 0 {
            continue;
        }
        let open = found.len();
        found.push(Step::Open(counter, iterations, 0));
        nest(accesses, bounds, &inside, (depth + 1, 1.0), found);
        let close = found.len();
        found.push(Step::Close(counter, iterations, open + 1));
        found[open] = Step::Open(counter, iterations, close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Truth};

    fn access(counters: &[Index]) -> MemoryAccess {
        MemoryAccess {
            counters: counters.to_vec(),
            shared_counters: counters.to_vec(),
            ..MemoryAccess::load(Form::number(0), Truth::Known(true), 4)
        }
    }

    #[test]
    fn shortened_loops_fill_sectors() {
        assert_eq!(
            [shortened(100, 1.0), shortened(1000, 0.1), shortened(1000, 0.02), shortened(1000, 1e-9)],
            [100, 96, 16, 8]
        );
        assert_eq!(shortened(5, 0.5), 5);
    }

    #[test]
    fn places_are_told_by_accesses_made() {
        let accesses = [access(&[]), access(&[6]), access(&[6, 7]), access(&[])];
        let mut bounds = Bounds(vec![(0, 0); 6]);
        bounds.0.extend([(0, 9), (0, 2)]);
        // The total is 42: one access, ten iterations of one access plus three in the inner loop, and one access.
        let (steps, _) = steps(&accesses, &bounds, 1.0);
        let at = |made: f64| position_after(&steps, (made + 0.5) / 42.0);
        assert_eq!(at(0.0), (0, vec![]));
        assert_eq!(at(1.0), (1, vec![]));
        // The warp has completed two iterations, and in the third one access and the first access of the inner loop.
        let (step, iterations) = at(10.0);
        assert_eq!((steps[step], iterations), (Step::Open(7, 3, 5), vec![(6, 2)]));
        let (step, iterations) = at(11.0);
        assert_eq!((steps[step], iterations), (Step::Access(2), vec![(6, 2), (7, 1)]));
        assert_eq!(at(41.0), (7, vec![]));
    }

    #[test]
    fn loops_keep_the_order_of_the_code() {
        let accesses = [access(&[]), access(&[6]), access(&[6, 7]), access(&[6]), access(&[8]), access(&[])];
        let mut bounds = Bounds(vec![(0, 0); 6]);
        bounds.0.extend([(0, 1), (0, 2), (0, -1)]);
        use Step::*;
        let want = [
            Access(0),
            Open(6, 2, 6),
            Access(1),
            Open(7, 3, 5),
            Access(2),
            Close(7, 3, 4),
            Access(3),
            Close(6, 2, 2),
            Access(5),
        ];
        let (found, left_out) = steps(&accesses, &bounds, 1.0);
        assert_eq!(left_out, 0.0);
        assert_eq!(found.len(), want.len());
        assert_eq!(found[0], want[0]);
        // The steps that open and close a loop refer to each other.
        for (at, step) in found.iter().enumerate() {
            match *step {
                Open(counter, iterations, close) => assert_eq!(found[close], Close(counter, iterations, at + 1)),
                Close(counter, iterations, first) => assert_eq!(found[first - 1], Open(counter, iterations, at)),
                Access(_) => assert_eq!(*step, want[at]),
            }
        }
    }
}
