//! Operations whose values are checked or recorded: the meaning of their numbers, the types of their values, the
//! results of the floating-point check, and the embedded code from which a program is lowered again.

use crate::event::{AllocationId, LaunchId};
use crate::site_table::FrameId;
use serde::{Deserialize, Serialize};

/// Class of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OperationClass {
    /// It computes its result from its operands.
    #[default]
    Arithmetic,
    /// It divides its first operand by its second.
    Division,
    /// It converts its operand to another type.
    Conversion,
    /// It reads memory; its operand is the address.
    Load,
    /// It writes memory; its result is the value, and its operand the address.
    Store,
    /// It compares its operands; its result is one bit.
    Comparison,
    /// It updates memory; its result is the previous value, and its operands are the address and the values.
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

    /// Parses comma-separated names, as [`Self::to_names`] returns them; `None` for other texts.
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

    /// Returns the comma-separated names of the kinds.
    pub fn to_names(self) -> String {
        let chosen = [self.float, self.integer, self.memory];
        let names = Self::NAMES.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(",")
    }

    /// Returns whether operations of this class are recorded, given the type of the first operand (for loads and
    /// stores, of the value).
    pub fn contains(self, class: OperationClass, ty: ValueType) -> bool {
        match class {
            OperationClass::Load | OperationClass::Store | OperationClass::Atomic => self.memory,
            _ if ty.float().is_some() => self.float,
            _ => self.integer,
        }
    }
}

/// The values that code reports to the runtime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Exceptional floating-point values.
    pub exceptions: bool,
    /// All executions of these operations.
    pub recorded: RecordedKinds,
    /// Path suffixes and lines to which the recording is limited; all operations if empty.
    pub lines: Vec<(String, u32)>,
}

impl Followed {
    const EXCEPTIONS: &str = "exceptions";

    /// Returns whether nothing is reported.
    pub fn is_empty(&self) -> bool {
        !self.exceptions && self.recorded.is_empty()
    }

    /// Returns the reported kinds, for example `exceptions,float,int`, without the lines.
    pub fn to_names(&self) -> String {
        let exceptions = if self.exceptions { Self::EXCEPTIONS } else { "" };
        let names = [exceptions.to_owned(), self.recorded.to_names()];
        names.iter().filter(|name| !name.is_empty()).map(String::as_str).collect::<Vec<_>>().join(",")
    }

    /// Parses the output of [`Self::to_names`]; `None` for other texts.
    pub fn from_names(names: &str) -> Option<Followed> {
        let (exceptions, kinds): (Vec<_>, Vec<_>) = names.split(',').partition(|name| *name == Self::EXCEPTIONS);
        let recorded =
            if kinds.is_empty() { RecordedKinds::default() } else { RecordedKinds::from_names(&kinds.join(","))? };
        Some(Followed { exceptions: !exceptions.is_empty(), recorded, lines: Vec::new() })
    }
}

/// End of the name of an operation whose executions code for a GPU does not record.
pub const NOT_ON_GPU: &str = " (not recorded on a GPU)";

/// Flag in the word of an operation's types that the runtime receives: the execution is recorded.
pub const RECORDED: u32 = 1 << 31;
/// The bits of that word with the types.
pub const TYPES_MASK: u32 = 0xffff;
/// The first bit of the index of the result among those of the execution, and the first bit of their number minus one.
pub const PART_SHIFTS: [u32; 2] = [16, 21];
/// The maximum number of results of an execution that the word can state.
pub const MOST_PARTS: u32 = 32;

/// Type of a recorded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ValueType {
    /// IEEE 754 binary16.
    Half,
    /// A format with 8 exponent bits and 7 mantissa bits (bfloat16).
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
    /// All types.
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

    /// Returns the type of an integer of this width; `None` if values of that width are not recorded.
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

    /// Returns the floating-point format, if the type has one.
    pub fn float(self) -> Option<FloatFormat> {
        FloatFormat::ALL.get(self as usize).copied()
    }

    /// Returns the number of bits of a value.
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

    /// Returns the name, for example `f32` or `i64`.
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

/// Types of an operation's result and operands, in four bits each starting at the lowest; the result comes first. 0
/// means no value; other numbers are the position in [`ValueType::ALL`] plus one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ValueTypes(pub u32);

impl ValueTypes {
    /// Creates the types of a result and of up to three operands.
    pub fn new(types: &[ValueType]) -> ValueTypes {
        let code = |(index, ty): (usize, &ValueType)| (*ty as u32 + 1) << (4 * index);
        ValueTypes(types.iter().take(4).enumerate().map(code).sum())
    }

    /// Returns the type of the result (0) or of an operand (1 to 3).
    pub fn get(self, index: usize) -> Option<ValueType> {
        let code = (self.0 >> (4 * (index & 7))) & 0xf;
        ValueType::ALL.get((code as usize).wrapping_sub(1)).copied()
    }

    /// Returns the number of operands.
    pub fn operands(self) -> usize {
        (1..4).take_while(|index| self.get(*index).is_some()).count()
    }
}

/// Floating-point formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatFormat {
    /// IEEE 754 binary16.
    Half,
    /// A format with 8 exponent bits and 7 mantissa bits (bfloat16).
    Brain,
    /// IEEE 754 binary32.
    #[default]
    Single,
    /// IEEE 754 binary64.
    Double,
}

/// Class of a floating-point value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatClass {
    /// An ordinary value of none of the other classes.
    Ordinary,
    /// Smaller than the smallest normal number, and not zero.
    Subnormal,
    /// Infinite.
    Infinite,
    /// Not a number.
    NotANumber,
}

impl FloatFormat {
    /// All formats.
    pub const ALL: [FloatFormat; 4] = [FloatFormat::Half, FloatFormat::Brain, FloatFormat::Single, FloatFormat::Double];

    /// Returns the number of bits of a value.
    pub fn bits(self) -> u32 {
        match self {
            FloatFormat::Half | FloatFormat::Brain => 16,
            FloatFormat::Single => 32,
            FloatFormat::Double => 64,
        }
    }

    /// Returns the number of bits of the mantissa.
    pub fn mantissa(self) -> u32 {
        match self {
            FloatFormat::Half => 10,
            FloatFormat::Brain => 7,
            FloatFormat::Single => 23,
            FloatFormat::Double => 52,
        }
    }

    /// Returns the bits of a value without the sign.
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

    /// Returns the class of the value with these bits.
    pub fn classify(self, bits: u64) -> FloatClass {
        match self.magnitude(bits) {
            magnitude if magnitude > self.infinity() => FloatClass::NotANumber,
            magnitude if magnitude == self.infinity() => FloatClass::Infinite,
            magnitude if magnitude != 0 && magnitude < self.smallest_normal() => FloatClass::Subnormal,
            _ => FloatClass::Ordinary,
        }
    }

    /// Returns the highest 16 bits, which contain the exponent.
    pub fn top(self, bits: u64) -> u16 {
        (bits >> (self.bits() - 16)) as u16
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

/// An operation of a module whose values are checked or recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Index of the function that contains it.
    pub function: u32,
    /// Class of the operation.
    pub class: OperationClass,
    /// Name, for example `multiply` or `sqrt`; for inline assembly, its text.
    pub name: String,
    /// Source positions, innermost first; empty if unknown.
    pub chain: Vec<FrameId>,
}

/// Kind of an exceptional result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FloatKind {
    /// A NaN result of operands without NaN.
    NotANumber,
    /// An infinite result of a division of a number by zero.
    DivisionByZero,
    /// An infinite result of finite operands.
    Overflow,
    /// An infinite result of the conversion of a finite number.
    ConversionOverflow,
    /// A subnormal result.
    Subnormal,
    /// A load of a NaN that no recorded operation has stored.
    LoadedNotANumber,
}

/// Exceptional results of one operation in one launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloatException {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's operations.
    pub operation: u32,
    /// Kind of the results.
    pub kind: FloatKind,
    /// Format of the results.
    pub format: FloatFormat,
    /// Number of executions by a warp with such a result.
    pub requests: u64,
    /// Number of such results.
    pub lanes: u64,
    /// Linear index of the first result's block.
    pub block: u64,
    /// Linear index of the first result's thread in the block.
    pub thread: u32,
    /// Number of operands.
    pub operands: u32,
    /// Operands of the first result, as bits of doubles.
    pub values: [u64; 3],
}

/// An instruction that an exceptional value passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatStep {
    /// Launch.
    pub launch: LaunchId,
    /// Index into the site table's operations of the launch's module.
    pub operation: u32,
    /// Linear index of the block.
    pub block: u64,
    /// Linear index of the thread in the block.
    pub thread: u32,
    /// Allocation that a load reads or a store writes.
    pub allocation: Option<AllocationId>,
    /// Offset in bytes within the allocation.
    pub offset: u64,
}

/// The first NaN or infinity that a launch stored to an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FloatOrigin {
    /// [`FloatClass::NotANumber`] or [`FloatClass::Infinite`].
    pub class: FloatClass,
    /// Steps from the store back to the operation that produced the value, or to the load that read it.
    pub steps: Vec<FloatStep>,
}

/// Maximum number of steps of a [`FloatOrigin`].
pub const MOST_STEPS: usize = 16;

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
