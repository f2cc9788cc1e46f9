//! Classifies the addresses of a request's lanes.

use warpline_format::access::{Access, Addresses, LANES};

use super::majority::Majority;
use warpline_simulator::geometry::{LINE_BYTES, SECTOR_BYTES, Width};

/// The shape of a request with two or more lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// All lanes access one address.
    Uniform,
    /// The distance of all neighbouring lanes is this many bytes.
    Stride(i64),
    /// Contiguous runs of `lanes` lanes; `pitch` is the distance in bytes from the first run to the second.
    Rows { lanes: u32, pitch: i64 },
    /// No other shape; contains the bytes between the lowest and the highest address.
    Irregular(u64),
}

/// The shapes of a site's requests to global memory with two or more active lanes.
#[derive(Clone, Debug, Default)]
pub struct Strides {
    /// Number of requests.
    pub requests: u64,
    /// Requests in which all lanes access one address.
    pub uniform: u64,
    /// Requests in which adjacent lanes access adjacent elements.
    pub contiguous: u64,
    /// Contiguous requests in which lane 0 is not at the start of a sector. If lane 0 is inactive, its address is
    /// extrapolated.
    pub misaligned: u64,
    /// Requests with a constant stride that leaves gaps or is negative.
    pub strided: u64,
    /// Requests that consist of several contiguous runs.
    pub rows: u64,
    /// Requests of any other shape.
    pub irregular: u64,
    /// Bytes between the lowest and the highest address of irregular requests, summed.
    pub span: u64,
    /// Strides in bytes.
    stride: Majority<32>,
    /// Offset in bytes of misaligned requests from the start of a line.
    offset: Majority<7>,
    run: Majority<6>,
    pitch: Majority<40>,
}

impl Strides {
    /// Adds a request.
    #[inline]
    pub(super) fn request(&mut self, access: &Access<'_>, width: Width) {
        let Some((shape, low)) = shape(access, width) else { return };
        self.requests += 1;
        match shape {
            Shape::Uniform => self.uniform += 1,
            Shape::Stride(stride) if stride == i64::from(width.bytes) => {
                self.contiguous += 1;
                // The address of lane 0 is extrapolated if a guard disables the first lanes, because that does not
                // misalign the data.
                let begin = low.wrapping_sub(u64::from(access.mask.trailing_zeros()) * u64::from(width.bytes));
                if begin % SECTOR_BYTES != 0 {
                    self.misaligned += 1;
                    self.offset.add(begin % LINE_BYTES, 1);
                }
            }
            Shape::Stride(stride) => {
                self.strided += 1;
                self.stride.add(stride as u64, 1);
            }
            Shape::Rows { lanes, pitch } => {
                self.rows += 1;
                self.run.add(lanes.into(), 1);
                self.pitch.add(pitch as u64, 1);
            }
            Shape::Irregular(span) => {
                self.irregular += 1;
                self.span = self.span.saturating_add(span);
            }
        }
    }

    pub(super) fn add(&mut self, other: &Strides) {
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.uniform, other.uniform),
            (&mut self.contiguous, other.contiguous),
            (&mut self.misaligned, other.misaligned),
            (&mut self.strided, other.strided),
            (&mut self.rows, other.rows),
            (&mut self.irregular, other.irregular),
            (&mut self.span, other.span),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.stride.merge(&other.stride);
        self.offset.merge(&other.offset);
        self.run.merge(&other.run);
        self.pitch.merge(&other.pitch);
    }

    /// Returns the most frequent stride of the strided requests, in bytes.
    pub fn stride(&self) -> Option<i64> {
        let (stride, weight) = self.stride.found_signed();
        most(weight, self.strided).then_some(stride)
    }

    /// Returns the most frequent offset of the misaligned requests from the start of their line, in bytes.
    pub fn offset(&self) -> Option<u64> {
        let (offset, weight) = self.offset.found();
        most(weight, self.misaligned).then_some(offset)
    }

    /// Returns the most frequent offset of the misaligned requests from the start of their sector, in bytes.
    pub fn sector_offset(&self) -> Option<u64> {
        let (offset, weight) = self.offset.found_low(SECTOR_BYTES.trailing_zeros() as usize);
        most(weight, self.misaligned).then_some(offset)
    }

    /// Returns the most frequent number of lanes per run and distance in bytes from the first run to the second, of the
    /// requests in rows.
    pub fn row(&self) -> Option<(u64, i64)> {
        let (lanes, weight) = self.run.found();
        most(weight, self.rows).then(|| (lanes, self.pitch.found_signed().0))
    }
}

/// Returns whether a value has enough of the weight to represent all requests. The weight is an upper bound, so evenly
/// spread values can appear to have half of it.
fn most(weight: u64, total: u64) -> bool {
    total != 0 && weight >= total - total / 4
}

/// Returns the shape and the lowest address; `None` for a request of a single lane.
#[inline]
fn shape(access: &Access<'_>, width: Width) -> Option<(Shape, u64)> {
    let lanes = access.mask.count_ones();
    if lanes < 2 {
        return None;
    }
    match access.addresses {
        Addresses::Uniform(address) => Some((Shape::Uniform, address)),
        Addresses::Affine { bases, stride } => {
            let stride = i64::from(stride);
            let one_half = access.mask & 0xffff == 0 || access.mask >> 16 == 0;
            if one_half || bases[1].wrapping_sub(bases[0]) == (16 * stride) as u64 {
                let first = u64::from(access.mask.trailing_zeros());
                let base =
                    if access.mask & 0xffff == 0 { bases[1].wrapping_sub((16 * stride) as u64) } else { bases[0] };
                let low = base.wrapping_add(first.wrapping_mul(stride as u64));
                let last = u64::from(31 - access.mask.leading_zeros());
                let low = if stride < 0 { base.wrapping_add(last.wrapping_mul(stride as u64)) } else { low };
                return Some((if stride == 0 { Shape::Uniform } else { Shape::Stride(stride) }, low));
            }
            // Two rows of a block are the most frequent shape besides a single run. The result is the same as for
            // single lanes.
            if access.mask == u32::MAX && bases[0].max(bases[1]) < 1 << 60 && stride >= 0 {
                let low = bases[0].min(bases[1]);
                if stride == 0 || stride == i64::from(width.bytes) {
                    return Some((Shape::Rows { lanes: 16, pitch: bases[1].wrapping_sub(bases[0]) as i64 }, low));
                }
                return Some((Shape::Stride(stride), low));
            }
            Some(of_lanes(access, width))
        }
        Addresses::Delta(..) | Addresses::Full(_) => Some(of_lanes(access, width)),
    }
}

/// Computes the shape and the lowest address from the address of each lane.
fn of_lanes(access: &Access<'_>, width: Width) -> (Shape, u64) {
    let mut addresses = [0u64; LANES];
    let mut at = [0u32; LANES];
    let mut count = 0;
    access.for_each_lane(|lane, address| {
        (addresses[count], at[count]) = (address, lane);
        count += 1;
    });
    let (addresses, at) = (&addresses[..count], &at[..count]);
    let (low, high) =
        addresses.iter().fold((u64::MAX, 0), |(low, high), &address| (low.min(address), high.max(address)));
    if low == high {
        return (Shape::Uniform, low);
    }
    let step = |index: usize| addresses[index].wrapping_sub(addresses[index - 1]) as i64;
    let lanes = |index: usize| i64::from(at[index] - at[index - 1]);
    let first = step(1) / lanes(1);
    if step(1) % lanes(1) == 0 && (1..count).all(|index| step(index) == first.wrapping_mul(lanes(index))) {
        return (Shape::Stride(first), low);
    }
    // In warps that cover several rows of the block, most lanes keep one stride, with a jump between rows.
    let unit = i64::from(width.bytes);
    let kept = (1..count).filter(|&index| step(index) == first.wrapping_mul(lanes(index))).count();
    if first != 0 && first != unit && 8 * kept >= 7 * (count - 1) {
        return (Shape::Stride(first), low);
    }
    // A run continues if a lane starts where the previous lane ends, or at the same address.
    let joined = |index: usize| step(index) == 0 || step(index) == unit * lanes(index);
    let breaks = || (1..count).filter(|&index| !joined(index));
    let runs = 1 + breaks().count();
    let elements = 1 + (1..count).filter(|&index| step(index) != 0).count();
    // Lanes that share an element do not form a run: such elements at irregular addresses are separate.
    if runs * 2 <= elements || runs * 2 <= count && are_even(breaks().map(|index| (at[index], addresses[index]))) {
        let (mut begin, mut pitch) = (0, 0);
        if let Some(index) = breaks().next() {
            (begin, pitch) = (index, addresses[index].wrapping_sub(addresses[0]) as i64);
        }
        return (Shape::Rows { lanes: begin as u32, pitch }, low);
    }
    (Shape::Irregular(high - low), low)
}

/// Returns whether runs start at constant distances in lanes and in bytes, as for rows of a block in which all lanes
/// access one element; also if there are too few runs to decide. Runs are given by their first lane and its address.
fn are_even(mut begins: impl Iterator<Item = (u32, u64)>) -> bool {
    let Some(mut last) = begins.next() else { return true };
    let mut apart = begins.map(|begin| {
        let before = std::mem::replace(&mut last, begin);
        (begin.0 - before.0, begin.1.wrapping_sub(before.1))
    });
    let Some(first) = apart.next() else { return true };
    apart.all(|other| other == first)
}

#[cfg(test)]
mod tests {
    use warpline_format::access::Space;

    use super::*;

    fn shape_of(mask: u32, address: impl Fn(u64) -> u64) -> (Shape, u64) {
        let bytes: Vec<u8> =
            (0..32).filter(|lane| mask >> lane & 1 != 0).flat_map(|lane| address(lane).to_le_bytes()).collect();
        let access = Access { site: 0, space: Space::Global, mask, addresses: Addresses::Full(&bytes) };
        shape(&access, Width::solid(4)).unwrap()
    }

    #[test]
    fn shapes_are_reported_from_each_other() {
        assert_eq!(shape_of(!0, |_| 512), (Shape::Uniform, 512));
        assert_eq!(shape_of(!0, |lane| 512 + 4 * lane), (Shape::Stride(4), 512));
        assert_eq!(shape_of(0x5555_5555, |lane| 512 + 4 * lane), (Shape::Stride(4), 512));
        assert_eq!(shape_of(!0, |lane| 5120 - 128 * lane), (Shape::Stride(-128), 5120 - 128 * 31));
        let rows = |lane: u64| 4096 + lane / 8 * 400 + lane % 8 * 4;
        assert_eq!(shape_of(!0, rows), (Shape::Rows { lanes: 8, pitch: 400 }, 4096));
        let two_columns = |lane: u64| 4096 + lane % 16 * 4096 + lane / 16 * 4;
        assert_eq!(shape_of(!0, two_columns), (Shape::Stride(4096), 4096));
        let scattered = |lane: u64| 4096 + (lane * 7919 % 97) * 64;
        assert!(matches!(shape_of(!0, scattered), (Shape::Irregular(_), _)));
        let shared = |lane: u64| 4096 + (lane / 3 * 7919 % 97) * 64;
        assert!(matches!(shape_of(!0, shared), (Shape::Irregular(_), _)));
        let one_of_each_row = |lane: u64| 4096 + lane / 8 * 400;
        assert_eq!(shape_of(!0, one_of_each_row), (Shape::Rows { lanes: 8, pitch: 400 }, 4096));
    }

    #[test]
    fn begins_are_those_of_lane_0() {
        let mut strides = Strides::default();
        let mut request = |mask: u32, first: u64| {
            let bytes: Vec<u8> = (0..32)
                .filter(|lane| mask >> lane & 1 != 0)
                .flat_map(|lane| (first + 4 * lane).to_le_bytes())
                .collect();
            strides.request(
                &Access { site: 0, space: Space::Global, mask, addresses: Addresses::Full(&bytes) },
                Width::solid(4),
            );
        };
        // A guard disables the first lanes of aligned data.
        request(!1, 4096);
        request(!7, 4224);
        // These blocks start in the middle of a sector, each at another offset in its line, with various active lanes.
        for (mask, first) in [(!0, 4112), (!1, 4112 + 32), (!3, 4112 + 64), (0x00ff_fff0, 4112 + 96)] {
            request(mask, first);
        }
        assert_eq!((strides.contiguous, strides.misaligned), (6, 4));
        assert_eq!((strides.offset(), strides.sector_offset()), (None, Some(16)));
    }

    #[test]
    fn trace_forms_of_one_request_have_one_shape() {
        let width = Width::solid(4);
        for (mask, stride, jump) in [
            (!0u32, 4i32, 0i64),
            (!0, 256, 0),
            (0xffff_0000, -8, 0),
            (0x00ff_ff00, 12, 0),
            (!0, 4, 4000),
            (!0, 4, -4000),
            (!0, 0, 64),
            (!0, 128, 4),
            (0x0fff_ffff, 4, 400),
        ] {
            let bases = [1u64 << 20, (1u64 << 20).wrapping_add_signed(16 * i64::from(stride) + jump)];
            let affine = Access { site: 0, space: Space::Global, mask, addresses: Addresses::Affine { bases, stride } };
            let mut bytes = Vec::new();
            affine.for_each_lane(|_, address| bytes.extend(address.to_le_bytes()));
            let full = Access { addresses: Addresses::Full(&bytes), ..affine };
            assert_eq!(shape(&affine, width), shape(&full, width), "{mask:#x} {stride}");
        }
    }
}
