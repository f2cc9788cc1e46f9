//! Operations whose values are followed or recorded: what their numbers mean, the types of their values, what the
//! floating-point check reports, and how the code that a program is lowered again from travels in it.

use crate::event::{AllocationId, LaunchId};
use crate::occupancy::Resources;
use crate::site_table::FrameId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an operation does with values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OperationClass {
    /// Computes its result from its operands.
    #[default]
    Arithmetic,
    /// Divides its first operand by its second.
    Division,
    /// Converts its operand to another type.
    Conversion,
    /// Reads memory; its operand is the address.
    Load,
    /// Writes memory; its result is the value, its operand the address.
    Store,
    /// Compares its operands; its result is one bit.
    Comparison,
    /// Updates memory; its result is the previous value, its operands the address and the values.
    Atomic,
}

/// Operations whose values are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedKinds {
    /// Floating-point arithmetic, comparisons, conversions and functions.
    pub float: bool,
    /// Integer arithmetic, comparisons and conversions.
    pub integer: bool,
    /// Loads, stores and atomic operations.
    pub memory: bool,
}

impl RecordedKinds {
    const NAMES: [&'static str; 3] = ["float", "int", "memory"];

    /// Returns whether no operation is recorded.
    pub fn is_empty(self) -> bool {
        self == RecordedKinds::default()
    }

    /// Reads names with commas between them, as [`Self::to_names`] returns them; `None` for any other.
    pub fn from_names(names: &str) -> Option<RecordedKinds> {
        let mut kinds = RecordedKinds::default();
        for name in names.split(',') {
            match Self::NAMES.iter().position(|known| *known == name)? {
                0 => kinds.float = true,
                1 => kinds.integer = true,
                _ => kinds.memory = true,
            }
        }
        Some(kinds)
    }

    /// The names of the kinds, with commas between them.
    pub fn to_names(self) -> String {
        let chosen = [self.float, self.integer, self.memory];
        let names = Self::NAMES.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(",")
    }

    /// Returns whether an operation of this class is recorded, whose first operand (for loads and stores, the value) has
    /// this type.
    pub fn contains(self, class: OperationClass, ty: ValueType) -> bool {
        match class {
            OperationClass::Load | OperationClass::Store | OperationClass::Atomic => self.memory,
            _ if ty.float().is_some() => self.float,
            _ => self.integer,
        }
    }
}

/// What code that follows values reports to the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Exceptional floating-point values.
    pub exceptions: bool,
    /// All executions of these operations.
    pub recorded: RecordedKinds,
    /// Ends of paths, and lines, to which the recording is limited; all when empty.
    pub lines: Vec<(String, u32)>,
}

impl Followed {
    const EXCEPTIONS: &str = "exceptions";

    /// Returns whether nothing is reported.
    pub fn is_empty(&self) -> bool {
        !self.exceptions && self.recorded.is_empty()
    }

    /// What is reported, as `exceptions,float,int`; without the lines.
    pub fn to_names(&self) -> String {
        let exceptions = if self.exceptions { Self::EXCEPTIONS } else { "" };
        let names = [exceptions.to_owned(), self.recorded.to_names()];
        names.iter().filter(|name| !name.is_empty()).map(String::as_str).collect::<Vec<_>>().join(",")
    }

    /// Reads [`Self::to_names`]; `None` for any other.
    pub fn from_names(names: &str) -> Option<Followed> {
        let (exceptions, kinds): (Vec<_>, Vec<_>) = names.split(',').partition(|name| *name == Self::EXCEPTIONS);
        let recorded =
            if kinds.is_empty() { RecordedKinds::default() } else { RecordedKinds::from_names(&kinds.join(","))? };
        Some(Followed { exceptions: !exceptions.is_empty(), recorded, lines: Vec::new() })
    }
}

/// Set in the word of an operation's types that the runtime gets if the execution is recorded.
pub const RECORDED: u32 = 1 << 31;

/// Type of a recorded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ValueType {
    /// IEEE 754 binary16.
    Half,
    /// 8 bits of exponent, 7 of mantissa.
    Brain,
    /// IEEE 754 binary32.
    Single,
    /// IEEE 754 binary64.
    Double,
    /// One bit: 1 is true.
    Bit,
    /// 8-bit integer.
    Int8,
    /// 16-bit integer.
    Int16,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer, or an address.
    Int64,
}

impl ValueType {
    /// All of them.
    pub const ALL: [ValueType; 9] = [
        ValueType::Half,
        ValueType::Brain,
        ValueType::Single,
        ValueType::Double,
        ValueType::Bit,
        ValueType::Int8,
        ValueType::Int16,
        ValueType::Int32,
        ValueType::Int64,
    ];

    /// The type of an integer of this width; `None` where values of that width are not recorded.
    pub fn from_integer_bits(bits: u32) -> Option<ValueType> {
        Some(match bits {
            1 => ValueType::Bit,
            8 => ValueType::Int8,
            16 => ValueType::Int16,
            32 => ValueType::Int32,
            64 => ValueType::Int64,
            _ => return None,
        })
    }

    /// The floating-point format, if it is one.
    pub fn float(self) -> Option<FloatFormat> {
        FloatFormat::ALL.get(self as usize).copied()
    }

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        match self {
            ValueType::Bit => 1,
            ValueType::Int8 => 8,
            ValueType::Int16 => 16,
            ValueType::Int32 => 32,
            ValueType::Int64 => 64,
            float => float.float().map_or(64, FloatFormat::bits),
        }
    }

    /// Name, as `f32` or `i64`.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Half => "f16",
            ValueType::Brain => "bf16",
            ValueType::Single => "f32",
            ValueType::Double => "f64",
            ValueType::Bit => "i1",
            ValueType::Int8 => "i8",
            ValueType::Int16 => "i16",
            ValueType::Int32 => "i32",
            ValueType::Int64 => "i64",
        }
    }
}

impl From<FloatFormat> for ValueType {
    fn from(format: FloatFormat) -> ValueType {
        ValueType::ALL[format as usize]
    }
}

/// Types of an operation's result and operands: four bits each from the lowest up, the result first. Zero is no value,
/// else one more than the position in [`ValueType::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueTypes(pub u32);

impl ValueTypes {
    /// The types of a result and of up to three operands.
    pub fn new(types: &[ValueType]) -> ValueTypes {
        let code = |(index, ty): (usize, &ValueType)| (*ty as u32 + 1) << (4 * index);
        ValueTypes(types.iter().take(4).enumerate().map(code).sum())
    }

    /// The type of the result (0) or of an operand (1 to 3).
    pub fn get(self, index: usize) -> Option<ValueType> {
        let code = (self.0 >> (4 * (index & 7))) & 0xf;
        ValueType::ALL.get((code as usize).wrapping_sub(1)).copied()
    }

    /// Number of operands.
    pub fn operands(self) -> usize {
        (1..4).take_while(|index| self.get(*index).is_some()).count()
    }
}

/// Floating-point formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatFormat {
    /// IEEE 754 binary16.
    Half,
    /// 8 bits of exponent, 7 of mantissa.
    Brain,
    /// IEEE 754 binary32.
    #[default]
    Single,
    /// IEEE 754 binary64.
    Double,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatClass {
    /// Neither of the others.
    Ordinary,
    /// Smaller than the smallest normal number, and not zero.
    Subnormal,
    /// Infinite.
    Infinite,
    /// Not a number.
    NotANumber,
}

impl FloatFormat {
    /// All of them.
    pub const ALL: [FloatFormat; 4] = [FloatFormat::Half, FloatFormat::Brain, FloatFormat::Single, FloatFormat::Double];

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        match self {
            FloatFormat::Half | FloatFormat::Brain => 16,
            FloatFormat::Single => 32,
            FloatFormat::Double => 64,
        }
    }

    /// Bits of the mantissa.
    pub fn mantissa(self) -> u32 {
        match self {
            FloatFormat::Half => 10,
            FloatFormat::Brain => 7,
            FloatFormat::Single => 23,
            FloatFormat::Double => 52,
        }
    }

    /// Bits of a value without the sign.
    pub fn magnitude(self, bits: u64) -> u64 {
        bits & (u64::MAX >> (65 - self.bits()))
    }

    /// Returns the magnitude of infinity.
    pub fn infinity(self) -> u64 {
        self.magnitude(u64::MAX) >> self.mantissa() << self.mantissa()
    }

    /// Returns the smallest normal magnitude.
    pub fn smallest_normal(self) -> u64 {
        1 << self.mantissa()
    }

    /// What the value with these bits is.
    pub fn classify(self, bits: u64) -> FloatClass {
        match self.magnitude(bits) {
            magnitude if magnitude > self.infinity() => FloatClass::NotANumber,
            magnitude if magnitude == self.infinity() => FloatClass::Infinite,
            magnitude if magnitude != 0 && magnitude < self.smallest_normal() => FloatClass::Subnormal,
            _ => FloatClass::Ordinary,
        }
    }

    /// Returns whether the value with these bits is zero.
    pub fn is_zero(self, bits: u64) -> bool {
        self.magnitude(bits) == 0
    }

    /// Returns the value with these bits; exact.
    pub fn value(self, bits: u64) -> f64 {
        match self {
            FloatFormat::Double => f64::from_bits(bits),
            FloatFormat::Single => f64::from(f32::from_bits(bits as u32)),
            FloatFormat::Brain => f64::from(f32::from_bits((bits as u32) << 16)),
            FloatFormat::Half => {
                let sign = if bits >> 15 & 1 == 1 { -1.0 } else { 1.0 };
                let (exponent, mantissa) = ((bits >> 10 & 0x1f) as i32, (bits & 0x3ff) as f64);
                match exponent {
                    0 => sign * mantissa * 2f64.powi(-24),
                    31 if mantissa == 0.0 => sign * f64::INFINITY,
                    31 => f64::NAN,
                    _ => sign * (1024.0 + mantissa) * 2f64.powi(exponent - 25),
                }
            }
        }
    }
}

/// An operation of a module whose values are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Function that holds it.
    pub function: u32,
    /// What it does.
    pub class: OperationClass,
    /// Its name, as `multiply` or `sqrt`; of inline assembly, its text.
    pub name: String,
    /// Positions, innermost first; empty when unknown.
    pub chain: Vec<FrameId>,
}

/// What is exceptional about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatKind {
    /// A NaN of operands that are none.
    NotANumber,
    /// An infinity of a division of a number by zero.
    DivisionByZero,
    /// An infinity of finite operands.
    Overflow,
    /// An infinity of a finite number that is converted.
    ConversionOverflow,
    /// A subnormal result.
    Subnormal,
    /// A load of a NaN that no followed operation has stored.
    LoadedNotANumber,
}

/// Exceptional results of one operation in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloatException {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's operations.
    pub operation: u32,
    /// What they are.
    pub kind: FloatKind,
    /// Format of the results.
    pub format: FloatFormat,
    /// Warps' executions with such a result.
    pub requests: u64,
    /// Such results.
    pub lanes: u64,
    /// Linear block of the first.
    pub block: u64,
    /// Linear thread in the block of the first.
    pub thread: u32,
    /// Number of operands.
    pub operands: u32,
    /// Values of the first one's operands, in their bits as doubles.
    pub values: [u64; 3],
}

/// A place on the way of an exceptional value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatStep {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's operations of the launch's module.
    pub operation: u32,
    /// Linear block.
    pub block: u64,
    /// Linear thread in the block.
    pub thread: u32,
    /// Allocation that a load reads or a store writes.
    pub allocation: Option<AllocationId>,
    /// Bytes from its start.
    pub offset: u64,
}

/// The first NaN, or infinity, that a launch stored to an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatOrigin {
    /// [`FloatClass::NotANumber`] or [`FloatClass::Infinite`].
    pub class: FloatClass,
    /// From the store back to the operation that made the value, or to the load that found it.
    pub steps: Vec<FloatStep>,
}

/// Most steps of a [`FloatOrigin`].
pub const MOST_STEPS: usize = 16;

/// Device code that a check lowers again with the hooks that it needs, as the program carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedCode {
    /// [`crate::site_table::SiteTable::to_bytes`].
    pub site_table: Vec<u8>,
    /// What ptxas reports of kernels, by mangled name.
    pub registers: BTreeMap<String, Vec<Resources>>,
    /// Folders without the user's code.
    pub system_folders: Vec<String>,
    /// The hooked module.
    pub bitcode: Vec<u8>,
}

impl CarriedCode {
    /// Returns the bytes that the program carries.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data always encodes")
    }

    /// Reads [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<CarriedCode> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_the_standard_library() {
        let class = |value: std::num::FpCategory| match value {
            std::num::FpCategory::Nan => FloatClass::NotANumber,
            std::num::FpCategory::Infinite => FloatClass::Infinite,
            std::num::FpCategory::Subnormal => FloatClass::Subnormal,
            _ => FloatClass::Ordinary,
        };
        for value in [0.0, -0.0, 1.0, f32::MIN_POSITIVE, f32::MIN_POSITIVE / 2.0, f32::MAX, f32::INFINITY, -f32::NAN] {
            let bits = u64::from(value.to_bits());
            assert_eq!(FloatFormat::Single.classify(bits), class(value.classify()), "{value}");
            let wide = f64::from(value);
            assert_eq!(FloatFormat::Double.classify(wide.to_bits()), class(wide.classify()), "{value}");
        }
    }

    #[test]
    fn types_survive_their_word() {
        for result in ValueType::ALL {
            for operand in ValueType::ALL {
                let types = ValueTypes::new(&[result, operand, ValueType::Bit]);
                assert_eq!([0, 1, 2].map(|at| types.get(at)), [Some(result), Some(operand), Some(ValueType::Bit)]);
                assert_eq!((types.get(3), types.operands()), (None, 2));
            }
        }
        assert_eq!(ValueTypes(u32::MAX).get(0), None);
    }

    #[test]
    fn kinds_survive_their_names() {
        for bits in 1..8 {
            let kinds = RecordedKinds { float: bits & 1 != 0, integer: bits & 2 != 0, memory: bits & 4 != 0 };
            assert_eq!(RecordedKinds::from_names(&kinds.to_names()), Some(kinds));
            for exceptions in [false, true] {
                let followed = Followed { exceptions, recorded: kinds, lines: Vec::new() };
                assert_eq!(Followed::from_names(&followed.to_names()), Some(followed));
            }
        }
        let checked = Followed { exceptions: true, ..Followed::default() };
        assert_eq!((Followed::from_names("exceptions"), checked.is_empty()), (Some(checked), false));
        assert_eq!(RecordedKinds::from_names("float,double"), None);
    }

    #[test]
    fn halves_have_their_values() {
        let half = FloatFormat::Half;
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (1, 2f64.powi(-24)), (0x7c00, f64::INFINITY)]
        {
            assert_eq!(half.value(bits), value);
        }
        assert!(half.value(0x7e00).is_nan());
        assert_eq!((half.classify(0x03ff), half.classify(0x0400)), (FloatClass::Subnormal, FloatClass::Ordinary));
        assert_eq!(FloatFormat::Brain.value(0x3f80), 1.0);
    }
}
