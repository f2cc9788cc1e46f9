//! Student's distribution.

/// Probability that a bound is correct, over repeated random samples of launches.
pub const CONFIDENCE: f64 = 0.95;

/// Two-sided quantiles of [`CONFIDENCE`], by degrees of freedom.
const TABLE: [(f64, f64); 18] = [
    (1.0, 12.706),
    (2.0, 4.303),
    (3.0, 3.182),
    (4.0, 2.776),
    (5.0, 2.571),
    (6.0, 2.447),
    (7.0, 2.365),
    (8.0, 2.306),
    (9.0, 2.262),
    (10.0, 2.228),
    (12.0, 2.179),
    (15.0, 2.131),
    (20.0, 2.086),
    (30.0, 2.042),
    (40.0, 2.021),
    (60.0, 2.000),
    (120.0, 1.980),
    (1000.0, 1.962),
];

/// Returns half the width of an interval in standard errors. For degrees of freedom between two entries of the table,
/// it returns the value of the lower one.
pub fn student(degrees: f64) -> f64 {
    let known = TABLE.iter().rev().find(|(least, _)| *least <= degrees);
    known.map_or(TABLE[0].1, |(_, quantile)| *quantile)
}

#[cfg(test)]
mod tests {
    use super::student;

    #[test]
    fn quantiles_narrow_with_degrees() {
        assert_eq!((student(0.3), student(1.0), student(2.9)), (12.706, 12.706, 4.303));
        assert_eq!((student(60.0), student(1e9), student(f64::NAN)), (2.0, 1.962, 12.706));
    }
}
