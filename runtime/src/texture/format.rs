//! Channel formats: convert memory to the 32-bit values that a fetch returns.

use crate::cuda::error::{self, Error};
use crate::cuda::types::ChannelDesc;

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Signed integers of 8, 16 or 32 bits.
    Signed(u32),
    /// Unsigned integers of 8, 16 or 32 bits.
    Unsigned(u32),
    /// Half precision (IEEE).
    Half,
    /// Single precision (IEEE).
    Float,
}

/// The format of a texel: one, two or four channels of the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The type of each channel.
    pub channel: Channel,
    /// The number of channels.
    pub count: u32,
}

/// `cudaChannelFormatKindSigned`, `…Unsigned`, `…Float`.
const KINDS: [i32; 3] = [0, 1, 2];

impl Format {
    /// Reads a channel descriptor.
    ///
    /// # Errors
    /// Returns `cudaErrorInvalidChannelDescriptor` if the channels differ, if there are three channels, or if
    /// no GPU supports their sizes.
    pub fn from_desc(desc: &ChannelDesc) -> Result<Format, Error> {
        let sizes = [desc.x, desc.y, desc.z, desc.w];
        let count = sizes.iter().take_while(|bits| **bits != 0).count();
        let alike = sizes[..count].iter().all(|bits| *bits == desc.x) && sizes[count..].iter().all(|bits| *bits == 0);
        let channel = match (desc.kind, desc.x) {
            (kind, 8 | 16 | 32) if kind == KINDS[0] => Channel::Signed(desc.x as u32),
            (kind, 8 | 16 | 32) if kind == KINDS[1] => Channel::Unsigned(desc.x as u32),
            (kind, 16) if kind == KINDS[2] => Channel::Half,
            (kind, 32) if kind == KINDS[2] => Channel::Float,
            _ => return Err(error::INVALID_CHANNEL_DESCRIPTOR),
        };
        if !alike || !matches!(count, 1 | 2 | 4) {
            return Err(error::INVALID_CHANNEL_DESCRIPTOR);
        }
        Ok(Format { channel, count: count as u32 })
    }

    /// Returns the descriptor of the format.
    pub fn desc(self) -> ChannelDesc {
        let (kind, bits) = match self.channel {
            Channel::Signed(bits) => (KINDS[0], bits),
            Channel::Unsigned(bits) => (KINDS[1], bits),
            Channel::Half => (KINDS[2], 16),
            Channel::Float => (KINDS[2], 32),
        };
        let size = |index: u32| if index < self.count { bits as i32 } else { 0 };
        ChannelDesc { x: size(0), y: size(1), z: size(2), w: size(3), kind }
    }

    /// Returns the size of a channel in bytes.
    fn channel_bytes(self) -> u64 {
        match self.channel {
            Channel::Signed(bits) | Channel::Unsigned(bits) => u64::from(bits / 8),
            Channel::Half => 2,
            Channel::Float => 4,
        }
    }

    /// Returns the size of a texel in bytes: 1, 2, 4, 8 or 16.
    pub fn bytes(self) -> u64 {
        self.channel_bytes() * u64::from(self.count)
    }

    /// Returns whether a read returns floats without normalisation.
    pub fn is_float(self) -> bool {
        matches!(self.channel, Channel::Half | Channel::Float)
    }

    /// Returns whether a read can be normalised to floats, which is possible for integers of 8 and 16 bits.
    pub fn can_normalise(self) -> bool {
        matches!(self.channel, Channel::Signed(8 | 16) | Channel::Unsigned(8 | 16))
    }

    /// Returns a texel without normalisation: integers are extended to 32 bits, floats are the bits of a float. Missing
    /// channels are zero.
    ///
    /// # Safety
    /// `address` is readable for [`Self::bytes`] bytes.
    #[inline]
    pub unsafe fn read(self, address: u64) -> [u32; 4] {
        let mut texel = [0; 4];
        for (index, value) in texel.iter_mut().enumerate().take(self.count as usize) {
            let at = address + index as u64 * self.channel_bytes();
            // SAFETY: by the contract.
            *value = unsafe {
                match self.channel {
                    Channel::Signed(8) => (at as *const i8).read() as u32,
                    Channel::Unsigned(8) => u32::from((at as *const u8).read()),
                    Channel::Signed(16) => (at as *const i16).read_unaligned() as u32,
                    Channel::Unsigned(16) => u32::from((at as *const u16).read_unaligned()),
                    Channel::Half => half_to_float((at as *const u16).read_unaligned()).to_bits(),
                    _ => (at as *const u32).read_unaligned(),
                }
            };
        }
        texel
    }

    /// Returns a value of [`Self::read`] as a float. Normalised integers are in the range 0 to 1 or -1 to 1, where the
    /// two lowest negative integers both become -1. If `srgb` is set, the value is a colour in sRGB.
    #[inline]
    pub fn as_float(self, bits: u32, srgb: bool) -> f32 {
        match self.channel {
            Channel::Unsigned(8) if srgb => linear(bits as f32 / 255.0),
            Channel::Unsigned(size @ (8 | 16)) => bits as f32 / ((1u32 << size) - 1) as f32,
            Channel::Signed(size @ (8 | 16)) => (bits as i32 as f32 / ((1u32 << (size - 1)) - 1) as f32).max(-1.0),
            _ => f32::from_bits(bits),
        }
    }
}

/// Converts a colour value in sRGB to linear light (IEC 61966-2-1).
fn linear(value: f32) -> f32 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// Converts half precision to single precision, which is exact.
fn half_to_float(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10) & 31, u32::from(half & 0x3ff));
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 * 2f32.powi(-24)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn desc(sizes: [i32; 4], kind: i32) -> ChannelDesc {
        ChannelDesc { x: sizes[0], y: sizes[1], z: sizes[2], w: sizes[3], kind }
    }

    #[test]
    fn descriptors_come_back() {
        for kind in 0..3 {
            for bits in [8, 16, 32] {
                for sizes in [[bits, 0, 0, 0], [bits, bits, 0, 0], [bits; 4]] {
                    let wanted = desc(sizes, kind);
                    match Format::from_desc(&wanted) {
                        Ok(format) => {
                            assert_eq!(format.desc(), wanted);
                            assert_eq!(format.bytes() as i32 * 8, sizes.iter().sum::<i32>());
                        }
                        Err(_) => assert_eq!((kind, bits), (2, 8)),
                    }
                }
            }
        }
        for bad in [[32, 32, 32, 0], [8, 16, 0, 0], [0; 4], [32, 0, 32, 0], [64, 0, 0, 0]] {
            assert_eq!(Format::from_desc(&desc(bad, 1)), Err(error::INVALID_CHANNEL_DESCRIPTOR));
        }
    }

    #[test]
    fn texels_are_read_channel_by_channel() {
        let bytes: [u8; 8] = [0x80, 0x7f, 0x00, 0x3c, 0xff, 0xff, 0x01, 0x00];
        let at = bytes.as_ptr() as u64;
        // SAFETY: a texel of these formats has at most 8 bytes.
        unsafe {
            assert_eq!(Format { channel: Channel::Signed(8), count: 2 }.read(at), [-128i32 as u32, 127, 0, 0]);
            assert_eq!(Format { channel: Channel::Unsigned(16), count: 1 }.read(at + 4), [0xffff, 0, 0, 0]);
            assert_eq!(Format { channel: Channel::Half, count: 1 }.read(at + 2), [1f32.to_bits(), 0, 0, 0]);
        }
    }

    #[test]
    fn integers_are_normalised() {
        let signed = Format { channel: Channel::Signed(8), count: 1 };
        assert_eq!(signed.as_float(-128i32 as u32, false), -1.0);
        assert_eq!(signed.as_float(-127i32 as u32, false), -1.0);
        assert_eq!(signed.as_float(127, false), 1.0);
        let unsigned = Format { channel: Channel::Unsigned(16), count: 1 };
        assert_eq!(unsigned.as_float(0xffff, false), 1.0);
        assert_eq!(unsigned.as_float(0, false), 0.0);
    }

    #[test]
    fn every_half_is_the_float_of_its_definition() {
        for half in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
            let size = match exponent {
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                0 => fraction * 2f64.powi(-24),
                _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
            };
            let wanted = if half >> 15 == 1 { -size } else { size };
            let found = f64::from(half_to_float(half));
            assert!(found == wanted || (found.is_nan() && wanted.is_nan()), "{half:#x}: {found} {wanted}");
        }
    }
}
