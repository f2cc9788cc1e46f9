//! Converts coordinates to texels and weights, and these to the fetched value ("Texture Fetching" of the CUDA
//! programming guide).

use super::image::{Image, axes, cube_face};
use warpline_format::abi::texture;

/// The maximum number of texels that one fetch reads: two in each of three dimensions.
pub const MOST_TAPS: usize = 8;

/// How coordinates outside the image are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The image repeats.
    Wrap,
    /// The nearest texel is used.
    Clamp,
    /// The image repeats, mirrored each time.
    Mirror,
    /// The border colour is used.
    Border,
}

/// The settings for reading a texture.
#[derive(Clone, Copy, Debug)]
pub struct Sampler {
    /// The address modes, indexed by dimension.
    pub modes: [AddressMode; 3],
    /// Whether linear filtering is used; otherwise, the nearest texel is read.
    pub linear: bool,
    /// Whether coordinates range from 0 to 1; otherwise, they are in texels.
    pub normalised: bool,
    /// Whether integers become floats from 0 to 1 or -1 to 1.
    pub as_floats: bool,
    /// Whether colours are stored in sRGB.
    pub srgb: bool,
    /// The value outside the image, with [`AddressMode::Border`].
    pub border: [f32; 4],
    /// Whether the image is linear memory. Outside it, a fetch returns zeroes in every address mode.
    pub linear_memory: bool,
}

/// The texel number for positions outside the image.
const OUTSIDE: u32 = u32::MAX;

/// Two neighbouring texels in one dimension, and the weight of the second in 1/256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    texels: [u32; 2],
    weight: u32,
}

impl Sampler {
    /// Returns the texel for a number that may be outside the image. Without normalised coordinates, wrap and mirror
    /// behave like clamp.
    fn texel(&self, number: i64, size: u32, direction: usize) -> u32 {
        let size = i64::from(size);
        let inside = (0..size).contains(&number);
        let mode = if self.linear_memory { AddressMode::Border } else { self.modes[direction] };
        let texel = match mode {
            _ if inside => number,
            AddressMode::Border => return OUTSIDE,
            AddressMode::Wrap if self.normalised => number.rem_euclid(size),
            AddressMode::Mirror if self.normalised => {
                let turn = number.rem_euclid(2 * size);
                if turn < size { turn } else { 2 * size - 1 - turn }
            }
            _ => number.clamp(0, size - 1),
        };
        texel as u32
    }

    /// Returns the texel at a coordinate.
    #[inline]
    fn nearest(&self, coordinate: f32, size: u32, direction: usize) -> u32 {
        let at = if self.normalised { coordinate * size as f32 } else { coordinate };
        // The cast rounds towards zero, and the result is corrected for negative values. A call of `floor` would cost
        // more than everything else here.
        let whole = at as i64;
        self.texel(whole.saturating_sub(i64::from(whole as f32 > at)), size, direction)
    }

    /// Returns the two texels around a coordinate. The hardware stores the position between them in eight bits.
    #[inline]
    fn around(&self, coordinate: f32, size: u32, direction: usize) -> Pair {
        let at = f64::from(coordinate) * if self.normalised { f64::from(size) } else { 1.0 };
        let fixed = at * 256.0 - 127.5;
        let whole = fixed as i64;
        let fixed = whole.saturating_sub(i64::from(whole as f64 > fixed));
        let first = fixed >> 8;
        let texels = [first, first.saturating_add(1)].map(|number| self.texel(number, size, direction));
        Pair { texels, weight: (fixed & 255) as u32 }
    }

    /// Returns whether this operation reads only one texel.
    #[inline]
    pub fn is_nearest(&self, operation: u32) -> bool {
        operation & texture::GATHER == 0 && (!self.linear || operation & texture::INTEGER != 0)
    }

    /// Returns the value outside the image.
    fn outside(&self, image: &Image) -> [u32; 4] {
        let color = if self.linear_memory { [0.0; 4] } else { self.border };
        let floats = self.as_floats || image.format.is_float();
        color.map(|value| if floats { value.to_bits() } else { value as i32 as u32 })
    }

    /// Returns the value of the texel at an address; address 0 means outside the image.
    ///
    /// # Safety
    /// The address is 0 or that of a texel of the image, which is readable.
    #[inline]
    pub unsafe fn value(&self, image: &Image, address: u64) -> [u32; 4] {
        if address == 0 {
            return self.outside(image);
        }
        // SAFETY: by the contract.
        let bits = unsafe { image.format.read(address) };
        if !self.as_floats {
            return bits;
        }
        let mut channel = 0;
        // The fourth channel of a colour is opacity, to which the sRGB conversion does not apply.
        bits.map(|value| {
            channel += 1;
            image.format.as_float(value, self.srgb && channel < 4).to_bits()
        })
    }
}

/// Returns the address of a texel, or 0 outside the image.
#[inline]
fn address(image: &Image, texel: [u32; 3]) -> u64 {
    if texel.contains(&OUTSIDE) { 0 } else { image.address(texel) }
}

/// Returns the position in the image: the coordinates within a slice, and the slice, which depends on layer and face.
#[inline]
fn place(image: &Image, geometry: u32, coordinates: [u32; 4]) -> ([f32; 3], u32) {
    let [mut x, mut y, z] = [0, 1, 2].map(|index| f32::from_bits(coordinates[index]));
    let mut slice = coordinates[3] as i32;
    match geometry {
        texture::CUBE | texture::LAYERED_CUBE => {
            let (face, s, t) = cube_face(x, y, z);
            (x, y) = (s, t);
            let layer = if geometry == texture::CUBE { 0 } else { slice };
            slice = layer.saturating_mul(6).saturating_add(face as i32);
        }
        texture::ONE | texture::TWO | texture::THREE => slice = 0,
        _ => {}
    }
    ([x, y, z], slice.clamp(0, image.size[2] as i32 - 1) as u32)
}

/// Returns the address of the texel that a fetch without filtering reads, or 0 outside the image.
#[inline]
pub fn nearest_address(image: &Image, sampler: &Sampler, operation: u32, coordinates: [u32; 4]) -> u64 {
    if operation & texture::INTEGER != 0 {
        // Only one-dimensional fetches have integer coordinates, and these are in texels.
        return address(image, [sampler.texel(i64::from(coordinates[0] as i32), image.size[0], 0), 0, 0]);
    }
    let geometry = operation & texture::GEOMETRY;
    let (at, slice) = place(image, geometry, coordinates);
    let mut texel = [0, 0, slice];
    for direction in 0..axes(geometry) {
        texel[direction] = sampler.nearest(at[direction], image.size[direction], direction);
    }
    address(image, texel)
}

/// The texels that one lane's fetch reads, and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fetched {
    /// The bits of the four values.
    pub values: [u32; 4],
    /// The addresses of the texels, or 0 for those outside the image.
    pub taps: [u64; MOST_TAPS],
}

/// Returns the number of texels that each lane reads with this operation.
pub fn tap_count(sampler: &Sampler, operation: u32) -> usize {
    let geometry = operation & texture::GEOMETRY;
    if operation & texture::GATHER != 0 {
        4
    } else if sampler.linear && operation & texture::INTEGER == 0 {
        1 << axes(geometry)
    } else {
        1
    }
}

/// Performs the fetch of one lane. `coordinates` are the bits of x, y, z and the layer.
///
/// # Safety
/// The image is readable.
pub unsafe fn fetch(image: &Image, sampler: &Sampler, operation: u32, coordinates: [u32; 4]) -> Fetched {
    let mut result = Fetched { values: [0; 4], taps: [0; MOST_TAPS] };
    // SAFETY (all reads): the contract guarantees it, and the addresses are those of texels.
    if sampler.is_nearest(operation) {
        result.taps[0] = nearest_address(image, sampler, operation, coordinates);
        result.values = unsafe { sampler.value(image, result.taps[0]) };
        return result;
    }
    let geometry = operation & texture::GEOMETRY;
    let axes = axes(geometry);
    let (at, slice) = place(image, geometry, coordinates);
    let mut pairs = [Pair { texels: [0; 2], weight: 0 }; 3];
    pairs[2].texels = [slice; 2];
    for direction in 0..axes {
        pairs[direction] = sampler.around(at[direction], image.size[direction], direction);
    }
    let corner =
        |number: usize| address(image, [0, 1, 2].map(|direction| pairs[direction].texels[number >> direction & 1]));
    if operation & texture::GATHER != 0 {
        let component = (operation >> texture::COMPONENT_SHIFT & 3) as usize;
        // The order is counterclockwise from the lower left.
        for (index, number) in [2, 3, 1, 0].into_iter().enumerate() {
            result.taps[index] = corner(number);
            result.values[index] = unsafe { sampler.value(image, result.taps[index]) }[component];
        }
        return result;
    }
    let mut sum = [0f64; 4];
    for number in 0..1 << axes {
        result.taps[number] = corner(number);
        let texel = unsafe { sampler.value(image, result.taps[number]) };
        let mut weight = 1;
        for (direction, pair) in pairs.iter().enumerate().take(axes) {
            weight *= if number >> direction & 1 == 0 { 256 - pair.weight } else { pair.weight };
        }
        // A texel with weight zero is skipped, because an infinity or a NaN would make the sum invalid.
        if weight != 0 {
            let weight = f64::from(weight) / f64::from(1u32 << (8 * axes));
            for (sum, value) in sum.iter_mut().zip(texel) {
                *sum += weight * f64::from(f32::from_bits(value));
            }
        }
    }
    result.values = sum.map(|value| (value as f32).to_bits());
    result
}

#[cfg(test)]
mod tests {
    use super::super::format::{Channel, Format};
    use super::*;
    use proptest::prelude::*;

    const MODES: [AddressMode; 4] = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];

    fn sampler(mode: AddressMode, linear: bool, normalised: bool) -> Sampler {
        Sampler {
            modes: [mode; 3],
            linear,
            normalised,
            as_floats: false,
            srgb: false,
            border: [-7.0; 4],
            linear_memory: false,
        }
    }

    fn image(texels: &[f32], size: [u32; 3]) -> Image {
        Image {
            base: texels.as_ptr() as u64,
            size,
            row: u64::from(size[0]) * 4,
            slice: u64::from(size[0] * size[1]) * 4,
            format: Format { channel: Channel::Float, count: 1 },
        }
    }

    /// Returns the texel that the guide's formulas give for a position in texels, in one dimension, or `None` outside
    /// the image.
    fn by_the_guide(at: f64, size: u32, mode: AddressMode, normalised: bool) -> Option<usize> {
        let n = f64::from(size);
        let mut x = at / n;
        match mode {
            AddressMode::Border if !(0.0..1.0).contains(&x) => return None,
            AddressMode::Wrap if normalised => x -= x.floor(),
            AddressMode::Mirror if normalised => {
                let fraction = x - x.floor();
                // The texel is mirrored, not its edge.
                let index = (fraction * n).round() as usize;
                return Some(if x.floor().rem_euclid(2.0) == 0.0 { index } else { size as usize - 1 - index });
            }
            _ => return Some(at.clamp(0.0, n - 1.0) as usize),
        }
        Some((x * n).round() as usize % size as usize)
    }

    proptest! {
        #[test]
        fn fetches_are_those_of_the_guide(
            width in 1u32..9, height in 1u32..6, x in -20i32..20, y in -20i32..20, fx in 0u32..256, fy in 0u32..256,
            mode in 0usize..4, linear: bool, normalised: bool,
        ) {
            let mode = MODES[mode];
            let texels: Vec<f32> = (0..width * height).map(|number| (number * number % 31) as f32).collect();
            let image = image(&texels, [width, height, 1]);
            let sampler = sampler(mode, linear, normalised);
            // The position is exact in the texture unit's fixed-point format; with filtering, the corners of the cells
            // are the centres of the texels.
            let shift = if linear { 0.5 } else { 0.0 };
            let place = |texel: i32, part: u32| f64::from(texel) + f64::from(part) / 256.0 + shift;
            let (at, down) = (place(x, fx), place(y, fy));
            // With sizes that are not powers of two, normalised coordinates are inexact.
            prop_assume!(!normalised || (width.is_power_of_two() && height.is_power_of_two()));
            let scale = |at: f64, size: u32| if normalised { at / f64::from(size) } else { at } as f32;
            let coordinates = [scale(at, width).to_bits(), scale(down, height).to_bits(), 0, 0];
            let texel = |i: i32, j: i32| -> f64 {
                let pick = |at: i32, size| by_the_guide(f64::from(at), size, mode, normalised);
                match (pick(i, width), pick(j, height)) {
                    (Some(i), Some(j)) => f64::from(texels[j * width as usize + i]),
                    _ => -7.0,
                }
            };
            let wanted = if linear {
                let (a, b) = (f64::from(fx) / 256.0, f64::from(fy) / 256.0);
                (1.0 - a) * (1.0 - b) * texel(x, y) + a * (1.0 - b) * texel(x + 1, y)
                    + (1.0 - a) * b * texel(x, y + 1) + a * b * texel(x + 1, y + 1)
            } else {
                texel(x, y)
            };
            // SAFETY: the image's memory is the vector.
            let found = unsafe { fetch(&image, &sampler, texture::TWO, coordinates) };
            prop_assert_eq!(f32::from_bits(found.values[0]), wanted as f32);
            let end = image.base + image.bytes();
            for (number, &tap) in found.taps.iter().enumerate() {
                prop_assert!(tap == 0 || (tap >= image.base && tap < end && number < tap_count(&sampler, texture::TWO)));
            }
        }

        #[test]
        fn any_coordinates_stay_inside(bits in prop::array::uniform4(any::<u32>()), mode in 0usize..4, linear: bool,
                                       normalised: bool, geometry in 0u32..7) {
            let texels = vec![1.0f32; 12 * 3 * 2];
            let image = image(&texels, [3, 2, 12]);
            let sampler = sampler(MODES[mode], linear, normalised);
            // SAFETY: the image's memory is the vector.
            let found = unsafe { fetch(&image, &sampler, geometry, bits) };
            for tap in found.taps {
                prop_assert!(tap == 0 || (tap >= image.base && tap < image.base + image.bytes()));
            }
        }
    }

    #[test]
    fn linear_memory_gives_zero_outside() {
        let texels = [5.0f32, 6.0, 7.0];
        let image = image(&texels, [3, 1, 1]);
        let sampler = Sampler { linear_memory: true, ..sampler(AddressMode::Clamp, false, false) };
        let at = |index: i32| {
            // SAFETY: the image's memory is the array.
            let found = unsafe { fetch(&image, &sampler, texture::ONE | texture::INTEGER, [index as u32, 0, 0, 0]) };
            (f32::from_bits(found.values[0]), found.taps[0] != 0)
        };
        assert_eq!([-1, 0, 2, 3].map(at), [(0.0, false), (5.0, true), (7.0, true), (0.0, false)]);
    }

    #[test]
    fn gathering_goes_counterclockwise_from_the_lower_left() {
        let texels = [0.0f32, 1.0, 2.0, 3.0];
        let image = image(&texels, [2, 2, 1]);
        let one = 1f32.to_bits();
        // SAFETY: the image's memory is the array.
        let found = unsafe {
            let sampler = sampler(AddressMode::Clamp, false, false);
            fetch(&image, &sampler, texture::TWO | texture::GATHER, [one, one, 0, 0])
        };
        assert_eq!(found.values.map(f32::from_bits), [2.0, 3.0, 1.0, 0.0]);
    }
}
