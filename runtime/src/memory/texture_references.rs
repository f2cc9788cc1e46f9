//! Texture references of modules: what a variable of a kernel reads, and how. A texture object with the same settings
//! performs the reads, and the variable contains its handle.

use crate::cuda::error::{self, Error};
use crate::cuda::types::{ChannelDesc, ResourceDesc, TextureDesc};
use crate::modules::loaded::Handle;
use std::collections::BTreeMap;

/// A texture reference.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The module that contains the variable.
    pub module: Handle,
    /// The address of the variable.
    pub variable: u64,
    /// The resource to which the reference is bound.
    pub resource: Option<ResourceDesc>,
    /// The settings with which the reference reads.
    pub description: TextureDesc,
    /// The format of linear memory; an array has its own format.
    pub channels: ChannelDesc,
    /// The texture object that reads; 0 if the reference is not bound.
    pub object: u64,
}

/// The first handle. Handles have the form of pointers, because programs test them for null and print them.
const FIRST: u64 = 0x5781_0000_0000;

/// All references of the process, by their handles. A module's reference has one handle, however often it is requested.
#[derive(Debug, Default)]
pub struct References(BTreeMap<u64, Reference>);

impl References {
    /// Returns the handle of a module's reference.
    pub fn handle(&mut self, module: Handle, variable: u64) -> u64 {
        let known = self.0.iter().find(|(_, reference)| reference.variable == variable).map(|(&handle, _)| handle);
        known.unwrap_or_else(|| {
            let handle = self.0.last_key_value().map_or(FIRST, |(&last, _)| last) + 64;
            self.0.insert(handle, Reference::new(module, variable));
            handle
        })
    }

    /// Returns the reference with a handle.
    pub fn get(&mut self, handle: u64) -> Result<&mut Reference, Error> {
        self.0.get_mut(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)
    }

    /// Removes the references of a module, and returns their texture objects.
    pub fn remove_module(&mut self, module: Handle) -> Vec<u64> {
        let (gone, kept) = std::mem::take(&mut self.0).into_iter().partition(|(_, known)| known.module == module);
        self.0 = kept;
        let gone: BTreeMap<u64, Reference> = gone;
        gone.into_values().map(|reference| reference.object).filter(|&object| object != 0).collect()
    }
}

impl Reference {
    /// Creates a reference with the settings of a declaration in the source: single floats, nearest texel, clamped.
    fn new(module: Handle, variable: u64) -> Reference {
        let clamp = 1;
        let description = TextureDesc {
            address_modes: [clamp; 3],
            filter_mode: 0,
            read_mode: 1,
            srgb: 0,
            border: [0.0; 4],
            normalised: 0,
            levels: [0; 7],
        };
        let float = ChannelDesc { x: 32, y: 0, z: 0, w: 0, kind: 2 };
        Reference { module, variable, resource: None, description, channels: float, object: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_one_handle_until_its_module_goes() {
        let mut all = References::default();
        let (first, second) = (all.handle(1, 0x100), all.handle(2, 0x200));
        assert_ne!(first, second);
        assert_eq!(all.handle(1, 0x100), first);
        all.get(first).unwrap().object = 7;
        assert_eq!(all.remove_module(1), [7]);
        assert_eq!(all.get(first).unwrap_err(), error::INVALID_RESOURCE_HANDLE);
        assert_eq!(all.get(second).unwrap().variable, 0x200);
    }
}
