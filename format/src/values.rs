//! Values that loads, stores and atomic operations transfer, as reported by a run that records them.

use crate::event::{AllocationId, LaunchId};
use crate::operation::FloatFormat;
use serde::{Deserialize, Serialize};

/// Maximum number of distinct values that are stored exactly.
pub const MOST_DISTINCT: usize = 16;

/// Kind of the elements that a site transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ElementKind {
    /// Values of the site cannot be recorded.
    #[default]
    NotFollowed,
    /// Bytes of unknown meaning, such as pointers.
    Untyped,
    /// Integers.
    Integer,
    /// Floating-point numbers.
    Float(FloatFormat),
}

/// Elements that a site transfers, consecutively in each lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Element {
    /// Kind of the elements.
    pub kind: ElementKind,
    /// Bytes of an element; at most 8 unless untyped.
    pub bytes: u32,
}

/// A type that is narrower than another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Narrow {
    /// Signed integers of this many bits.
    Signed(u32),
    /// Unsigned integers of this many bits.
    Unsigned(u32),
    /// Floating-point numbers.
    Float(FloatFormat),
}

impl Narrow {
    /// All types, the narrowest first.
    pub const ALL: [Narrow; 9] = [
        Narrow::Signed(8),
        Narrow::Unsigned(8),
        Narrow::Signed(16),
        Narrow::Unsigned(16),
        Narrow::Float(FloatFormat::Half),
        Narrow::Float(FloatFormat::Brain),
        Narrow::Signed(32),
        Narrow::Unsigned(32),
        Narrow::Float(FloatFormat::Single),
    ];

    /// Returns the bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Narrow::Signed(bits) | Narrow::Unsigned(bits) => bits / 8,
            Narrow::Float(format) => format.bits() / 8,
        }
    }

    /// Returns the name of the type in CUDA C++.
    pub fn name(self) -> &'static str {
        match self {
            Narrow::Signed(8) => "int8_t",
            Narrow::Unsigned(8) => "uint8_t",
            Narrow::Signed(16) => "int16_t",
            Narrow::Unsigned(16) => "uint16_t",
            Narrow::Signed(_) => "int32_t",
            Narrow::Unsigned(_) => "uint32_t",
            Narrow::Float(FloatFormat::Half) => "__half",
            Narrow::Float(FloatFormat::Brain) => "__nv_bfloat16",
            Narrow::Float(FloatFormat::Single) => "float",
            Narrow::Float(FloatFormat::Double) => "double",
        }
    }

    /// Returns whether the type can represent a value of an element exactly.
    fn holds(self, element: Element, bits: u64) -> bool {
        match (self, element.kind) {
            (Narrow::Unsigned(width), ElementKind::Integer) => bits >> width == 0,
            (Narrow::Signed(width), ElementKind::Integer) => {
                let value = element.signed(bits);
                value >> (width - 1) == 0 || value >> (width - 1) == -1
            }
            (Narrow::Float(format), ElementKind::Float(from)) => is_exact(from.value(bits), format),
            _ => false,
        }
    }
}

/// Returns whether a format can represent a number exactly; every format can represent a NaN.
fn is_exact(value: f64, format: FloatFormat) -> bool {
    const LARGEST_HALF: f64 = 65504.0;
    if !value.is_finite() {
        return true;
    }
    let single = value as f32;
    let is_single = f64::from(single) == value;
    match format {
        FloatFormat::Double => true,
        FloatFormat::Single => is_single,
        FloatFormat::Brain => is_single && single.to_bits() & 0xffff == 0,
        FloatFormat::Half => {
            let low_bits = FloatFormat::Double.mantissa() - FloatFormat::Half.mantissa();
            let few_bits = value.to_bits() & ((1 << low_bits) - 1) == 0;
            // This is the distance between subnormal numbers, which is the smallest one.
            few_bits && value.abs() <= LARGEST_HALF && (value * 2f64.powi(24)).fract() == 0.0
        }
    }
}

impl Element {
    /// Returns the integer with these bits.
    pub fn signed(self, bits: u64) -> i64 {
        let unused = 64 - 8 * self.bytes.clamp(1, 8);
        (bits << unused) as i64 >> unused
    }

    /// Returns the value with these bits as text.
    pub fn text(self, bits: u64) -> String {
        match self.kind {
            ElementKind::Integer => self.signed(bits).to_string(),
            // The text has as many digits as distinguish the value from its neighbours.
            ElementKind::Float(FloatFormat::Double) => f64::from_bits(bits).to_string(),
            ElementKind::Float(format) => (format.value(bits) as f32).to_string(),
            _ => format!("{bits:#x}"),
        }
    }

    /// Returns the number with these bits; `None` if the element is not a number.
    pub fn number(self, bits: u64) -> Option<f64> {
        match self.kind {
            ElementKind::Integer => Some(self.signed(bits) as f64),
            ElementKind::Float(format) => Some(format.value(bits)),
            _ => None,
        }
    }

    /// Returns the name of the type.
    pub fn name(self) -> String {
        match self.kind {
            ElementKind::Integer => format!("int{}", 8 * self.bytes),
            ElementKind::Float(FloatFormat::Half) => "half".to_owned(),
            ElementKind::Float(FloatFormat::Brain) => "bfloat16".to_owned(),
            ElementKind::Float(FloatFormat::Single) => "float".to_owned(),
            ElementKind::Float(FloatFormat::Double) => "double".to_owned(),
            _ => String::new(),
        }
    }

    /// Returns whether its values are numbers that can be counted and compared with the ranges of types.
    pub fn is_number(self) -> bool {
        matches!(self.kind, ElementKind::Integer | ElementKind::Float(_))
    }

    /// Returns one bit per narrower type of the same kind, in the order of [`Narrow::ALL`].
    fn candidates(self) -> u16 {
        let is_candidate = |narrow: Narrow| {
            narrow.bytes() < self.bytes
                && match narrow {
                    Narrow::Float(_) => matches!(self.kind, ElementKind::Float(_)),
                    _ => self.kind == ElementKind::Integer,
                }
        };
        (0..).zip(Narrow::ALL).filter(|&(_, narrow)| is_candidate(narrow)).map(|(at, _)| 1 << at).sum()
    }
}

/// Statistics of values of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSet {
    /// Type of the values.
    pub element: Element,
    /// Number of values.
    pub count: u64,
    /// Number of zeros.
    pub zeros: u64,
    /// The distinct values in ascending order of their bits, unless there are more than [`MOST_DISTINCT`].
    pub distinct: Vec<u64>,
    /// Whether there are more than [`MOST_DISTINCT`] values.
    pub many: bool,
    /// One bit per type of [`Narrow::ALL`] that is narrower and can represent all values.
    pub fits: u16,
}

impl ValueSet {
    /// Creates an empty set of values of a type.
    pub fn new(element: Element) -> ValueSet {
        ValueSet { element, fits: element.candidates(), ..ValueSet::default() }
    }

    /// Adds a value.
    #[inline]
    pub fn add(&mut self, bits: u64) {
        self.add_repeated(bits, 1);
    }

    /// Returns whether further values only change the counts.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.many && self.fits == 0
    }

    /// Adds this many values, of which some are zeros, to a settled set.
    #[inline]
    pub fn add_counts(&mut self, count: u64, zeros: u64) {
        debug_assert!(self.is_settled(), "the values themselves matter");
        self.count += count;
        self.zeros += zeros;
    }

    /// Adds a value this many times.
    #[inline]
    pub fn add_repeated(&mut self, bits: u64, times: u64) {
        self.count += times;
        self.zeros += if bits == 0 { times } else { 0 };
        if self.many {
            if self.fits != 0 {
                self.narrow(bits);
            }
            return;
        }
        if self.distinct.first() != Some(&bits) {
            self.add_distinct(bits);
        }
    }

    fn add_distinct(&mut self, bits: u64) {
        let Err(at) = self.distinct.binary_search(&bits) else { return };
        self.narrow(bits);
        if self.distinct.len() < MOST_DISTINCT {
            self.distinct.insert(at, bits);
        } else {
            self.distinct = Vec::new();
            self.many = true;
        }
    }

    fn narrow(&mut self, bits: u64) {
        let mut left = self.fits;
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            if !Narrow::ALL[at as usize].holds(self.element, bits) {
                self.fits &= !(1 << at);
            }
        }
    }

    /// Adds the values of another set. If the types differ, only the numbers of values and zeros are kept.
    pub fn merge(&mut self, other: &ValueSet) {
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.zeros = self.zeros.saturating_add(other.zeros);
        if other.count == 0 {
            return;
        }
        if self.element != other.element {
            self.element = Element { kind: ElementKind::Untyped, bytes: 0 };
            (self.distinct, self.many, self.fits) = (Vec::new(), true, 0);
            return;
        }
        self.fits &= other.fits;
        self.many |= other.many;
        if !self.many {
            self.distinct.extend(&other.distinct);
            self.distinct.sort_unstable();
            self.distinct.dedup();
            self.many = self.distinct.len() > MOST_DISTINCT;
        }
        if self.many {
            self.distinct = Vec::new();
        }
    }

    /// Returns the narrower types that can represent all values, the narrowest first.
    pub fn fitting(&self) -> impl Iterator<Item = Narrow> + '_ {
        let holds = |at: usize| self.count > 0 && self.fits >> at & 1 != 0;
        Narrow::ALL.into_iter().enumerate().filter(move |&(at, _)| holds(at)).map(|(_, narrow)| narrow)
    }
}

/// Values that one site transferred from or to one allocation in one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteValues {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's sites.
    pub site: u32,
    /// Number of the allocation; `None` for shared memory.
    pub allocation: Option<AllocationId>,
    /// Number of executions by warps.
    pub requests: u64,
    /// Active lanes, summed over requests.
    pub lanes: u64,
    /// Number of requests in which lanes with different addresses have equal values.
    pub uniform: u64,
    /// For stores and atomic operations: number of requests that change no byte.
    pub silent_requests: u64,
    /// Number of lanes that change no byte, if these bytes were written before.
    pub silent_lanes: u64,
    /// Values that loads read, and values in memory after stores and atomic operations.
    pub values: ValueSet,
}

impl SiteValues {
    /// Adds the values of the same site in another launch.
    pub fn merge(&mut self, other: &SiteValues) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.lanes, other.lanes),
            (&mut self.uniform, other.uniform),
            (&mut self.silent_requests, other.silent_requests),
            (&mut self.silent_lanes, other.silent_lanes),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.values.merge(&other.values);
    }
}

/// Zeros in an allocation at the end of a launch that uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZeroBlocks {
    /// Allocation.
    pub allocation: AllocationId,
    /// Number of aligned blocks of 32 bytes.
    pub sectors: u64,
    /// Number of these that contain only zeros.
    pub zero_sectors: u64,
    /// Number of aligned blocks of 128 bytes.
    pub lines: u64,
    /// Number of these that contain only zeros.
    pub zero_lines: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Element = Element { kind: ElementKind::Integer, bytes: 4 };
    const DOUBLE: Element = Element { kind: ElementKind::Float(FloatFormat::Double), bytes: 8 };

    fn set(element: Element, bits: impl IntoIterator<Item = u64>) -> ValueSet {
        let mut set = ValueSet::new(element);
        bits.into_iter().for_each(|bits| set.add(bits));
        set
    }

    fn names(set: &ValueSet) -> Vec<&'static str> {
        set.fitting().map(Narrow::name).collect()
    }

    #[test]
    fn repeated_values_are_values_added_one_by_one() {
        let runs = [(3, 2), (0, 4), (3, 1), (70_000, 3), (0, 1)];
        let mut repeated = ValueSet::new(INT);
        runs.iter().for_each(|&(bits, times)| repeated.add_repeated(bits, times as u64));
        let each = runs.iter().flat_map(|&(bits, times)| std::iter::repeat_n(bits, times));
        assert_eq!(repeated, set(INT, each));
        assert_eq!((repeated.count, repeated.zeros), (11, 5));
        let mut settled = set(INT, (0..20).map(|value| value * 0x00ff_ffff));
        let mut each = settled.clone();
        assert!(settled.is_settled() && !repeated.is_settled());
        settled.add_counts(3, 1);
        [7, 0, 9].into_iter().for_each(|bits| each.add(bits));
        assert_eq!(settled, each);
    }

    #[test]
    fn ranges_of_integers_are_those_of_their_types() {
        let of = |values: &[i32]| names(&set(INT, values.iter().map(|&value| u64::from(value as u32))));
        assert_eq!(of(&[-128, 127]), ["int8_t", "int16_t"]);
        assert_eq!(of(&[0, 255]), ["uint8_t", "int16_t", "uint16_t"]);
        assert_eq!(of(&[-1, 255]), ["int16_t"]);
        assert_eq!(of(&[32768]), ["uint16_t"]);
        assert_eq!(of(&[65536]), [""; 0]);
        assert!(names(&ValueSet::new(INT)).is_empty());
    }

    #[test]
    fn values_are_written_as_in_the_source() {
        let single = Element { kind: ElementKind::Float(FloatFormat::Single), bytes: 4 };
        assert_eq!(single.text(u64::from(0.7f32.to_bits())), "0.7");
        assert_eq!(DOUBLE.text(0.7f64.to_bits()), "0.7");
        assert_eq!(INT.text(u64::from(u32::MAX)), "-1");
    }

    #[test]
    fn doubles_that_shorter_formats_hold_are_found() {
        let of = |values: &[f64]| names(&set(DOUBLE, values.iter().map(|value| value.to_bits())));
        assert_eq!(of(&[1.5, -2048.0, 0.0]), ["__half", "__nv_bfloat16", "float"]);
        assert_eq!(of(&[2049.0]), ["float"]);
        assert_eq!(of(&[70000.0]), ["float"]);
        assert_eq!(of(&[f64::from(1 << 20)]), ["__nv_bfloat16", "float"]);
        assert_eq!(of(&[2f64.powi(-24)]), ["__half", "__nv_bfloat16", "float"]);
        assert_eq!(of(&[2f64.powi(-25)]), ["__nv_bfloat16", "float"]);
        assert_eq!(of(&[0.1]), [""; 0]);
        assert_eq!(of(&[f64::NAN, f64::INFINITY]), ["__half", "__nv_bfloat16", "float"]);
    }

    /// Compares sets with a plain list of values, for any division into parts.
    #[test]
    fn sets_agree_with_a_list() {
        for (different, part) in [(1, 1), (3, 5), (16, 7), (17, 7), (40, 64)] {
            let values: Vec<u64> = (0..200u64).map(|at| at * 7 % different * 1000).collect();
            let mut sum = ValueSet::default();
            values.chunks(part).for_each(|chunk| sum.merge(&set(INT, chunk.iter().copied())));
            let mut distinct = values.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(sum, set(INT, values.iter().copied()), "{different} in parts of {part}");
            assert_eq!((sum.count, sum.many), (200, different > 16));
            assert_eq!(sum.distinct, if different > 16 { Vec::new() } else { distinct });
            assert_eq!(sum.zeros, values.iter().filter(|value| **value == 0).count() as u64);
        }
    }

    #[test]
    fn sets_of_different_types_claim_nothing() {
        let mut sum = set(INT, [1]);
        sum.merge(&set(DOUBLE, [0]));
        assert_eq!((sum.count, sum.zeros, sum.many), (2, 1, true));
        assert!(sum.distinct.is_empty() && names(&sum).is_empty() && !sum.element.is_number());
    }
}
