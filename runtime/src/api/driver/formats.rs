//! `CUarray_format` and the runtime's channel descriptors.

use crate::cuda::error::{self, Error};
use crate::cuda::types::ChannelDesc;
use crate::texture::format::{Channel, Format};
use std::ffi::{c_int, c_uint};

/// Each `CUarray_format`, with its `cudaChannelFormatKind` and the bits of a channel.
const FORMATS: [(c_int, c_int, c_int); 8] =
    [(1, 1, 8), (2, 1, 16), (3, 1, 32), (8, 0, 8), (9, 0, 16), (10, 0, 32), (16, 2, 16), (32, 2, 32)];

/// Returns the descriptor of `count` channels of a format.
pub fn channels(format: c_int, count: c_uint) -> Result<ChannelDesc, Error> {
    let known = FORMATS.into_iter().find(|(number, ..)| *number == format);
    let Some((_, kind, bits)) = known else {
        crate::output::message::note(&format!("arrays of the format {format:#x} are not supported"));
        return Err(error::NOT_SUPPORTED);
    };
    if !matches!(count, 1 | 2 | 4) {
        return Err(error::INVALID_VALUE);
    }
    let of = |channel: c_uint| if channel < count { bits } else { 0 };
    Ok(ChannelDesc { x: of(0), y: of(1), z: of(2), w: of(3), kind })
}

/// Returns a format's `CUarray_format` and its number of channels.
pub fn format_of(format: Format) -> (c_int, c_uint) {
    let number = match format.channel {
        Channel::Unsigned(8) => 1,
        Channel::Unsigned(16) => 2,
        Channel::Unsigned(_) => 3,
        Channel::Signed(8) => 8,
        Channel::Signed(16) => 9,
        Channel::Signed(_) => 10,
        Channel::Half => 16,
        Channel::Float => 32,
    };
    (number, format.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_come_back() {
        for (number, ..) in FORMATS {
            for count in [1, 2, 4] {
                let format = Format::from_desc(&channels(number, count).unwrap()).unwrap();
                assert_eq!(format_of(format), (number, count));
            }
        }
        assert_eq!(channels(1, 3).unwrap_err(), error::INVALID_VALUE);
        assert_eq!(channels(0xb0, 1).unwrap_err(), error::NOT_SUPPORTED);
    }
}
