//! The functions that lowered code calls for textures and surfaces (`docs/design/borders.md`, section 3).

use crate::device::execution::lanes::lanes;
use crate::device::execution::scheduled::warp_of;
use crate::device::execution::warp::{Pause, Stop, Warp, pause, stop};
use crate::device::faults::{check, message};
use crate::memory::images::Unusable;
use crate::texture::format::Channel;
use crate::texture::image::{Image, axes};
use crate::texture::sample::{MOST_TAPS, fetch, nearest_address, tap_count};
use warpline_format::abi::{NO_SITE, WarpContext, surface, texture};
use warpline_format::access::{Kind, LANES, MAX_ITEM_BYTES, Space, head};
use warpline_format::event::FaultKind;
use warpline_format::options::Check;

/// Runs `group` once for each distinct handle, with the lanes that have this handle.
fn by_handle(mut mask: u32, handles: &[u64; LANES], mut group: impl FnMut(u64, u32)) {
    while mask != 0 {
        let handle = handles[mask.trailing_zeros() as usize];
        let lanes = (0..LANES).fold(0, |lanes, lane| lanes | u32::from(handles[lane] == handle) << lane);
        group(handle, mask & lanes);
        mask &= !lanes;
    }
}

/// Writes a request into the warp's records.
///
/// # Safety
/// `warp` is the running one and writes records.
unsafe fn record(warp: *mut Warp, site: u32, mask: u32, addresses: &[u64; LANES]) {
    if mask == 0 {
        return;
    }
    // SAFETY: by the contract; there is room for the item after the pause, and items are 8-byte aligned.
    unsafe {
        let room = |warp: *mut Warp| (*warp).context.record_end as usize - (*warp).context.record_cursor as usize;
        if room(warp) < MAX_ITEM_BYTES {
            pause(warp, Pause::Full);
        }
        let place = (*warp).context.record_cursor.cast::<u64>();
        place.write(u64::from(head(Kind::Raw, Space::Global, site)) | u64::from(mask) << 32);
        place.add(1).cast::<[u64; LANES]>().write(*addresses);
        (*warp).context.record_cursor = place.byte_add(MAX_ITEM_BYTES).cast();
    }
}

/// Reports an object that cannot be used, and stops the kernel if the options require it.
///
/// # Safety
/// `warp` is the running one.
unsafe fn refuse(warp: *mut Warp, site: u32, mask: u32, handle: u64, what: &str, why: Unusable) {
    // SAFETY: by the contract.
    unsafe {
        let (text, kind, address) = match why {
            Unusable::Handle => {
                (format!("{what} through {handle:#x}, which is no live object"), FaultKind::OutOfBounds, 0)
            }
            Unusable::Freed(address) => {
                (format!("{what} through an object whose memory was freed"), FaultKind::Freed, address)
            }
        };
        report(warp, site, mask, text, kind, address);
    }
}

/// # Safety
/// `warp` is the running one.
unsafe fn report(warp: *mut Warp, site: u32, mask: u32, text: String, kind: FaultKind, address: u64) {
    // SAFETY: by the contract; the launch's state is used by this thread alone.
    unsafe {
        // A handle without an object cannot be fetched, so reporting alone is not possible.
        let stops = (*(*warp).running).check != Check::Report;
        let running = &mut *(*warp).running;
        let module = &mut *running.module;
        let first = if stops { running.reported.insert(site) } else { module.reported.is_first(site, &module.table) };
        if first {
            let lane = mask.trailing_zeros() as usize;
            message::at_site(warp, lane, &text, site, stops);
            check::note(warp, lane, kind, site, address, stops);
        }
        // Control does not return to the fibre after a stop.
        drop(text);
        if stops {
            stop(warp, Stop::IllegalAddress);
        }
    }
}

/// Performs a texture fetch. `operation` consists of the bits of [`texture`]. `coordinates` are the bits of x, y, z and
/// the layer of each lane; `results` are the bits of the four values. `site` is the first of five sites, for texels of
/// 1, 2, 4, 8 and 16 bytes, or [`NO_SITE`].
///
/// # Safety
/// Lowered code calls this function with its own context; the array entries of active lanes are defined.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_texture(
    context: *mut WarpContext,
    mask: u32,
    site: u32,
    operation: u32,
    handles: *const [u64; LANES],
    coordinates: *const [[u32; LANES]; 4],
    results: *mut [[u32; LANES]; 4],
) {
    // SAFETY: by the contract; the registry and the objects do not change while the kernel runs.
    unsafe {
        let warp = warp_of(context);
        let (coordinates, results) = (&*coordinates, &mut *results);
        by_handle(mask, &*handles, |handle, group| {
            let memory = &mut *(*(*warp).running).memory;
            let (image, sampler) = match memory.images.fetched(handle, &memory.registry) {
                Ok(found) => found,
                Err(why) => {
                    refuse(warp, site, group, handle, "Texture fetch", why);
                    lanes(group).for_each(|lane| results.iter_mut().for_each(|value| value[lane] = 0));
                    return;
                }
            };
            if operation & texture::INTEGER != 0 && sampler.linear_memory && !sampler.as_floats {
                let mut addresses = [0u64; LANES];
                let inside = fetch_numbered(&image, group, &coordinates[0], results, &mut addresses);
                note(warp, inside, &addresses);
                if site != NO_SITE {
                    record(warp, site + image.format.bytes().trailing_zeros(), inside, &addresses);
                }
                return;
            }
            if sampler.is_nearest(operation) {
                let mut addresses = [0u64; LANES];
                let mut inside = 0;
                for lane in lanes(group) {
                    let place = [0, 1, 2, 3].map(|axis| coordinates[axis][lane]);
                    addresses[lane] = nearest_address(&image, &sampler, operation, place);
                    inside |= u32::from(addresses[lane] != 0) << lane;
                    give(results, lane, sampler.value(&image, addresses[lane]));
                }
                note(warp, group, &addresses);
                if site != NO_SITE {
                    record(warp, site + image.format.bytes().trailing_zeros(), inside, &addresses);
                }
                return;
            }
            if site == NO_SITE {
                let mut first = [0u64; LANES];
                for lane in lanes(group) {
                    let place = [0, 1, 2, 3].map(|axis| coordinates[axis][lane]);
                    let fetched = fetch(&image, &sampler, operation, place);
                    give(results, lane, fetched.values);
                    first[lane] = fetched.taps[0];
                }
                note(warp, group, &first);
                return;
            }
            let count = tap_count(&sampler, operation);
            let mut taps = [[0u64; LANES]; MOST_TAPS];
            for lane in lanes(group) {
                let fetched = fetch(&image, &sampler, operation, [0, 1, 2, 3].map(|axis| coordinates[axis][lane]));
                give(results, lane, fetched.values);
                for (tap, address) in taps.iter_mut().zip(fetched.taps).take(count) {
                    tap[lane] = address;
                }
            }
            note(warp, group, &taps[0]);
            let site = site + image.format.bytes().trailing_zeros();
            for tap in &taps[..count] {
                let inside = lanes(group).filter(|&lane| tap[lane] != 0).fold(0, |mask, lane| mask | 1 << lane);
                record(warp, site, inside, tap);
            }
        });
    }
}

/// Reports the first texel of each lane to the floating-point check.
///
/// # Safety
/// `warp` is the running one.
unsafe fn note(warp: *mut Warp, mask: u32, addresses: &[u64; LANES]) {
    // SAFETY: by the contract; the check is used by this thread alone.
    if let Some(floats) = unsafe { (*(*warp).running).floats.as_mut() } {
        floats.fetched(warp, mask, addresses);
    }
}

#[inline(always)]
fn give(results: &mut [[u32; LANES]; 4], lane: usize, values: [u32; 4]) {
    for (result, value) in results.iter_mut().zip(values) {
        result[lane] = value;
    }
}

/// The variant of [`fetch`] for a fetch by texel number from linear memory, which is frequent in old programs. Returns
/// the lanes that are inside the image, and their addresses.
///
/// # Safety
/// The image is readable.
unsafe fn fetch_numbered(
    image: &Image,
    group: u32,
    numbers: &[u32; LANES],
    results: &mut [[u32; LANES]; 4],
    addresses: &mut [u64; LANES],
) -> u32 {
    let bytes = image.format.bytes();
    let mut inside = 0;
    for (lane, address) in addresses.iter_mut().enumerate() {
        // As an unsigned value, a negative number is large.
        inside |= u32::from(numbers[lane] < image.size[0]) << lane;
        *address = image.base + u64::from(numbers[lane]) * bytes;
    }
    inside &= group;
    let words = !matches!(image.format.channel, Channel::Half | Channel::Signed(8 | 16) | Channel::Unsigned(8 | 16));
    for lane in lanes(group) {
        let at = addresses[lane];
        // SAFETY: by the contract, for the lanes inside.
        let values = unsafe {
            match image.format.count {
                _ if inside >> lane & 1 == 0 => [0; 4],
                1 if words => [(at as *const u32).read_unaligned(), 0, 0, 0],
                4 if words => (at as *const [u32; 4]).read_unaligned(),
                _ => image.format.read(at),
            }
        };
        give(results, lane, values);
    }
    inside
}

/// Performs a surface load or store. `operation` consists of the bits of [`surface`]. `coordinates` are x in bytes, y,
/// z and the layer of each lane; `values` are the values that are stored or were loaded.
///
/// # Safety
/// The requirements of [`__wl_texture`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wl_surface(
    context: *mut WarpContext,
    mask: u32,
    site: u32,
    operation: u32,
    handles: *const [u64; LANES],
    coordinates: *const [[u32; LANES]; 4],
    values: *mut [[u64; LANES]; 4],
) {
    // SAFETY: the reasons in `__wl_texture` apply.
    unsafe {
        let warp = warp_of(context);
        let (coordinates, values) = (&*coordinates, &mut *values);
        let geometry = operation & texture::GEOMETRY;
        let element = 1u64 << (operation >> surface::ELEMENT_SHIFT & 3);
        let count = 1usize << (operation >> surface::COUNT_SHIFT & 3);
        let boundary = operation >> surface::BOUNDARY_SHIFT & 3;
        let store = operation & surface::STORE != 0;
        by_handle(mask, &*handles, |handle, group| {
            let memory = &mut *(*(*warp).running).memory;
            let image = match memory.images.accessed(handle, &memory.registry) {
                Ok(found) => found,
                Err(why) => {
                    refuse(warp, site, group, handle, "Surface access", why);
                    lanes(group).for_each(|lane| values.iter_mut().for_each(|value| value[lane] = 0));
                    return;
                }
            };
            let bytes = element * count as u64;
            // The unit is the size of the access, as for x.
            let row_units = u64::from(image.size[0]) * image.format.bytes() / bytes;
            let limits = [row_units as i64, i64::from(image.size[1]), i64::from(image.size[2])];
            let mut addresses = [0u64; LANES];
            let mut inside = 0;
            for lane in lanes(group) {
                let [x, y, z, layer] = [0, 1, 2, 3].map(|axis| i64::from(coordinates[axis][lane] as i32));
                let depth = match geometry {
                    texture::THREE => z,
                    texture::ONE | texture::TWO => 0,
                    _ => layer,
                };
                let mut place = [x.div_euclid(bytes as i64), if axes(geometry) > 1 { y } else { 0 }, depth];
                let fits = (0..3).all(|axis| (0..limits[axis]).contains(&place[axis]));
                if !fits && boundary == surface::CLAMP {
                    place = [0, 1, 2].map(|axis| place[axis].clamp(0, (limits[axis] - 1).max(0)));
                } else if !fits {
                    if boundary == surface::TRAP {
                        let text = format!(
                            "Surface access outside its array: byte {x}, row {y}, slice {depth} of {} bytes, {} rows, {} slices",
                            row_units * bytes,
                            limits[1],
                            limits[2]
                        );
                        report(warp, site, 1 << lane, text, FaultKind::OutOfBounds, image.base);
                    }
                    if !store {
                        values.iter_mut().for_each(|value| value[lane] = 0);
                    }
                    continue;
                }
                let [x, y, z] = place.map(|place| place as u64);
                addresses[lane] = image.base + z * image.slice + y * image.row + x * bytes;
                inside |= 1 << lane;
            }
            for lane in lanes(inside) {
                for (index, value) in values.iter_mut().enumerate().take(count) {
                    let at = addresses[lane] + index as u64 * element;
                    if store {
                        write(at, element, value[lane]);
                    } else {
                        value[lane] = read(at, element);
                    }
                }
            }
            if site != NO_SITE {
                record(warp, site, inside, &addresses);
            }
        });
    }
}

/// # Safety
/// `address` is readable for `bytes` bytes: 1, 2, 4 or 8.
unsafe fn read(address: u64, bytes: u64) -> u64 {
    // SAFETY: by the contract.
    unsafe {
        match bytes {
            1 => u64::from((address as *const u8).read()),
            2 => u64::from((address as *const u16).read_unaligned()),
            4 => u64::from((address as *const u32).read_unaligned()),
            _ => (address as *const u64).read_unaligned(),
        }
    }
}

/// # Safety
/// `address` is writable for `bytes` bytes: 1, 2, 4 or 8.
unsafe fn write(address: u64, bytes: u64, value: u64) {
    // SAFETY: by the contract.
    unsafe {
        match bytes {
            1 => (address as *mut u8).write(value as u8),
            2 => (address as *mut u16).write_unaligned(value as u16),
            4 => (address as *mut u32).write_unaligned(value as u32),
            _ => (address as *mut u64).write_unaligned(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::format::Format;
    use crate::texture::sample::{AddressMode, Sampler};
    use proptest::prelude::*;

    proptest! {
        /// The fast path by number gives the same results as the general path.
        #[test]
        fn the_short_way_is_the_long_one(
            numbers in prop::array::uniform32(-3i32..14), channel in 0usize..4, count in 0u32..3, group: u32,
        ) {
            let bytes: Vec<u8> = (0..160).map(|byte| (byte * 37 % 251) as u8).collect();
            let channel = [Channel::Float, Channel::Signed(16), Channel::Unsigned(32), Channel::Half][channel];
            let format = Format { channel, count: 1 << count };
            let image = Image { base: bytes.as_ptr() as u64, size: [10, 1, 1], row: 160, slice: 160, format };
            let sampler = Sampler {
                modes: [AddressMode::Clamp; 3],
                linear: false,
                normalised: false,
                as_floats: false,
                srgb: false,
                border: [0.0; 4],
                linear_memory: true,
            };
            let numbers = numbers.map(|number| number as u32);
            let (mut results, mut addresses) = ([[0; LANES]; 4], [0; LANES]);
            // SAFETY: the vector contains ten texels of 16 bytes.
            unsafe {
                let inside = fetch_numbered(&image, group, &numbers, &mut results, &mut addresses);
                for lane in lanes(group) {
                    let operation = texture::ONE | texture::INTEGER;
                    let wanted = fetch(&image, &sampler, operation, [numbers[lane], 0, 0, 0]);
                    prop_assert_eq!([0, 1, 2, 3].map(|index: usize| results[index][lane]), wanted.values);
                    let address = if inside >> lane & 1 == 1 { addresses[lane] } else { 0 };
                    prop_assert_eq!(address, wanted.taps[0]);
                }
                prop_assert_eq!(inside & !group, 0);
            }
        }
    }
}
