//! Profiles of one program put together.

mod metrics;

pub(crate) use metrics::add;

/// The nearest number of nine digits, as profiles have them.
fn nine_digits(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}
