//! Formats numbers and names for sentences.

use warpline_profile::model::Kernel;

/// Formats bytes as `1 byte`, `512 bytes`, `4.0 KiB` or `16.0 MiB`.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} byte{}", if count == 1 { "" } else { "s" });
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Formats `734002` as `734 002`, and small numbers unchanged.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() <= 4 {
        return digits;
    }
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Formats a share as `12.5 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a count with its noun: `1 copy`, `20 copies`.
pub(super) fn several(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// Formats a time with three digits, such as `12.3 ms` or `640 ns`.
pub(super) fn time(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= 0.9995 * unit).unwrap_or((1e-9, "ns"));
    let value = seconds / unit;
    let digits = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.digits$} {name}")
}

/// Formats a value as `3.2` or `32`.
pub(super) fn decimal(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

/// Returns a kernel's name without its parameters, and without the return type that names of template instantiations
/// contain.
pub(super) fn kernel(kernel: &Kernel) -> String {
    let plain = kernel.name.split(['(', '<']).next().unwrap_or_default();
    plain.rsplit(' ').next().unwrap_or_default().to_owned()
}

/// Formats names as a list: "`x`, `y` and `z`".
pub(super) fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [bytes(1), bytes(1023), bytes(1024), bytes(1 << 24)],
            ["1 byte", "1023 bytes", "1.0 KiB", "16.0 MiB"]
        );
        assert_eq!([count(4096), count(12345), count(1234567)], ["4096", "12 345", "1 234 567"]);
        assert_eq!(list(&["x".into(), "y".into(), "z".into()]), "`x`, `y` and `z`");
        assert_eq!(
            [time(12.3456), time(0.002_346), time(640e-9), time(0.999_9e-3), time(3.2e-10)],
            ["12.3 s", "2.35 ms", "640 ns", "1.00 ms", "0.32 ns"]
        );
        assert_eq!([decimal(32.0), decimal(3.5), decimal(0.0)], ["32", "3.5", "0"]);
    }
}
