//! Computes the issue slot of a warp in which an access occurs, for each iteration.

use super::program::{Step, counters_of, steps};
use super::turn::Turn;
use crate::form::{Bounds, FIXED};
use crate::traffic::access::MemoryAccess;

/// Maximum number of a warp's requests that are enumerated.
const MOST: usize = 1 << 17;

/// Returns, indexed by access and iteration of its loops (the innermost loop varies fastest), the issue slot in which a
/// warp makes the access if it makes all accesses. Each slot has `requests` requests. Returns `None` if a warp makes
/// too many requests, or if the loops of a thread's points have different trip counts.
pub fn turns_of_iterations(accesses: &[MemoryAccess], bounds: &Bounds, requests: u32) -> Option<Vec<Vec<u32>>> {
    // Points of a thread may have separate loops, which a warp runs together.
    let differs =
        |counter| counters_of(accesses, counter).into_iter().any(|own| bounds.extent(own) != bounds.extent(counter));
    if (FIXED..bounds.0.len()).any(differs) {
        return None;
    }
    let (steps, _) = steps(accesses, bounds, 1.0);
    let mut found: Vec<Vec<u32>> = vec![Vec::new(); accesses.len()];
    let (mut turn, mut number, mut made) = (Turn::new(requests), 0u32, 0usize);
    let mut iterations = vec![0i64; bounds.0.len().saturating_sub(FIXED)];
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        at += 1;
        match *step {
            Step::Open(counter, of_loop, close) => {
                turn.leave_item();
                iterations[counter - FIXED] = 0;
                if of_loop <= 0 {
                    at = close + 1;
                }
            }
            Step::Close(counter, of_loop, first) => {
                turn.leave_item();
                iterations[counter - FIXED] += 1;
                if iterations[counter - FIXED] < of_loop {
                    at = first;
                }
            }
            Step::Access(access) => {
                made += 1;
                if made > MOST {
                    return None;
                }
                let own = &accesses[access];
                if turn.is_over_before(own) {
                    (turn, number) = (Turn::new(requests), number + 1);
                }
                turn.make(own);
                found[access].push(number);
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Form, Truth};

    fn access(site: usize, counters: &[usize]) -> MemoryAccess {
        let counters = counters.to_vec();
        let form = Form::number(0);
        MemoryAccess {
            site,
            item: site,
            shared_counters: counters.clone(),
            counters,
            ..MemoryAccess::load(form, Truth::Known(true), 4)
        }
    }

    #[test]
    fn turns_go_on_from_one_iteration_to_the_next() {
        let mut bounds = Bounds(vec![(0, 0); FIXED]);
        bounds.0.extend([(0, 2), (0, 1)]);
        let (outer, inner) = (FIXED, FIXED + 1);
        // One access precedes a loop of three iterations, and one follows it. The loop contains a loop of two
        // iterations with two accesses.
        let all = [access(0, &[]), access(1, &[outer, inner]), access(2, &[outer, inner]), access(3, &[outer])];
        let turns = turns_of_iterations(&all, &bounds, 4).unwrap();
        // 0 1 2 1 | 2 3 1 2 | 1 2 3 1 | 2 1 2 3
        assert_eq!(turns, [vec![0], vec![0, 0, 1, 2, 2, 3], vec![0, 1, 1, 2, 3, 3], vec![1, 2, 3]]);
    }

    #[test]
    fn long_loops_are_left_to_others() {
        let mut bounds = Bounds(vec![(0, 0); FIXED]);
        bounds.0.push((0, MOST as i64));
        assert_eq!(turns_of_iterations(&[access(0, &[FIXED])], &bounds, 4), None);
    }
}
