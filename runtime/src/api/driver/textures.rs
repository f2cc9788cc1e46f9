//! Texture and surface objects of the driver API: they are the same as the objects of the runtime API.

use super::driver_api;
use super::formats::{channels, format_of};
use crate::api::copies::textures;
use crate::api::put;
use crate::cuda::error::{self, Error};
use crate::cuda::types::{ChannelDesc, Resource, ResourceDesc, TextureDesc, ViewDesc};
use crate::texture::format::Format;
use std::ffi::{c_int, c_uint, c_ulonglong};

/// `CU_TRSF_READ_AS_INTEGER`, `CU_TRSF_NORMALIZED_COORDINATES`, `CU_TRSF_SRGB`.
const AS_INTEGERS: c_uint = 1;
const NORMALISED: c_uint = 2;
const SRGB: c_uint = 0x10;

/// `CUDA_RESOURCE_DESC`. The longest members of its union share the same bytes here.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Described {
    kind: c_int,
    place: usize,
    format: c_int,
    channels: c_uint,
    width: usize,
    height: usize,
    pitch: usize,
    reserved: [u64; 11],
    flags: c_uint,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sampling {
    address_modes: [c_int; 3],
    filter_mode: c_int,
    flags: c_uint,
    anisotropy: c_uint,
    levels: [u32; 4],
    border: [f32; 4],
    reserved: [c_int; 12],
}

const _: () = assert!(size_of::<Described>() == 144 && size_of::<Sampling>() == 104);

impl Described {
    /// Converts to the runtime's description; the kinds of resources have the same numbers.
    fn resource(&self) -> Result<ResourceDesc, Error> {
        let memory = matches!(self.kind, ResourceDesc::LINEAR | ResourceDesc::PITCH_2D);
        let desc = if memory {
            channels(self.format, self.channels)?
        } else {
            ChannelDesc { x: 0, y: 0, z: 0, w: 0, kind: 0 }
        };
        let Described { place, width, height, pitch, .. } = *self;
        let resource = Resource { place, desc, width, height, pitch, reserved: [0; 9] };
        Ok(ResourceDesc { kind: self.kind, resource, flags: self.flags })
    }

    fn from_resource(from: &ResourceDesc) -> Described {
        let Resource { place, desc, width, height, pitch, .. } = from.resource;
        let (format, channels) = Format::from_desc(&desc).map(format_of).unwrap_or_default();
        Described {
            kind: from.kind,
            place,
            format,
            channels,
            width,
            height,
            pitch,
            reserved: [0; 11],
            flags: from.flags,
        }
    }
}

impl Sampling {
    /// Converts to the runtime's description.
    pub(super) fn description(&self) -> TextureDesc {
        let flag = |flag: c_uint| c_int::from(self.flags & flag != 0);
        let mut levels = [0; 7];
        levels[0] = self.anisotropy;
        levels[1..5].copy_from_slice(&self.levels);
        TextureDesc {
            address_modes: self.address_modes,
            filter_mode: self.filter_mode,
            // Unlike the runtime, the driver reads small integers as floats unless integers are requested.
            read_mode: 1 - flag(AS_INTEGERS),
            srgb: flag(SRGB),
            border: self.border,
            normalised: flag(NORMALISED),
            levels,
        }
    }

    /// Returns the flags.
    pub(super) fn flags(&self) -> c_uint {
        self.flags
    }

    /// Returns the same description with other flags.
    pub(super) fn with_flags(self, flags: c_uint) -> Sampling {
        Sampling { flags, ..self }
    }

    /// Converts from the runtime's description.
    pub(super) fn from_texture(from: &TextureDesc) -> Sampling {
        let flag = |on: bool, flag: c_uint| if on { flag } else { 0 };
        let flags = flag(from.read_mode == 0, AS_INTEGERS)
            | flag(from.normalised != 0, NORMALISED)
            | flag(from.srgb != 0, SRGB);
        let mut levels = [0; 4];
        levels.copy_from_slice(&from.levels[1..5]);
        Sampling {
            address_modes: from.address_modes,
            filter_mode: from.filter_mode,
            flags,
            anisotropy: from.levels[0],
            levels,
            border: from.border,
            reserved: [0; 12],
        }
    }
}

driver_api! {
    /// Creates a texture object. Views that change the format or leave out parts are not supported.
    fn cuTexObjectCreate(
        object: *mut c_ulonglong,
        resource: *const Described,
        sampling: *const Sampling,
        view: *const ViewDesc,
    ) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let (resource, sampling, view) = unsafe { (resource.as_ref(), sampling.as_ref(), view.as_ref()) };
        let (Some(resource), Some(sampling)) = (resource, sampling) else { return Err(error::INVALID_VALUE) };
        let (resource, mut description) = (resource.resource()?, sampling.description());
        if description.read_mode == 1 && !textures::can_read_as_floats(runtime, &resource)? {
            // The device reads 32-bit integers as integers regardless of the requested read mode.
            description.read_mode = 0;
        }
        let handle = textures::create(runtime, &resource, &description, view)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(object, handle) }
    }

    /// Destroys a texture object.
    fn cuTexObjectDestroy(object: c_ulonglong) needs Context |runtime, entry| {
        let _ = entry;
        runtime.memory.images.remove_texture(object)
    }

    /// Returns the resource that a texture object reads.
    fn cuTexObjectGetResourceDesc(resource: *mut Described, object: c_ulonglong) needs Context |runtime, entry| {
        let _ = entry;
        let value = Described::from_resource(&runtime.memory.images.texture(object)?.resource);
        // SAFETY: by the contract of the API function.
        unsafe { put(resource, value) }
    }

    /// Returns how a texture object reads its resource.
    fn cuTexObjectGetTextureDesc(sampling: *mut Sampling, object: c_ulonglong) needs Context |runtime, entry| {
        let _ = entry;
        let value = Sampling::from_texture(&runtime.memory.images.texture(object)?.description);
        // SAFETY: by the contract of the API function.
        unsafe { put(sampling, value) }
    }

    /// Creates a surface object for an array that was allocated with surface loads and stores.
    fn cuSurfObjectCreate(object: *mut c_ulonglong, resource: *const Described) needs Context |runtime, entry| {
        let _ = entry;
        // SAFETY: the pointer is null or valid by the contract.
        let resource = unsafe { resource.as_ref() }.ok_or(error::INVALID_VALUE)?.resource()?;
        let handle = textures::create_surface(runtime, &resource)?;
        // SAFETY: by the contract of the API function.
        unsafe { put(object, handle) }
    }

    /// Destroys a surface object.
    fn cuSurfObjectDestroy(object: c_ulonglong) needs Context |runtime, entry| {
        let _ = entry;
        runtime.memory.images.remove_surface(object)
    }

    /// Returns the resource that a surface object reads and writes.
    fn cuSurfObjectGetResourceDesc(resource: *mut Described, object: c_ulonglong) needs Context |runtime, entry| {
        let _ = entry;
        let value = Described::from_resource(&runtime.memory.images.surface(object)?.resource);
        // SAFETY: by the contract of the API function.
        unsafe { put(resource, value) }
    }
}
