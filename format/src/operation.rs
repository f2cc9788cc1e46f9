//! Floating-point operations that a value check follows: what their numbers mean, what a check reports of them, and how the code
//! that a check needs travels in a program.

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

/// A floating-point operation of a module.
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
