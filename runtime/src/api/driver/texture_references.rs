//! Texture references of modules (`cuTexRef…`), which read as texture objects do. A setting that the program changes
//! after binding takes effect at the next fetch.

use super::arrays::Description2D;
use super::driver_api;
use super::formats::{channels, format_of};
use super::textures::Sampling;
use crate::api::copies::arrays::ArrayHandle;
use crate::api::copies::textures::{self, ALIGNMENT};
use crate::api::put;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{Resource, ResourceDesc, TextureDesc};
use crate::memory::texture_references::Reference;
use crate::modules::loaded::Handle;
use crate::state::runtime::Runtime;
use crate::texture::format::Format;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// `CU_TRSA_OVERRIDE_FORMAT`: binding to an array accepts this flag and no other.
const OVERRIDE_FORMAT: c_uint = 1;

/// `CUtexref`.
type TextureReference = u64;

/// Binds a reference to memory or an array, if a texture can read the resource.
fn bind(runtime: &mut Runtime, handle: TextureReference, resource: ResourceDesc) -> Result<(), Error> {
    runtime.memory.texture_references.get(handle)?;
    textures::can_read_as_floats(runtime, &resource)?;
    set(runtime, handle, |reference| reference.resource = Some(resource))
}

/// Changes a reference and creates a new texture object for it. While the settings contradict each other, which can
/// happen between two calls, there is no object; a fetch reports this.
fn set(runtime: &mut Runtime, handle: TextureReference, change: impl FnOnce(&mut Reference)) -> Result<(), Error> {
    let reference = runtime.memory.texture_references.get(handle)?;
    change(reference);
    let Reference { variable, resource, mut description, object, .. } = *reference;
    if object != 0 {
        runtime.memory.images.remove_texture(object)?;
    }
    let object = resource.map_or(Ok(0), |resource| {
        if description.read_mode == 1 && !textures::can_read_as_floats(runtime, &resource)? {
            // The device reads 32-bit integers as integers regardless of the requested read mode.
            description.read_mode = 0;
        }
        textures::create(runtime, &resource, &description, None)
    });
    let object = object.unwrap_or(0);
    runtime.memory.texture_references.get(handle)?.object = object;
    // SAFETY: the write covers the variable's own memory, which has 8 bytes.
    unsafe { (variable as *mut u64).write_unaligned(object) };
    Ok(())
}

/// Changes how a reference reads.
fn describe(
    runtime: &mut Runtime,
    handle: TextureReference,
    change: impl FnOnce(&mut TextureDesc),
) -> Result<(), Error> {
    set(runtime, handle, |reference| change(&mut reference.description))
}

/// Returns the resource to which a reference is bound.
fn bound(runtime: &mut Runtime, handle: TextureReference) -> Result<ResourceDesc, Error> {
    runtime.memory.texture_references.get(handle)?.resource.ok_or(error::INVALID_VALUE)
}

driver_api! {
    /// Returns a texture reference of a module.
    fn cuModuleGetTexRef(place: *mut TextureReference, module: Handle, name: *const c_char) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: by the contract of the API function.
        let (variable, bytes) = unsafe { runtime.loaded_variable(module, name) }?;
        if bytes != size_of::<u64>() as u64 {
            return Err(error::SYMBOL_NOT_FOUND);
        }
        let handle = runtime.memory.texture_references.handle(module, variable);
        // SAFETY: by the contract of the API function.
        unsafe { put(place, handle) }
    }

    /// Binds a reference to an array.
    fn cuTexRefSetArray(handle: TextureReference, array: ArrayHandle, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        if flags != OVERRIDE_FORMAT {
            return Err(error::INVALID_VALUE);
        }
        let channels = runtime.memory.texture_references.get(handle)?.channels;
        let resource = Resource { place: array as usize, desc: channels, width: 0, height: 0, pitch: 0, reserved: [0; 9] };
        bind(runtime, handle, ResourceDesc { kind: ResourceDesc::ARRAY, resource, flags: 0 })
    }

    /// Binds a reference to linear memory. If the memory does not start at a multiple of the alignment, the fetch
    /// starts before it, and the function returns the difference in bytes.
    fn cuTexRefSetAddress_v2(
        offset: *mut usize,
        handle: TextureReference,
        address: u64,
        bytes: usize,
    ) needs Context |runtime, entry| {
        let _ = entry;
        let desc = runtime.memory.texture_references.get(handle)?.channels;
        let before = (address % ALIGNMENT) as usize;
        if offset.is_null() && before != 0 {
            return Err(error::INVALID_VALUE);
        }
        let place = address as usize - before;
        let resource = Resource { place, desc, width: bytes.saturating_add(before), height: 0, pitch: 0, reserved: [0; 9] };
        bind(runtime, handle, ResourceDesc { kind: ResourceDesc::LINEAR, resource, flags: 0 })?;
        // SAFETY: the pointer is null, which CUDA allows, or valid.
        if offset.is_null() { Ok(()) } else { unsafe { put(offset, before) } }
    }

    /// Binds a reference to memory with rows.
    fn cuTexRefSetAddress2D_v3(
        handle: TextureReference,
        description: *const Description2D,
        address: u64,
        pitch: usize,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let requested = unsafe { description.as_ref() }.ok_or(error::INVALID_VALUE)?;
        let desc = channels(requested.format, requested.channels)?;
        let Description2D { width, height, .. } = *requested;
        let resource = Resource { place: address as usize, desc, width, height, pitch, reserved: [0; 9] };
        bind(runtime, handle, ResourceDesc { kind: ResourceDesc::PITCH_2D, resource, flags: 0 })
    }

    /// Sets the format of linear memory.
    fn cuTexRefSetFormat(handle: TextureReference, format: c_int, count: c_int) needs Context |runtime, entry| {
        let _ = entry;
        let desc = channels(format, c_uint::try_from(count).map_err(|_| error::INVALID_VALUE)?)?;
        set(runtime, handle, |reference| {
            reference.channels = desc;
            if let Some(bound) = &mut reference.resource {
                bound.resource.desc = desc;
            }
        })
    }

    /// Sets the address mode of one dimension, which applies outside the image.
    fn cuTexRefSetAddressMode(handle: TextureReference, direction: c_int, mode: c_int) needs Context |runtime, entry| {
        let _ = entry;
        if !(0..3).contains(&direction) || !(0..4).contains(&mode) {
            return Err(error::INVALID_VALUE);
        }
        describe(runtime, handle, |how| how.address_modes[direction as usize] = mode)
    }

    /// Sets the filter mode: the nearest texel, or an average of its neighbours.
    fn cuTexRefSetFilterMode(handle: TextureReference, mode: c_int) needs Context |runtime, entry| {
        let _ = entry;
        if !(0..2).contains(&mode) {
            return Err(error::INVALID_VALUE);
        }
        describe(runtime, handle, |how| how.filter_mode = mode)
    }

    /// Sets the flags: integers or floats, normalised coordinates, sRGB.
    fn cuTexRefSetFlags(handle: TextureReference, flags: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        describe(runtime, handle, |how| *how = Sampling::from_texture(how).with_flags(flags).description())
    }

    /// Sets the value outside an image with borders.
    fn cuTexRefSetBorderColor(handle: TextureReference, colour: *const [f32; 4]) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let colour = *unsafe { colour.as_ref() }.ok_or(error::INVALID_VALUE)?;
        describe(runtime, handle, |how| how.border = colour)
    }

    /// Sets the anisotropy, which has no effect because images have only one level.
    fn cuTexRefSetMaxAnisotropy(handle: TextureReference, most: c_uint) needs Context |runtime, entry| {
        let _ = entry;
        describe(runtime, handle, |how| how.levels[0] = most)
    }

    /// Returns the memory to which a reference is bound.
    fn cuTexRefGetAddress_v2(address: *mut u64, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let bound = bound(runtime, handle)?;
        if bound.kind == ResourceDesc::ARRAY {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(address, bound.resource.place as u64) }
    }

    /// Returns the array to which a reference is bound.
    fn cuTexRefGetArray(array: *mut *mut c_void, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let bound = bound(runtime, handle)?;
        if bound.kind != ResourceDesc::ARRAY {
            return Err(error::INVALID_VALUE);
        }
        // SAFETY: by the contract of the API function.
        unsafe { put(array, bound.resource.place as *mut c_void) }
    }

    /// Returns the address mode of one dimension.
    fn cuTexRefGetAddressMode(mode: *mut c_int, handle: TextureReference, direction: c_int) needs Context |runtime, entry| {
        let _ = entry;
        let modes = runtime.memory.texture_references.get(handle)?.description.address_modes;
        let found = usize::try_from(direction).ok().and_then(|direction| modes.get(direction).copied());
        // SAFETY: by the contract of the API function.
        unsafe { put(mode, found.ok_or(error::INVALID_VALUE)?) }
    }

    /// Returns the filter mode.
    fn cuTexRefGetFilterMode(mode: *mut c_int, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let found = runtime.memory.texture_references.get(handle)?.description.filter_mode;
        // SAFETY: by the contract of the API function.
        unsafe { put(mode, found) }
    }

    /// Returns the format of linear memory.
    fn cuTexRefGetFormat(format: *mut c_int, count: *mut c_int, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let found = format_of(Format::from_desc(&runtime.memory.texture_references.get(handle)?.channels)?);
        // SAFETY: by the contract; one of the places may be null.
        unsafe {
            if !format.is_null() {
                put(format, found.0)?;
            }
            if count.is_null() { Ok(()) } else { put(count, found.1 as c_int) }
        }
    }

    /// Returns the flags.
    fn cuTexRefGetFlags(flags: *mut c_uint, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let found = Sampling::from_texture(&runtime.memory.texture_references.get(handle)?.description).flags();
        // SAFETY: by the contract of the API function.
        unsafe { put(flags, found) }
    }

    /// Returns the value outside an image with borders.
    fn cuTexRefGetBorderColor(colour: *mut [f32; 4], handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let found = runtime.memory.texture_references.get(handle)?.description.border;
        // SAFETY: by the contract of the API function.
        unsafe { put(colour, found) }
    }

    /// Returns the anisotropy.
    fn cuTexRefGetMaxAnisotropy(most: *mut c_int, handle: TextureReference) needs Context |runtime, entry| {
        let _ = entry;
        let found = runtime.memory.texture_references.get(handle)?.description.levels[0] as c_int;
        // SAFETY: by the contract of the API function.
        unsafe { put(most, found) }
    }
}
