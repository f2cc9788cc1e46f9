//! A stratum: launches of one kernel, shape and path. In each round, some of the launches were recorded.

use warpline_format::event::Sampled;

/// Figures of one launch, indexed by number of the figure. Missing figures are 0.
pub(super) type Values = Vec<f64>;

/// Statistics of a figure, or of a pair of figures, over completed rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    /// Estimated sum over the launches.
    pub(super) total: f64,
    /// Variance of the estimate, or covariance of two estimates.
    pub(super) variance: f64,
    /// Sum of the squared parts of the variance, each divided by its degrees of freedom (Satterthwaite).
    parts: f64,
    /// Sum of squared differences from the rounds' means, or of products for a pair.
    squares: f64,
}

/// An estimated sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) total: f64,
    /// Variance of the sum; `None` if it cannot be estimated.
    pub(super) variance: Option<f64>,
    /// The parts of the variance, for the degrees of freedom.
    pub(super) parts: f64,
}

/// A stratum.
#[derive(Clone, Debug, Default)]
pub(super) struct Stratum {
    pub(super) round: u32,
    pub(super) length: u64,
    pub(super) taken: u64,
    pub(super) seen: u64,
    /// Recorded launches of the current round.
    pub(super) samples: Vec<Values>,
    /// Over all completed rounds: sums of the weights of the variances, and degrees of freedom.
    weight: f64,
    degrees: f64,
    figures: Vec<Moments>,
    pairs: Vec<Moments>,
    last: Last,
    pub(super) launches: u64,
    pub(super) recorded: u64,
}

/// The last round with samples.
#[derive(Clone, Debug, Default)]
struct Last {
    means: Values,
    variances: Values,
    /// Differences between its means and those of the previous round.
    steps: Values,
    launches: f64,
    samples: f64,
}

fn at(values: &[f64], index: usize) -> f64 {
    values.get(index).copied().unwrap_or(0.0)
}

fn moments(all: &mut Vec<Moments>, index: usize) -> &mut Moments {
    if all.len() <= index {
        all.resize(index + 1, Moments::default());
    }
    &mut all[index]
}

/// Returns the sum of the products of two figures' differences from their means.
fn products(samples: &[Values], one: usize, other: usize) -> f64 {
    let count = samples.len().max(1) as f64;
    let mean = |figure: usize| samples.iter().map(|values| at(values, figure)).sum::<f64>() / count;
    let (mean_one, mean_other) = (mean(one), mean(other));
    samples.iter().map(|values| (at(values, one) - mean_one) * (at(values, other) - mean_other)).sum()
}

/// Returns the squared error that is assumed for a sudden change within a round. All recorded launches may lie on one
/// side of the change; the change is then visible in the difference from the previous round's mean. The factor is close
/// to the root mean square of the error for any position of the change (0.32). Bounds use twice this value or more.
fn sudden(launches: f64, step: f64) -> f64 {
    (0.4 * launches * step).powi(2)
}

impl Stratum {
    /// Creates a stratum at the start of a round.
    pub(super) fn new(round: u32, length: u64, taken: u64) -> Stratum {
        Stratum { round, length, taken, ..Stratum::default() }
    }

    /// Records the start of a launch in this round or the next. There are `figures` figures, and `pairs` are combined.
    pub(super) fn begin(&mut self, place: &Sampled, figures: usize, pairs: &[(usize, usize)]) {
        if place.round > self.round {
            self.end_round(figures, pairs);
            (self.round, self.length, self.taken, self.seen) = (place.round, place.length, place.taken, 0);
        }
        self.seen += 1;
        self.launches += 1;
    }

    /// Records the end of a recorded launch. Its figures are not used if a later round has already started, as can
    /// happen with overlapping streams on a GPU.
    pub(super) fn end(&mut self, place: &Sampled, values: Values) {
        self.recorded += 1;
        if self.round == place.round && (self.samples.len() as u64) < self.taken {
            self.samples.push(values);
        }
    }

    /// Ends the round. There are `figures` figures, and `pairs` are combined.
    fn end_round(&mut self, figures: usize, pairs: &[(usize, usize)]) {
        let (seen, count) = (self.seen as f64, self.samples.len() as f64);
        if self.samples.is_empty() {
            // The launches of the round have not ended, or no model has their figures. Earlier rounds represent them.
            self.weight += self.tail_weight();
            for figure in 0..figures {
                let mean = at(&self.last.means, figure);
                moments(&mut self.figures, figure).total += seen * mean;
            }
            return;
        }
        // The very first launch is excluded, because it starts with empty caches.
        let samples = if self.round == 0 && count > 2.0 { &self.samples[1..] } else { &self.samples[..] };
        let weight = if count > 1.0 { seen * (seen - count).max(0.0) / count } else { 0.0 };
        let degrees = samples.len() as f64 - 1.0;
        let mut last = Last { launches: seen, samples: samples.len() as f64, ..Last::default() };
        for figure in 0..figures {
            let sum = |samples: &[Values]| samples.iter().map(|values| at(values, figure)).sum::<f64>();
            let mean = sum(samples) / samples.len() as f64;
            let squares = products(samples, figure, figure);
            let step = if self.last.samples > 0.0 { mean - at(&self.last.means, figure) } else { 0.0 };
            last.means.push(mean);
            last.variances.push(squares / degrees.max(1.0));
            last.steps.push(step);
            let moments = moments(&mut self.figures, figure);
            moments.total += seen * sum(&self.samples) / count;
            moments.squares += squares;
            if weight > 0.0 {
                let variance = (weight * squares / degrees).max(sudden(seen, step));
                moments.variance += variance;
                moments.parts += variance * variance / degrees;
            }
        }
        for (pair, &(one, other)) in pairs.iter().enumerate() {
            let products = products(samples, one, other);
            let moments = moments(&mut self.pairs, pair);
            moments.squares += products;
        }
        self.weight += weight;
        self.degrees += degrees;
        self.last = last;
        self.samples.clear();
    }

    /// Returns the sum of a figure over all launches, including those of the incomplete round.
    pub(super) fn sum(&self, figure: usize) -> Sum {
        let known = self.figures.get(figure).copied().unwrap_or_default();
        let squares = products(&self.samples, figure, figure);
        let total = known.total + self.tail(figure);
        let Some(pooled) = self.pooled(&known, squares) else { return Sum { total, variance: None, parts: 0.0 } };
        // The larger of two estimates is used. The variance within each round reflects a drift. The pooled variance is
        // reliable even if two launches of a round are equal by chance.
        let (own, own_parts) = self.own(figure, &known, squares);
        let variance = pooled.max(own);
        let mut degrees = self.all_degrees().max(1.0);
        if own_parts > 0.0 {
            degrees = degrees.min(own * own / own_parts);
        }
        Sum { total, variance: Some(variance), parts: variance * variance / degrees }
    }

    /// Returns the variance computed separately for each round, and its parts.
    fn own(&self, figure: usize, known: &Moments, squares: f64) -> (f64, f64) {
        let count = self.samples.len() as f64;
        let (tail, degrees) = if count > 1.0 {
            let mean = self.samples.iter().map(|values| at(values, figure)).sum::<f64>() / count;
            let step = if self.last.samples > 0.0 { mean - at(&self.last.means, figure) } else { 0.0 };
            let missing = if self.tail_weight() > 0.0 { sudden(self.seen as f64, step) } else { 0.0 };
            ((self.tail_weight() * squares / (count - 1.0)).max(missing), count - 1.0)
        } else {
            // The incomplete round is estimated from the last complete one. In a drift, the variance grows with the
            // square of a round's length. Launches of a round without samples differ from the last round as much as
            // that differs from its predecessor.
            let longer = (self.seen as f64 / self.last.launches.max(1.0)).powi(2);
            let apart = if self.samples.is_empty() { at(&self.last.steps, figure) * self.seen as f64 } else { 0.0 };
            (self.tail_weight() * at(&self.last.variances, figure) * longer + apart * apart, 1.0)
        };
        (known.variance + tail, known.parts + tail * tail / degrees)
    }

    /// Returns the covariance of the sums of two figures.
    pub(super) fn covariance(&self, pair: usize, (one, other): (usize, usize)) -> Option<f64> {
        let known = self.pairs.get(pair).copied().unwrap_or_default();
        let products = products(&self.samples, one, other);
        // This form is the one that is always available, so that variances and covariance are consistent.
        self.pooled(&known, products)
    }

    /// Returns the pooled variance of one figure, consistent with [`Self::covariance`].
    pub(super) fn pooled_variance(&self, figure: usize) -> Option<f64> {
        let known = self.figures.get(figure).copied().unwrap_or_default();
        self.pooled(&known, products(&self.samples, figure, figure))
    }

    fn all_degrees(&self) -> f64 {
        self.degrees + (self.samples.len() as f64 - 1.0).max(0.0)
    }

    /// Returns the estimated sum over the launches of the incomplete round.
    fn tail(&self, figure: usize) -> f64 {
        let count = self.samples.len() as f64;
        let mean = match self.samples.is_empty() {
            true => at(&self.last.means, figure),
            false => self.samples.iter().map(|values| at(values, figure)).sum::<f64>() / count,
        };
        self.seen as f64 * mean
    }

    /// Returns the weight of the within-round variance in the incomplete round.
    fn tail_weight(&self) -> f64 {
        let (seen, count) = (self.seen as f64, self.samples.len() as f64);
        if self.samples.is_empty() {
            // The launches vary, and so does the mean of the previous round that represents them.
            return seen + seen * seen / self.last.samples.max(1.0);
        }
        seen * (seen - count).max(0.0) / count
    }

    /// Returns the variance computed with one pooled variance for all rounds.
    fn pooled(&self, known: &Moments, squares: f64) -> Option<f64> {
        let weight = self.weight + self.tail_weight();
        if weight == 0.0 {
            return Some(0.0);
        }
        let degrees = self.all_degrees();
        (degrees > 0.0).then(|| weight * (known.squares + squares) / degrees)
    }
}
