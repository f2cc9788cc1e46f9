//! Texture and surface objects.

use super::arrays::{ArrayHandle, array};
use crate::api::{api, put};
use crate::cuda::error::{self, Error};
use crate::cuda::texture_limits::{LIMITS, LINEAR_TEXELS};
use crate::cuda::types::{ResourceDesc, TextureDesc, ViewDesc};
use crate::state::runtime::Runtime;
use crate::texture::format::Format;
use crate::texture::image::Image;
use crate::texture::sample::{AddressMode, Sampler};
use std::ffi::{c_int, c_ulonglong, c_void};

/// Memory for textures must start at a multiple of this number of bytes (`textureAlignment`).
pub(in crate::api) const ALIGNMENT: u64 = 512;
/// Rows of memory for textures must start at multiples of this number of bytes (`texturePitchAlignment`).
const PITCH_ALIGNMENT: usize = 32;
/// `cudaArraySurfaceLoadStore`.
const SURFACE: u32 = 2;

/// Returns the image that a resource names.
fn image(runtime: &Runtime, resource: &ResourceDesc) -> Result<Image, Error> {
    let memory = &resource.resource;
    let place = memory.place as u64;
    let small = |size: usize, limit: c_int| u32::try_from(size).ok().filter(|size| (1..=limit as u32).contains(size));
    let image = match resource.kind {
        ResourceDesc::ARRAY => return Ok(array(runtime, memory.place as ArrayHandle)?.image),
        ResourceDesc::LINEAR => {
            let format = Format::from_desc(&memory.desc)?;
            // Old programs request a larger texture than the allocation has bytes.
            let there = runtime.memory.registry.find(place).map_or(0, |live| live.bytes - (place - live.start()));
            let texels = memory.width.min(there as usize) / format.bytes() as usize;
            if texels == 0 || texels > LINEAR_TEXELS {
                return Err(error::INVALID_VALUE);
            }
            let bytes = texels as u64 * format.bytes();
            Image { base: place, size: [texels as u32, 1, 1], row: bytes, slice: bytes, format }
        }
        ResourceDesc::PITCH_2D => {
            let format = Format::from_desc(&memory.desc)?;
            let (width, height) = (small(memory.width, LIMITS[6]), small(memory.height, LIMITS[7]));
            let (Some(width), Some(height)) = (width, height) else { return Err(error::INVALID_VALUE) };
            let long_enough = memory.pitch as u64 >= u64::from(width) * format.bytes();
            if !memory.pitch.is_multiple_of(PITCH_ALIGNMENT) || !long_enough || memory.pitch > LIMITS[8] as usize {
                return Err(error::INVALID_VALUE);
            }
            let row = memory.pitch as u64;
            Image { base: place, size: [width, height, 1], row, slice: row * u64::from(height), format }
        }
        _ => {
            crate::output::message::note("textures of arrays with several levels are not supported");
            return Err(error::NOT_SUPPORTED);
        }
    };
    let found = runtime.memory.registry.find(place).ok_or(error::INVALID_VALUE)?;
    let fits = place - found.start() + image.bytes() <= found.bytes;
    if fits && place.is_multiple_of(ALIGNMENT) { Ok(image) } else { Err(error::INVALID_VALUE) }
}

fn address_mode(mode: c_int) -> Result<AddressMode, Error> {
    Ok(match mode {
        0 => AddressMode::Wrap,
        1 => AddressMode::Clamp,
        2 => AddressMode::Mirror,
        3 => AddressMode::Border,
        _ => return Err(error::INVALID_VALUE),
    })
}

fn sampler(resource: &ResourceDesc, desc: &TextureDesc, format: Format) -> Result<Sampler, Error> {
    let [x, y, z] = desc.address_modes;
    let (linear, as_floats) = (desc.filter_mode == 1, desc.read_mode == 1);
    if !(0..=1).contains(&desc.filter_mode) || !(0..=1).contains(&desc.read_mode) {
        return Err(error::INVALID_VALUE);
    }
    if as_floats && !format.can_normalise() && !format.is_float() {
        return Err(error::INVALID_NORM_SETTING);
    }
    if linear && !as_floats && !format.is_float() {
        return Err(error::INVALID_FILTER_SETTING);
    }
    Ok(Sampler {
        modes: [address_mode(x)?, address_mode(y)?, address_mode(z)?],
        linear,
        normalised: desc.normalised != 0,
        as_floats: as_floats && format.can_normalise(),
        srgb: desc.srgb != 0,
        border: desc.border,
        linear_memory: resource.kind == ResourceDesc::LINEAR,
    })
}

/// Creates a texture object and returns its handle.
pub(in crate::api) fn create(
    runtime: &mut Runtime,
    resource: &ResourceDesc,
    description: &TextureDesc,
    view: Option<&ViewDesc>,
) -> Result<u64, Error> {
    let image = image(runtime, resource)?;
    if view.is_some_and(|view| view.format != 0 || view.parts[2] != 0) {
        crate::output::message::note("texture objects with a resource view are not supported");
        return Err(error::NOT_SUPPORTED);
    }
    let sampler = sampler(resource, description, image.format)?;
    Ok(runtime.memory.images.add_texture(image, sampler, (*resource, *description)))
}

/// Returns whether a texture can read a resource as floats.
pub(in crate::api) fn can_read_as_floats(runtime: &Runtime, resource: &ResourceDesc) -> Result<bool, Error> {
    let format = image(runtime, resource)?.format;
    Ok(format.can_normalise() || format.is_float())
}

/// Creates a surface object and returns its handle.
pub(in crate::api) fn create_surface(runtime: &mut Runtime, resource: &ResourceDesc) -> Result<u64, Error> {
    if resource.kind != ResourceDesc::ARRAY {
        return Err(error::INVALID_VALUE);
    }
    let array = array(runtime, resource.resource.place as ArrayHandle)?;
    if array.flags & SURFACE == 0 {
        return Err(error::INVALID_VALUE);
    }
    Ok(runtime.memory.images.add_surface(array.image, *resource))
}

api! {
    /// Creates a texture object. Views that change the format or leave out parts are not supported.
    fn cudaCreateTextureObject(
        object: *mut c_ulonglong,
        resource: *const ResourceDesc,
        description: *const TextureDesc,
        view: *const ViewDesc,
    ) |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let (resource, description, view) = unsafe { (resource.as_ref(), description.as_ref(), view.as_ref()) };
        let (Some(resource), Some(description)) = (resource, description) else { return Err(error::INVALID_VALUE) };
        let handle = create(runtime, resource, description, view)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(object, handle) }
    }

    /// Destroys a texture object.
    fn cudaDestroyTextureObject(object: c_ulonglong) |runtime, entry| {
        let _ = entry;
        // Like CUDA, the function accepts zero.
        if object == 0 { Ok(()) } else { runtime.memory.images.remove_texture(object) }
    }

    /// Returns the resource that a texture object reads.
    fn cudaGetTextureObjectResourceDesc(resource: *mut ResourceDesc, object: c_ulonglong) |runtime, entry| {
        let _ = entry;
        let value = runtime.memory.images.texture(object)?.resource;
        // SAFETY: by the contract of the API function.
        unsafe { put(resource, value) }
    }

    /// Returns how a texture object reads its resource.
    fn cudaGetTextureObjectTextureDesc(description: *mut TextureDesc, object: c_ulonglong) |runtime, entry| {
        let _ = entry;
        let value = runtime.memory.images.texture(object)?.description;
        // SAFETY: by the contract of the API function.
        unsafe { put(description, value) }
    }

    /// Creates a surface object for an array that was allocated with surface loads and stores.
    fn cudaCreateSurfaceObject(object: *mut c_ulonglong, resource: *const ResourceDesc) |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let resource = unsafe { resource.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let handle = create_surface(runtime, resource)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(object, handle) }
    }

    /// Destroys a surface object.
    fn cudaDestroySurfaceObject(object: c_ulonglong) |runtime, entry| {
        let _ = entry;
        if object == 0 { Ok(()) } else { runtime.memory.images.remove_surface(object) }
    }

    /// Returns the resource that a surface object reads and writes.
    fn cudaGetSurfaceObjectResourceDesc(resource: *mut ResourceDesc, object: c_ulonglong) |runtime, entry| {
        let _ = entry;
        let value = runtime.memory.images.surface(object)?.resource;
        // SAFETY: by the contract of the API function.
        unsafe { put(resource, value) }
    }
}

/// Makes a texture reference read through an object; 0 means no object. A reference that no kernel uses has no variable
/// on the device.
///
/// # Safety
/// `reference` is the reference's address on the host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __warpline_bind_texture(reference: *const c_void, object: c_ulonglong) -> Error {
    if crate::real::active() {
        let Some(real) = crate::real::functions::real() else { return error::INITIALIZATION_ERROR };
        let mut place = std::ptr::null_mut();
        // SAFETY: the real runtime checks the symbol, and the variable has 8 bytes.
        return unsafe {
            match (real.symbol_address)(&raw mut place, reference) {
                error::SUCCESS => (real.memcpy)(place, (&raw const object).cast(), size_of_val(&object), 1),
                _ => {
                    (real.last_error)();
                    error::SUCCESS
                }
            }
        };
    }
    crate::state::runtime::call(|runtime| {
        if let Some(member) = runtime.variables.get(&(reference as usize)) {
            let address = runtime.modules[member.module].globals[member.index];
            if address != 0 {
                // SAFETY: the write covers the variable's own memory, which has 8 bytes.
                unsafe { (address as *mut u64).write_unaligned(object) };
            }
        }
        Ok(())
    })
}
