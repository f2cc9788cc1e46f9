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
    /// Its texels.
    pub image: Image,
    /// Width, height and depth as the program gave them; 0 where there is no such dimension.
    pub extent: [usize; 3],
    /// Flags as the program gave them.
    pub flags: u32,
}

/// A texture object.
#[derive(Debug)]
pub struct Texture {
    /// What it reads.
    pub image: Image,
    /// How.
    pub sampler: Sampler,
    /// As the program gave it.
    pub resource: ResourceDesc,
    /// As the program gave it.
    pub description: TextureDesc,
    /// The registry's epoch when the memory was last seen to be alive.
    alive: u64,
}

/// A surface object.
#[derive(Debug)]
pub struct Surface {
    /// What it reads and writes.
    pub image: Image,
    /// As the program gave it.
    pub resource: ResourceDesc,
    alive: u64,
}

/// Why a fetch cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// No object has the handle.
    Handle,
    /// The memory was freed.
    Freed(u64),
}

/// Surfaces have numbers of their own, to distinguish them from textures.
const SURFACES: u64 = 1 << 32;
/// Handles of arrays look like pointers, which programs test for null and print.
const ARRAYS: u64 = 0x5780_0000_0000;

/// All of the process. Handles are not used twice: a stale one is reported.
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
    /// Enters an array.
    pub fn add_array(&mut self, array: Array) -> u64 {
        self.made += 1;
        let handle = ARRAYS + self.made * 64;
        self.arrays.insert(handle, array);
        handle
    }

    /// Returns the array behind a handle.
    pub fn array(&self, handle: u64) -> Result<Array, Error> {
        self.arrays.get(&handle).copied().ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Takes an array away.
    pub fn remove_array(&mut self, handle: u64) -> Result<Array, Error> {
        self.arrays.remove(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Enters a texture object.
    pub fn add_texture(&mut self, image: Image, sampler: Sampler, from: (ResourceDesc, TextureDesc)) -> u64 {
        let (resource, description) = from;
        self.textures.push(Some(Box::new(Texture { image, sampler, resource, description, alive: u64::MAX })));
        self.textures.len() as u64
    }

    /// Returns the texture object behind a handle.
    pub fn texture(&self, handle: u64) -> Result<&Texture, Error> {
        let index = usize::try_from(handle).ok().and_then(|handle| handle.checked_sub(1));
        index.and_then(|index| self.textures.get(index)?.as_deref()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Takes a texture object away.
    pub fn remove_texture(&mut self, handle: u64) -> Result<(), Error> {
        slot(&mut self.textures, handle, 0).and_then(Option::take).map(|_| ()).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Enters a surface object.
    pub fn add_surface(&mut self, image: Image, resource: ResourceDesc) -> u64 {
        self.surfaces.push(Some(Box::new(Surface { image, resource, alive: u64::MAX })));
        SURFACES + self.surfaces.len() as u64
    }

    /// Returns the surface object behind a handle.
    pub fn surface(&mut self, handle: u64) -> Result<&Surface, Error> {
        slot(&mut self.surfaces, handle, SURFACES)
            .and_then(|slot| slot.as_deref())
            .ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Takes a surface object away.
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

/// Looks whether an image's memory is allocated, anew when an allocation has ended since.
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
