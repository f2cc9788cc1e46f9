//! Elements of allocations that a run rounds to a smaller type (`--what-if-type`), and the errors of the roundings.

use crate::event::{AllocationId, LaunchId, PathId};
use crate::operation::FloatFormat;
use crate::values::Element;
use serde::{Deserialize, Serialize};

/// Types to which elements are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RoundedType {
    /// IEEE 754 binary16.
    #[default]
    Half,
    /// A format with 8 exponent bits and 7 mantissa bits.
    Brain,
    /// An 8-bit format with 4 exponent bits and 3 mantissa bits, without infinity.
    E4m3,
    /// An 8-bit format with 5 exponent bits and 2 mantissa bits.
    E5m2,
    /// IEEE 754 binary32, for elements of type `double`.
    Single,
}

/// A rounded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    /// The value of the type.
    pub value: f64,
    /// Whether the value exceeds the range of the type.
    pub overflows: bool,
    /// Whether a value that is not zero becomes zero or subnormal.
    pub underflows: bool,
}

impl RoundedType {
    /// All types.
    pub const ALL: [RoundedType; 5] =
        [RoundedType::Half, RoundedType::Brain, RoundedType::E4m3, RoundedType::E5m2, RoundedType::Single];

    /// Returns the name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            RoundedType::Half => "half",
            RoundedType::Brain => "bfloat16",
            RoundedType::E4m3 => "e4m3",
            RoundedType::E5m2 => "e5m2",
            RoundedType::Single => "float",
        }
    }

    /// Returns the type with this name.
    pub fn from_name(name: &str) -> Option<RoundedType> {
        RoundedType::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Returns the size in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            RoundedType::E4m3 | RoundedType::E5m2 => 1,
            RoundedType::Half | RoundedType::Brain => 2,
            RoundedType::Single => 4,
        }
    }

    /// Returns the number of bits of the mantissa, the exponent of the smallest normal number, and the largest number.
    fn limits(self) -> (i32, i32, f64) {
        match self {
            RoundedType::Half => (10, -14, 65504.0),
            RoundedType::Brain => (7, -126, f64::from(f32::from_bits(0x7f7f_0000))),
            RoundedType::E4m3 => (3, -6, 448.0),
            RoundedType::E5m2 => (2, -14, 57344.0),
            RoundedType::Single => (23, -126, f64::from(f32::MAX)),
        }
    }

    /// Rounds a value to nearest, ties to even. Values beyond the range become infinite, or (8-bit types) the largest
    /// number, as in conversions of CUDA.
    pub fn round(self, value: f64) -> Rounded {
        if !value.is_finite() || value == 0.0 {
            return Rounded { value, overflows: false, underflows: false };
        }
        let (mantissa, least, largest) = self.limits();
        let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        let step = exponent.max(least) - mantissa;
        // A multiplication by a power of two is exact here: the result has at most one bit more than the mantissa before
        // the point, and `step` is between -149 and 1021.
        let rounded = (value * 2f64.powi(-step)).round_ties_even() * 2f64.powi(step);
        if rounded.abs() > largest {
            let limit = if self.bytes() == 1 { largest } else { f64::INFINITY };
            return Rounded { value: limit.copysign(value), overflows: true, underflows: false };
        }
        Rounded { value: rounded, overflows: false, underflows: rounded.abs() < 2f64.powi(least) }
    }
}

/// A request of `--what-if-type`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhatIfType {
    /// Name of the allocations; `*` stands for any text.
    pub name: String,
    /// Type to which their elements are rounded.
    pub to: RoundedType,
}

impl WhatIfType {
    /// Returns whether the request is for allocations with this name.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.name.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

/// An element of an allocation with its value before it was rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Index of the element in the allocation.
    pub element: u64,
    /// Value of the element.
    pub value: f64,
    /// Launch that stored it; `None` if a copy or the host did.
    pub launch: Option<LaunchId>,
}

/// Errors of rounded elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundingErrors {
    /// Number of rounded elements.
    pub elements: u64,
    /// Number of these that the type cannot represent exactly.
    pub inexact: u64,
    /// Number of these that exceed the range of the type.
    pub overflows: u64,
    /// Number of values that are not zero and become zero.
    pub zeros: u64,
    /// Number of values that become subnormal.
    pub subnormals: u64,
    /// Largest relative error, without overflows.
    pub largest: f64,
    /// Sum of the relative errors, without overflows.
    pub sum: f64,
    /// The first element with the largest relative error.
    pub worst: Option<Example>,
    /// The first element that exceeds the range.
    pub first_overflow: Option<Example>,
    /// The first element that becomes zero or subnormal.
    pub first_underflow: Option<Example>,
}

impl RoundingErrors {
    /// Rounds a value and counts its error; returns the rounded value.
    pub fn round(&mut self, to: RoundedType, value: f64, element: u64, launch: Option<LaunchId>) -> f64 {
        let rounded = to.round(value);
        self.elements += 1;
        if value.is_nan() || rounded.value == value && !rounded.underflows {
            return rounded.value;
        }
        let example = Some(Example { element, value, launch });
        self.inexact += u64::from(rounded.value != value);
        if rounded.overflows {
            self.overflows += 1;
            self.first_overflow = self.first_overflow.or(example);
            return rounded.value;
        }
        if rounded.underflows {
            self.zeros += u64::from(rounded.value == 0.0);
            self.subnormals += u64::from(rounded.value != 0.0);
            self.first_underflow = self.first_underflow.or(example);
        }
        let error = ((rounded.value - value) / value).abs();
        self.sum += error;
        if error > self.largest {
            (self.largest, self.worst) = (error, example);
        }
        rounded.value
    }

    /// Adds the errors of later elements.
    pub fn add(&mut self, more: &RoundingErrors) {
        for (sum, more) in [
            (&mut self.elements, more.elements),
            (&mut self.inexact, more.inexact),
            (&mut self.overflows, more.overflows),
            (&mut self.zeros, more.zeros),
            (&mut self.subnormals, more.subnormals),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.sum += more.sum;
        if more.largest > self.largest {
            (self.largest, self.worst) = (more.largest, more.worst);
        }
        self.first_overflow = self.first_overflow.or(more.first_overflow);
        self.first_underflow = self.first_underflow.or(more.first_underflow);
    }
}

/// What wrote the elements that were rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Writer {
    /// Stores or atomic operations of a site in a launch.
    Site {
        /// Launch.
        launch: LaunchId,
        /// Index into the site table's sites.
        site: u32,
    },
    /// A launch whose stores have no hooks. Only elements that rounding changes are counted.
    Launch(LaunchId),
    /// A copy that was called on this path.
    Copy(PathId),
    /// A fill that was called on this path.
    Fill(PathId),
    /// The host, without a call, or the initial value of a variable. Only elements that rounding changes are counted.
    Host,
}

/// Elements of one allocation that one writer wrote and that were rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rounding {
    /// Allocation.
    pub allocation: AllocationId,
    /// What wrote them.
    pub writer: Writer,
    /// Format of the elements.
    pub from: FloatFormat,
    /// Type to which they were rounded.
    pub to: RoundedType,
    /// Errors.
    pub errors: RoundingErrors,
}

/// A site that accesses an allocation whose elements are rounded, but not as these elements. What it stores is not
/// rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAccess {
    /// Allocation.
    pub allocation: AllocationId,
    /// First launch in which it does so.
    pub launch: LaunchId,
    /// Index into the site table's sites.
    pub site: u32,
}

/// What a run does with the bytes that are copied to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Results {
    /// They are not kept.
    #[default]
    Ignored,
    /// They are written to this file.
    Kept(String),
    /// They are compared with those that another run has written to this file.
    Compared(String),
}

/// Differences of elements between two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Number of compared elements.
    pub elements: u64,
    /// Number of these that differ.
    pub different: u64,
    /// Number of these that are infinite or not a number in one of the runs.
    pub not_finite: u64,
    /// Number of these that are zero without rounding; they have no relative difference.
    pub from_zero: u64,
    /// Largest relative difference.
    pub largest: f64,
    /// Sum of the relative differences.
    pub sum: f64,
    /// The first element with the largest relative difference, with its value without rounding.
    pub worst: Option<Example>,
}

impl Differences {
    /// Compares an element with its value without rounding.
    pub fn compare(&mut self, before: f64, now: f64, element: u64) {
        self.elements += 1;
        if before == now || before.is_nan() && now.is_nan() {
            return;
        }
        self.different += 1;
        if !before.is_finite() || !now.is_finite() {
            self.not_finite += 1;
        } else if before == 0.0 {
            self.from_zero += 1;
        } else {
            let difference = ((now - before) / before).abs();
            self.sum += difference;
            if difference > self.largest {
                (self.largest, self.worst) = (difference, Some(Example { element, value: before, launch: None }));
            }
        }
    }

    /// Adds the differences of later copies.
    pub fn add(&mut self, more: &Differences) {
        for (sum, more) in [
            (&mut self.elements, more.elements),
            (&mut self.different, more.different),
            (&mut self.not_finite, more.not_finite),
            (&mut self.from_zero, more.from_zero),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.sum += more.sum;
        if more.largest > self.largest {
            (self.largest, self.worst) = (more.largest, more.worst);
        }
    }
}

/// A copy to the host that was compared with the same copy of a run without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedCopy {
    /// Allocation from which the bytes were copied.
    pub allocation: AllocationId,
    /// Path on which the copy was called.
    pub path: PathId,
    /// Element that was compared; single bytes if accesses show no type.
    pub element: Element,
    /// Differences.
    pub differences: Differences,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns all non-negative finite numbers of a type in ascending order.
    fn numbers(to: RoundedType) -> Vec<f64> {
        let small = |exponents: u32, bits: u32, last: u32| -> Vec<f64> {
            let bias = (1 << (exponents - 1)) - 1;
            let value = |code: u32| {
                let (exponent, mantissa) = ((code >> bits) as i32, f64::from(code & ((1 << bits) - 1)));
                let scale = 2f64.powi(-(bits as i32));
                match exponent {
                    0 => mantissa * scale * 2f64.powi(1 - bias),
                    _ => (1.0 + mantissa * scale) * 2f64.powi(exponent - bias),
                }
            };
            (0..=last).map(value).collect()
        };
        match to {
            RoundedType::Half => small(5, 10, 0x7bff),
            RoundedType::Brain => small(8, 7, 0x7f7f),
            RoundedType::E4m3 => small(4, 3, 0x7e),
            RoundedType::E5m2 => small(5, 2, 0x7b),
            RoundedType::Single => Vec::new(),
        }
    }

    /// Rounds by comparing a value with its two neighbours among all numbers of the type.
    fn reference(numbers: &[f64], value: f64) -> f64 {
        let magnitude = value.abs();
        let above = numbers.partition_point(|number| *number < magnitude);
        let last = numbers.len() - 1;
        let rounded = if above > last {
            // The next number would be even, so a tie goes there.
            let next = 2.0 * numbers[last] - numbers[last - 1];
            if magnitude - numbers[last] < next - magnitude { numbers[last] } else { f64::INFINITY }
        } else if above == 0 {
            numbers[0]
        } else {
            let (low, high) = (numbers[above - 1], numbers[above]);
            match (magnitude - low).partial_cmp(&(high - magnitude)).expect("numbers") {
                std::cmp::Ordering::Less => low,
                std::cmp::Ordering::Greater => high,
                std::cmp::Ordering::Equal if above % 2 == 0 => high,
                std::cmp::Ordering::Equal => low,
            }
        };
        rounded.copysign(value)
    }

    #[test]
    fn all_numbers_and_the_points_between_them_round_as_a_list_of_numbers_says() {
        for to in [RoundedType::Half, RoundedType::Brain, RoundedType::E4m3, RoundedType::E5m2] {
            let numbers = numbers(to);
            let (_, least, largest) = to.limits();
            assert_eq!(numbers.last(), Some(&largest), "{to:?}");
            for pair in numbers.windows(2) {
                let middle = pair[0].midpoint(pair[1]);
                for value in [pair[0], middle.next_down(), middle, middle.next_up(), pair[1]] {
                    for value in [value, -value] {
                        let rounded = to.round(value);
                        assert_eq!(rounded.value.to_bits(), reference(&numbers, value).to_bits(), "{value} {to:?}");
                        assert!(!rounded.overflows);
                        let is_small = value != 0.0 && rounded.value.abs() < 2f64.powi(least);
                        assert_eq!(rounded.underflows, is_small, "{value}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_beyond_the_range_are_infinite_or_the_largest_number() {
        let half = |value| RoundedType::Half.round(value);
        assert_eq!((half(65519.9).value, half(65520.0).value), (65504.0, f64::INFINITY));
        assert!(half(-1e300).overflows && half(-1e300).value == f64::NEG_INFINITY);
        assert!(!half(f64::INFINITY).overflows && half(f64::NAN).value.is_nan());
        // 464 is between 448 and 480, which e4m3 does not have; CUDA's conversion saturates.
        assert_eq!(
            [463.0, 464.0, 465.0, -1e9].map(|value| RoundedType::E4m3.round(value).value),
            [448.0, 448.0, 448.0, -448.0]
        );
        assert!(RoundedType::E4m3.round(465.0).overflows && !RoundedType::E4m3.round(464.0).overflows);
        assert_eq!(RoundedType::E5m2.round(1e9).value, 57344.0);
        assert_eq!(RoundedType::Single.round(1e39).value, f64::INFINITY);
    }

    #[test]
    fn errors_are_counted() {
        let mut errors = RoundingErrors::default();
        // 2049 lies between 2048 and 2050; 2^-25 is a tie between zero and the smallest number.
        for (element, value) in
            [1.0, 2049.0, 1e6, 2f64.powi(-25), 2f64.powi(-24), f64::NAN, 0.0].into_iter().enumerate()
        {
            errors.round(RoundedType::Half, value, element as u64, Some(3));
        }
        assert_eq!((errors.elements, errors.inexact), (7, 3));
        assert_eq!((errors.overflows, errors.zeros, errors.subnormals), (1, 1, 1));
        assert_eq!((errors.largest, errors.sum), (1.0, 1.0 + 1.0 / 2049.0));
        let element = |example: Option<Example>| example.map(|example| (example.element, example.launch));
        assert_eq!(element(errors.worst), Some((3, Some(3))));
        assert_eq!(
            [errors.first_overflow, errors.first_underflow].map(element),
            [Some((2, Some(3))), Some((3, Some(3)))]
        );
        let mut sum = RoundingErrors::default();
        sum.add(&errors);
        sum.add(&errors);
        assert_eq!((sum.elements, sum.sum, sum.worst), (14, 2.0 * errors.sum, errors.worst));
    }

    #[test]
    fn differences_are_relative_to_the_values_without_rounding() {
        let mut all = Differences::default();
        let pairs = [(2.0, 2.0), (2.0, 1.0), (4.0, 2.0), (0.0, 1.0), (1.0, f64::INFINITY), (f64::NAN, f64::NAN)];
        for (element, (before, now)) in (0..).zip(pairs) {
            all.compare(before, now, element);
        }
        assert_eq!((all.elements, all.different, all.not_finite, all.from_zero), (6, 4, 1, 1));
        assert_eq!((all.largest, all.sum, all.worst.map(|worst| worst.element)), (0.5, 1.0, Some(1)));
        let mut sum = all;
        sum.add(&all);
        assert_eq!((sum.elements, sum.sum, sum.worst), (12, 2.0, all.worst));
    }

    #[test]
    fn names_may_contain_asterisks() {
        let matches =
            |pattern: &str, name: &str| WhatIfType { name: pattern.to_owned(), ..Default::default() }.matches(name);
        assert!(matches("d_x", "d_x") && !matches("d_x", "d_xy") && !matches("d_x", "d"));
        assert!(matches("d_*", "d_x") && matches("*", "") && matches("*x*z", "axyz") && matches("a*b*c", "abbc"));
        assert!(!matches("d_*y", "d_x") && !matches("ab*bc", "abc"));
    }

    proptest! {
        #[test]
        fn floats_are_those_of_the_processor(value in any::<f64>()) {
            let (rounded, wanted) = (RoundedType::Single.round(value).value, f64::from(value as f32));
            prop_assert!(rounded.to_bits() == wanted.to_bits() || value.is_nan() && rounded.is_nan());
        }

        #[test]
        fn any_value_rounds_as_a_list_of_numbers_says(bits in any::<u32>(), low in any::<f64>()) {
            static NUMBERS: std::sync::LazyLock<[Vec<f64>; 3]> =
                std::sync::LazyLock::new(|| [RoundedType::Half, RoundedType::Brain, RoundedType::E5m2].map(numbers));
            for (to, numbers) in [RoundedType::Half, RoundedType::Brain, RoundedType::E5m2].into_iter().zip(&*NUMBERS) {
                for value in [f64::from(f32::from_bits(bits)), low].into_iter().filter(|value| value.is_finite()) {
                    let wanted = reference(numbers, value);
                    let wanted = if wanted.is_infinite() && to.bytes() == 1 { 57344f64.copysign(value) } else { wanted };
                    prop_assert_eq!(to.round(value).value.to_bits(), wanted.to_bits(), "{} {:?}", value, to);
                }
            }
        }
    }
}
