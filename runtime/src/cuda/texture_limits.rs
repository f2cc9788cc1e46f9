//! The largest textures and surfaces for compute capability 7.5 and newer, from the CUDA programming guide ("Technical
//! Specifications per Compute Capability").

use std::ffi::c_int;

/// `maxTexture1D` to `maxSurfaceCubemapLayered` of `cudaDeviceProp`, in the order of the structure.
pub const LIMITS: [c_int; 39] = [
    131072, 32768, // 1D, 1D with mipmaps
    131072, 65536, 32768, 32768, // 2D, 2D with mipmaps
    131072, 65000, 2097120, // 2D in linear memory: width, height, pitch
    32768, 32768, // 2D gather
    16384, 16384, 16384, 8192, 8192, 32768, // 3D, and the alternative 3D shape
    32768, // cube
    32768, 2048, // 1D layered
    32768, 32768, 2048, // 2D layered
    32768, 2046,  // layered cubes
    32768, // surfaces: 1D
    131072, 65536, // 2D
    16384, 16384, 16384, // 3D
    32768, 2048, // 1D layered
    32768, 32768, 2048,  // 2D layered
    32768, // cube
    32768, 2046, // layered cubes
];

/// The maximum number of texels in linear memory (`cudaDevAttrMaxTexture1DLinearWidth`).
pub const LINEAR_TEXELS: usize = 1 << 28;

/// Returns the limit that a `cudaDeviceAttr` selects.
pub fn attribute(which: c_int) -> Option<c_int> {
    let from = |first: c_int, entry: usize| LIMITS.get(entry + (which - first) as usize).copied();
    match which {
        21 => from(21, 0),
        22..=23 => from(22, 2),
        24..=26 => from(24, 11),
        27..=29 => from(27, 20),
        42..=43 => from(42, 18),
        45..=46 => from(45, 9),
        47..=49 => from(47, 14),
        52 => from(52, 17),
        53..=68 => from(53, 23),
        69 => Some(LINEAR_TEXELS as c_int),
        70..=72 => from(70, 6),
        73..=74 => from(73, 4),
        77 => from(77, 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn attributes_lead_to_their_limits() {
        // 2D width and height, 3D depth, layers of a 2D texture, layers of a layered cube texture, 3D surface width,
        // layers of a layered cube surface.
        let wanted = [(22, 131072), (23, 65536), (26, 16384), (29, 2048), (54, 2046), (58, 16384), (68, 2046)];
        for (which, limit) in wanted {
            assert_eq!(attribute(which), Some(limit), "attribute {which}");
        }
        assert_eq!(attribute(8), None);
    }
}
