//! Arrays, texture objects and surface objects by their handles.

use crate::cuda::error::{self, Error};
use crate::cuda::types::{ResourceDesc, TextureDesc};
use crate::memory::registry::Registry;
use crate::texture::image::Image;
use crate::texture::sample::Sampler;
use std::collections::BTreeMap;

/// A `cudaArray`.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// The array's texels.
    pub image: Image,
    /// The width, height and depth that the program passed; 0 for a dimension that does not exist.
    pub extent: [usize; 3],
    /// The flags that the program passed.
    pub flags: u32,
}

/// A texture object.
#[derive(Debug)]
pub struct Texture {
    /// The image that the texture reads.
    pub image: Image,
    /// The sampler with which the texture reads.
    pub sampler: Sampler,
    /// The resource description that the program passed.
    pub resource: ResourceDesc,
    /// The texture description that the program passed.
    pub description: TextureDesc,
    /// The registry's epoch when the memory was last found to be alive.
    alive: u64,
}

/// A surface object.
#[derive(Debug)]
pub struct Surface {
    /// The image that the surface reads and writes.
    pub image: Image,
    /// The resource description that the program passed.
    pub resource: ResourceDesc,
    alive: u64,
}

/// The reason why a fetch cannot be performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// No object has this handle.
    Handle,
    /// The memory was freed.
    Freed(u64),
}

/// Handles of surfaces start at this number, to distinguish them from textures.
const SURFACES: u64 = 1 << 32;
/// Handles of arrays start at this number. They have the form of pointers, because programs test them for null and
/// print them.
const ARRAYS: u64 = 0x5780_0000_0000;

/// All arrays, textures and surfaces of the process. Handles are not reused, so that a stale handle is reported.
#[derive(Debug, Default)]
pub struct Images {
    arrays: BTreeMap<u64, Array>,
    made: u64,
    textures: Vec<Option<Box<Texture>>>,
    surfaces: Vec<Option<Box<Surface>>>,
}

fn slot<T>(list: &mut [Option<Box<T>>], handle: u64, first: u64) -> Option<&mut Option<Box<T>>> {
    list.get_mut(usize::try_from(handle.checked_sub(first + 1)?).ok()?)
}

impl Images {
    /// Adds an array and returns its handle.
    pub fn add_array(&mut self, array: Array) -> u64 {
        self.made += 1;
        let handle = ARRAYS + self.made * 64;
        self.arrays.insert(handle, array);
        handle
    }

    /// Returns the array with a handle.
    pub fn array(&self, handle: u64) -> Result<Array, Error> {
        self.arrays.get(&handle).copied().ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Removes an array.
    pub fn remove_array(&mut self, handle: u64) -> Result<Array, Error> {
        self.arrays.remove(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Adds a texture object and returns its handle.
    pub fn add_texture(&mut self, image: Image, sampler: Sampler, from: (ResourceDesc, TextureDesc)) -> u64 {
        let (resource, description) = from;
        self.textures.push(Some(Box::new(Texture { image, sampler, resource, description, alive: u64::MAX })));
        self.textures.len() as u64
    }

    /// Returns the texture object with a handle.
    pub fn texture(&self, handle: u64) -> Result<&Texture, Error> {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        index.and_then(|index| self.textures.get(index)?.as_deref()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Removes a texture object.
    pub fn remove_texture(&mut self, handle: u64) -> Result<(), Error> {
        slot(&mut self.textures, handle, 0).and_then(Option::take).map(|_| ()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Adds a surface object and returns its handle.
    pub fn add_surface(&mut self, image: Image, resource: ResourceDesc) -> u64 {
        self.surfaces.push(Some(Box::new(Surface { image, resource, alive: u64::MAX })));
        SURFACES + self.surfaces.len() as u64
    }

    /// Returns the surface object with a handle.
    pub fn surface(&mut self, handle: u64) -> Result<&Surface, Error> {
        slot(&mut self.surfaces, handle, SURFACES)
            .and_then(|slot| slot.as_deref())
            .ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Removes a surface object.
    pub fn remove_surface(&mut self, handle: u64) -> Result<(), Error> {
        let taken = slot(&mut self.surfaces, handle, SURFACES).and_then(Option::take);
        taken.map(|_| ()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Returns the texture object for a kernel's fetch.
    #[inline]
    pub fn fetched(&mut self, handle: u64, registry: &Registry) -> Result<(Image, Sampler), Unusable> {
        let texture = slot(&mut self.textures, handle, 0).and_then(Option::as_mut).ok_or(Unusable::Handle)?;
        live(&texture.image, &mut texture.alive, registry)?;
        Ok((texture.image, texture.sampler))
    }

    /// Returns the surface object for a kernel's access.
    #[inline]
    pub fn accessed(&mut self, handle: u64, registry: &Registry) -> Result<Image, Unusable> {
        let surface = slot(&mut self.surfaces, handle, SURFACES).and_then(Option::as_mut).ok_or(Unusable::Handle)?;
        live(&surface.image, &mut surface.alive, registry)?;
        Ok(surface.image)
    }
}

/// Checks whether an image's memory is allocated; the check is repeated only if an allocation has ended since the last
/// check.
fn live(image: &Image, seen: &mut u64, registry: &Registry) -> Result<(), Unusable> {
    if *seen == registry.epoch {
        return Ok(());
    }
    let found = registry.find(image.base);
    if found.is_none_or(|live| image.base - live.start() + image.bytes() > live.bytes) {
        return Err(Unusable::Freed(image.base));
    }
    *seen = registry.epoch;
    Ok(())
}
