//! Images in memory: rows of texels, and slices (or layers, or cube faces) of rows.

use super::format::Format;
use warpline_format::abi::texture;

/// The texels of a texture or surface in memory.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The address of the first texel.
    pub base: u64,
    /// The texels per row, the rows and the slices; each at least 1.
    pub size: [u32; 3],
    /// The bytes between rows.
    pub row: u64,
    /// The bytes between slices.
    pub slice: u64,
    /// The format of the texels.
    pub format: Format,
}

impl Image {
    /// Returns the address of a texel inside the image.
    #[inline]
    pub fn address(&self, texel: [u32; 3]) -> u64 {
        let [x, y, z] = texel.map(u64::from);
        self.base + z * self.slice + y * self.row + x * self.format.bytes()
    }

    /// Returns the number of bytes from the first texel to the end of the last.
    pub fn bytes(&self) -> u64 {
        let [x, y, z] = self.size.map(u64::from);
        (z - 1) * self.slice + (y - 1) * self.row + x * self.format.bytes()
    }
}

/// Returns the number of coordinates that a geometry has within a slice.
#[inline]
pub fn axes(geometry: u32) -> usize {
    match geometry {
        texture::ONE | texture::LAYERED_ONE => 1,
        texture::THREE => 3,
        _ => 2,
    }
}

/// Returns the face of a cube to which a direction points, and the position on the face from 0 to 1, according to the
/// table "Cubemap Fetch" of the CUDA programming guide.
pub fn cube_face(x: f32, y: f32, z: f32) -> (u32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, along, s, t) = if ax > ay && ax > az {
        if x >= 0.0 { (0, ax, -z, -y) } else { (1, ax, z, -y) }
    } else if ay > az {
        if y >= 0.0 { (2, ay, x, z) } else { (3, ay, x, -z) }
    } else if z >= 0.0 {
        (4, az, x, -y)
    } else {
        (5, az, -x, -y)
    };
    (face, (s / along + 1.0) / 2.0, (t / along + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_lead_to_faces() {
        let centres = [
            ([1.0, 0.0, 0.0], 0),
            ([-1.0, 0.0, 0.0], 1),
            ([0.0, 1.0, 0.0], 2),
            ([0.0, -1.0, 0.0], 3),
            ([0.0, 0.0, 1.0], 4),
            ([0.0, 0.0, -1.0], 5),
        ];
        for ([x, y, z], face) in centres {
            assert_eq!(cube_face(x, y, z), (face, 0.5, 0.5));
        }
        // The corner of the positive z face nearest to -x and +y is its texel (0, 0).
        assert_eq!(cube_face(-0.99, 0.99, 1.0), (4, (1.0 - 0.99) / 2.0, (1.0 - 0.99) / 2.0));
    }
}
