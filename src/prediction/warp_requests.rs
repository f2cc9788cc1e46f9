//! Counts the requests of a site whose address is affine in a class of blocks. Warps differ only in their start
//! addresses.

use std::collections::HashMap;

use super::classes::Class;
use super::form::{Bounds, FIXED, Form, Index, THREADS, gcd, thread};
use super::launch::Launch;
use super::request::{Costs, PERIOD, Pattern, Requests};
use super::site_access::Access;

/// Patterns of warps, by how their addresses change with the thread.
pub(super) struct Warps {
    threads: Vec<[i64; THREADS]>,
    /// The pattern of each warp and the byte distance to its first lane, by the factors of the threads' indices.
    known: HashMap<[i64; THREADS], Vec<(Pattern, i64)>>,
}

impl Warps {
    /// Prepares the threads of a block.
    pub(super) fn new(launch: &Launch) -> Warps {
        let threads = (0..launch.warps() * 32).map(|number| launch.thread(number)).collect();
        Warps { threads, known: HashMap::new() }
    }

    /// Returns the requests of one site in a class. Sites that differ by whole lines have equal costs.
    pub(super) fn requests(
        &mut self,
        form: &Form,
        within: &mut Within<'_>,
        counters: &[Index],
        access: Access,
        costs: &mut Costs<'_>,
    ) -> Requests {
        let place = match within.ways.iter().position(|way| way.terms == form.terms) {
            Some(place) => place,
            None => {
                let alike = self.alike(form, within.class, costs);
                let outer = (THREADS..FIXED).chain(counters.iter().copied());
                let starts = Starts::enumerate(&Form { constant: 0, ..form.clone() }, &within.class.bounds, outer);
                within.ways.push(WarpPatterns { terms: form.terms.clone(), alike, starts, known: Vec::new() });
                within.ways.len() - 1
            }
        };
        let way = &mut within.ways[place];
        let key = (form.constant as u64 % PERIOD, access);
        if let Some((_, sum)) = way.known.iter().find(|(known, _)| *known == key) {
            return *sum;
        }
        let mut sum = Requests::default();
        for &((pattern, mask, first), times) in &way.alike {
            for &(start, often) in &way.starts.0 {
                let at = start.wrapping_add(first).wrapping_add(form.constant as u64);
                sum.add(&costs.alike(pattern, mask, at, access.kind()), often * times);
            }
        }
        way.known.push((key, sum));
        sum
    }

    /// Groups the warps of a class that have the same lanes, pattern and offset in the line. They have equal costs.
    fn alike(&mut self, form: &Form, class: &Class, costs: &mut Costs<'_>) -> Vec<((Pattern, u32, u64), f64)> {
        let factors = std::array::from_fn(|axis| form.factor(thread(axis)));
        let threads = &self.threads;
        let patterns = self.known.entry(factors).or_insert_with(|| {
            let offset = |thread: &[i64; THREADS]| {
                let terms = thread.iter().zip(factors).map(|(at, factor)| at.wrapping_mul(factor));
                terms.fold(0i64, i64::wrapping_add)
            };
            let warps = threads.chunks(32).map(|warp| {
                let offsets: Vec<i64> = warp.iter().map(offset).collect();
                let distances = std::array::from_fn(|lane| offsets[lane].wrapping_sub(offsets[0]));
                (costs.pattern(distances), offsets[0])
            });
            warps.collect()
        });
        let mut alike: Vec<((Pattern, u32, u64), f64)> = Vec::new();
        for (&(pattern, first), &mask) in patterns.iter().zip(&class.masks).filter(|(_, mask)| **mask != 0) {
            let key = (pattern, mask, (first as u64) % PERIOD);
            match alike.iter_mut().find(|(known, _)| *known == key) {
                Some((_, times)) => *times += 1.0,
                None => alike.push((key, 1.0)),
            }
        }
        alike
    }
}

/// A class, with the counts that were computed in it.
pub(super) struct Within<'a> {
    pub(super) class: &'a Class,
    pub(super) ways: Vec<WarpPatterns>,
}

/// The addresses of some sites within a class, without their constants.
pub(super) struct WarpPatterns {
    terms: Vec<(Index, i64)>,
    alike: Vec<((Pattern, u32, u64), f64)>,
    /// Start offsets of the form without its constant.
    starts: Starts,
    /// Counts by the constant's offset in a line and the access.
    known: Vec<((u64, Access), Requests)>,
}

/// Start offsets in a line of the addresses of a form over a box of some indices: the first address for each offset,
/// and the frequency.
#[derive(Debug, PartialEq)]
struct Starts(Vec<(u64, f64)>);

impl Starts {
    fn enumerate(form: &Form, bounds: &Bounds, indices: impl Iterator<Item = Index>) -> Starts {
        let mut starts = vec![(form.constant as u64, 1.0)];
        for index in indices {
            let (factor, (low, _)) = (form.factor(index), bounds.range(index));
            let extent = bounds.extent(index);
            let base = factor.wrapping_mul(low) as u64;
            let step = factor as u64 % PERIOD;
            if factor == 0 || step == 0 {
                starts.iter_mut().for_each(|(start, often)| {
                    *start = start.wrapping_add(base);
                    *often *= extent as f64;
                });
                continue;
            }
            // After this many steps, multiples of the factor repeat their offsets.
            let round = (PERIOD / gcd(step, PERIOD)) as i64;
            let mut next: Vec<(u64, f64)> = Vec::new();
            for number in 0..round.min(extent) {
                let times = extent / round + i64::from(number < extent % round);
                let moved = base.wrapping_add(factor.wrapping_mul(number) as u64);
                for &(start, often) in &starts {
                    let at = start.wrapping_add(moved);
                    match next.iter_mut().find(|(known, _)| *known % PERIOD == at % PERIOD) {
                        Some((_, sum)) => *sum += often * times as f64,
                        None => next.push((at, often * times as f64)),
                    }
                }
            }
            starts = next;
        }
        Starts(starts)
    }
}
