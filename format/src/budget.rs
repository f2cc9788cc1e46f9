//! Selects the launches that are recorded if a budget limits the recorded work. The selection is a pure function of the
//! launches and a seed, so identical runs record the same launches.
//!
//! Launches of one kernel, shape and call path are a *stratum*. The first launches of a stratum ([`FIRST`]) are
//! recorded. Later launches form *rounds*, and [`TAKEN`] launches of each round are recorded, selected at random. The
//! length of rounds doubles until the budget is met. The length of a round is fixed before its first launch. Each round
//! is therefore a simple random sample of its launches, and sums over rounds are unbiased, whatever the lengths depend
//! on.

use crate::event::{PathId, Sampled};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Number of launches of a stratum that are always recorded. The first one is special, because it starts with different
/// cache contents; two more show the variation between launches.
pub const FIRST: u64 = 3;
/// Number of launches recorded per round, the minimum that shows the variation within the round.
pub const TAKEN: u64 = 2;
/// Number of launches in a stratum's first round.
const FIRST_ROUND: u64 = 4;
/// Maximum length of a round.
pub const LONGEST_ROUND: u64 = 1 << 32;
/// Maximum number of separate strata for shapes and paths of a kernel. Later ones share a stratum per order of
/// magnitude of their warps.
const OWN_STRATA: u32 = 64;
/// Maximum number of strata. All further launches share the last one.
pub const MOST_STRATA: u32 = 1 << 15;
/// A share of 1 in the unit of [`Budget::millionths`].
const MILLION: u128 = 1_000_000;

/// A budget given by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Share of the work to record, in millionths.
    pub millionths: u32,
    /// Seed of the random selection.
    pub seed: u64,
}

/// Properties of a launch that are known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Numbers of module and function.
    pub kernel: (u32, u32),
    /// Blocks of the grid.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Host call path.
    pub path: PathId,
}

impl Shape {
    /// Returns the number of warps of the launch.
    pub fn warps(&self) -> u64 {
        let product = |sizes: [u32; 3]| sizes.iter().fold(1u64, |all, &size| all.saturating_mul(size.into()));
        product(self.grid).saturating_mul(product(self.block).div_ceil(32))
    }
}

/// The properties that launches of a stratum share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// All known properties.
    Alike(Shape),
    /// Kernel, and order of magnitude of the number of warps.
    Magnitude((u32, u32), u32),
    /// No common property.
    Any,
}

/// The current round of a stratum.
#[derive(Clone, Copy, Debug)]
struct Round {
    number: u32,
    length: u64,
    taken: u64,
    /// Number of launches of the round so far.
    seen: u64,
    /// Recorded launches, if not all are recorded.
    drawn: [u64; TAKEN as usize],
}

#[derive(Clone, Copy, Debug)]
struct Stratum {
    round: Round,
    /// Work and warps of the recorded launches.
    work: u128,
    warps: u128,
}

/// The decision about a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Position in the sample; the caller sets the number of the launch.
    pub place: Sampled,
    /// Whether the launch is recorded.
    pub recorded: bool,
}

/// Decides which launches are recorded.
#[derive(Clone, Debug)]
pub struct Sampler {
    budget: Budget,
    numbers: HashMap<Kind, u32>,
    /// Number of separate strata, by kernel.
    own: HashMap<(u32, u32), u32>,
    strata: Vec<Stratum>,
    /// Work of all launches so far, and of the recorded launches.
    work: u128,
    recorded: u128,
}

impl Sampler {
    /// Creates a sampler without launches.
    pub fn new(budget: Budget) -> Sampler {
        let budget = Budget { millionths: budget.millionths.clamp(1, MILLION as u32), ..budget };
        Sampler { budget, numbers: HashMap::new(), own: HashMap::new(), strata: Vec::new(), work: 0, recorded: 0 }
    }

    /// Decides whether the next launch of this shape is recorded. Each call must be followed by [`Self::ran`].
    pub fn choose(&mut self, shape: &Shape) -> Choice {
        let number = self.stratum(shape);
        let over = self.strata.get(number as usize).map(|stratum| stratum.round);
        let round = match over {
            None => {
                let round = Round { number: 0, length: FIRST, taken: FIRST, seen: 0, drawn: [0; TAKEN as usize] };
                self.strata.push(Stratum { round, work: 0, warps: 0 });
                round
            }
            Some(round) if round.seen >= round.length => self.next_round(number, round),
            Some(round) => round,
        };
        let recorded = round.length == round.taken || round.drawn.contains(&round.seen);
        self.strata[number as usize].round = Round { seen: round.seen + 1, ..round };
        let Round { number: round, length, taken, .. } = round;
        Choice { place: Sampled { launch: 0, stratum: number, round, length, taken }, recorded }
    }

    /// Adds the work of a launch: the bytes of its records if it was recorded, otherwise an estimate from its warps.
    pub fn ran(&mut self, choice: &Choice, warps: u64, work: Option<u64>) {
        let warps = u128::from(warps);
        let stratum = &mut self.strata[choice.place.stratum as usize];
        let work = if choice.recorded {
            let work = work.map_or(warps, u128::from);
            stratum.work = stratum.work.saturating_add(work);
            stratum.warps = stratum.warps.saturating_add(warps);
            self.recorded = self.recorded.saturating_add(work);
            work
        } else {
            // The work per warp is assumed to be that of the stratum's recorded launches.
            stratum.work.saturating_mul(warps) / stratum.warps.max(1)
        };
        self.work = self.work.saturating_add(work);
    }

    /// Returns the number of a stratum; a new stratum gets the next number.
    fn stratum(&mut self, shape: &Shape) -> u32 {
        let next = self.strata.len() as u32;
        let mut kind = Kind::Alike(*shape);
        if let Some(&number) = self.numbers.get(&kind) {
            return number;
        }
        let own = self.own.entry(shape.kernel).or_default();
        if *own < OWN_STRATA && next + 1 < MOST_STRATA {
            *own += 1;
        } else {
            kind = Kind::Magnitude(shape.kernel, shape.warps().max(1).ilog2());
            if next + 1 >= MOST_STRATA && !self.numbers.contains_key(&kind) {
                kind = Kind::Any;
            }
        }
        *self.numbers.entry(kind).or_insert(next)
    }

    fn next_round(&self, stratum: u32, over: Round) -> Round {
        // If more was recorded than the budget permits, the rate is reduced by the same factor, so that the share
        // approaches the budget as the run continues.
        let share = u128::from(self.budget.millionths);
        let granted = self.work.saturating_mul(share) / MILLION;
        let plain = (u128::from(TAKEN) * MILLION).div_ceil(share);
        let wanted =
            if self.recorded > granted { plain.saturating_mul(self.recorded).div_ceil(granted.max(1)) } else { plain };
        let most = if over.number == 0 { FIRST_ROUND } else { over.length.saturating_mul(2).min(LONGEST_ROUND) };
        let length = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(TAKEN, most);
        let number = over.number.saturating_add(1);
        Round { number, length, taken: TAKEN, seen: 0, drawn: draw(self.budget.seed, stratum, number, length) }
    }
}

/// Returns two different numbers below `length`; all pairs are equally likely.
fn draw(seed: u64, stratum: u32, round: u32, length: u64) -> [u64; TAKEN as usize] {
    let mut state = mix(seed ^ mix((u64::from(stratum) << 32) | u64::from(round)));
    let mut below = |limit: u64| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        // This is the high half of the product. Its bias is below 2^-31 for the longest round.
        ((u128::from(mix(state)) * u128::from(limit.max(1))) >> 64) as u64
    };
    let first = below(length);
    let second = below(length - 1);
    [first, if second >= first { second + 1 } else { second }]
}

/// Returns a well-mixed hash of a number: SplitMix64's finaliser (Steele, Lea, Flood: Fast splittable pseudorandom
/// number generators).
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(kernel: u32, blocks: u32, path: PathId) -> Shape {
        Shape { kernel: (0, kernel), grid: [blocks, 1, 1], block: [64, 1, 1], dynamic_shared: 0, path }
    }

    /// Returns the decision for each launch, and the recorded share of the work.
    fn recorded(budget: Budget, launches: &[(Shape, u64)]) -> (Vec<Choice>, f64) {
        let mut sampler = Sampler::new(budget);
        let mut choices = Vec::new();
        for (shape, work) in launches {
            let choice = sampler.choose(shape);
            sampler.ran(&choice, shape.warps(), choice.recorded.then_some(*work));
            choices.push(choice);
        }
        (choices, sampler.recorded as f64 / sampler.work as f64)
    }

    #[test]
    fn the_first_launches_of_each_kind_are_recorded_and_the_share_comes_down_to_the_budget() {
        let budget = Budget { millionths: 100_000, seed: 0 };
        let launches: Vec<_> =
            (0..30_000).map(|number| (shape(number % 3, 8 + number % 2, number % 5), 1000)).collect();
        let (choices, share) = recorded(budget, &launches);
        assert!((0.08..0.105).contains(&share), "{share}");
        let kinds = 30;
        let strata = choices.iter().map(|choice| choice.place.stratum).max();
        assert_eq!(strata, Some(kinds - 1));
        for stratum in 0..kinds {
            let mut of_it = choices.iter().filter(|choice| choice.place.stratum == stratum);
            assert!(of_it.by_ref().take(FIRST as usize).all(|choice| choice.recorded));
            let rest: Vec<_> = of_it.collect();
            let (early, late) = rest.split_at(12);
            let count = |part: &[&Choice]| part.iter().filter(|choice| choice.recorded).count();
            assert!(count(early) * late.len() > count(late) * early.len(), "the rate goes down");
        }
        // The same launches give the same decisions; another seed gives other decisions.
        assert_eq!(recorded(budget, &launches).0, choices);
        let (others, _) = recorded(Budget { seed: 1, ..budget }, &launches);
        assert_ne!(others, choices);
    }

    #[test]
    fn the_whole_budget_records_everything() {
        let launches: Vec<_> = (0..100).map(|number| (shape(0, 1 + number / 10, 0), 5)).collect();
        let (choices, share) = recorded(Budget { millionths: 1_000_000, seed: 3 }, &launches);
        assert!(choices.iter().all(|choice| choice.recorded));
        assert_eq!(share, 1.0);
    }

    #[test]
    fn countless_shapes_share_strata() {
        let launches: Vec<_> = (0..40_000).map(|number| (shape(0, 1 + number, 0), 10)).collect();
        let (choices, share) = recorded(Budget { millionths: 50_000, seed: 0 }, &launches);
        let strata = choices.iter().map(|choice| choice.place.stratum).max().unwrap() + 1;
        assert!(strata < OWN_STRATA + 32, "{strata}");
        assert!(share < 0.08, "{share}");
    }

    proptest! {
        #[test]
        fn each_round_has_as_many_as_it_says(
            millionths in 1u32..1_200_000, seed: u64, kinds in prop::collection::vec((0u32..3, 1u32..4, 0u32..2, 0u64..1 << 40), 1..400),
        ) {
            let launches: Vec<_> =
                kinds.iter().map(|&(kernel, blocks, path, work)| (shape(kernel, blocks, path), work)).collect();
            let (choices, _) = recorded(Budget { millionths, seed }, &launches);
            let mut rounds: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
            for choice in &choices {
                let Sampled { stratum, round, length, taken, .. } = choice.place;
                let (seen, got) = rounds.entry((stratum, round)).or_default();
                *seen += 1;
                *got += u64::from(choice.recorded);
                prop_assert!(*seen <= length && *got <= taken && taken <= length);
                if *seen == length {
                    prop_assert_eq!(*got, taken);
                }
            }
        }

        #[test]
        fn drawn_numbers_differ(seed: u64, stratum: u32, round: u32, length in 2u64..100) {
            let [first, second] = draw(seed, stratum, round, length);
            prop_assert!(first != second && first < length && second < length);
        }
    }

    #[test]
    fn every_pair_is_as_likely() {
        let mut counts = HashMap::new();
        for round in 0..20_000 {
            let mut pair = draw(7, 3, round, 5);
            pair.sort_unstable();
            *counts.entry(pair).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        assert!(counts.values().all(|count| (1800..2200).contains(count)), "{counts:?}");
    }
}
