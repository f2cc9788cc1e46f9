//! Device code that arrives while the program runs: images of modules, and the kernels in them.
//!
//! An image has one of four forms: a shared object that `warpline-cc --warpline-module` produced; LLVM IR, from which
//! the runtime produces such an object; PTX from NVRTC, which names such an object; or PTX that `warpline-cc -ptx`
//! wrote, which contains one.

mod compile;
pub(crate) mod entered;
pub(crate) mod followed;
mod hooks;
pub(crate) mod image;
mod object;
mod registers;

use crate::cuda::error::{self, Error};
use crate::modules::loaded::{Handle, Loaded};
use crate::modules::module::Member;
use crate::modules::module::name;
use crate::output::message;
use crate::state::runtime::{Kernel, Runtime};
use image::Image;
use std::ffi::c_char;
use std::path::Path;
use warpline_format::abi::ModuleDescriptor;

impl Runtime {
    /// Loads an image. If `shown` is given, it becomes the name of the image's only kernel in all output for the user.
    ///
    /// # Safety
    /// `data` points to an image that `cuModuleLoadData` accepts: a complete ELF file, or text that ends with
    /// a zero.
    pub unsafe fn load_image(&mut self, data: *const u8, shown: Option<&str>) -> Result<Handle, Error> {
        // SAFETY: by the contract.
        let image = unsafe { Image::at(data) }?;
        self.load(image, shown)
    }

    fn load(&mut self, image: Image<'_>, shown: Option<&str>) -> Result<Handle, Error> {
        let descriptor = match image {
            Image::Object(bytes) => object::load_bytes(bytes).map_err(refused)?,
            Image::Carried(bytes) => object::load_bytes(&bytes).map_err(refused)?,
            Image::Compiled(path) => object::load_file(&path).map_err(refused)?,
            Image::Ir(text) => object::load_file(&compile::shared_object(text)?).map_err(refused)?,
        };
        self.enter(descriptor, shown)
    }

    /// Loads the image in a file.
    pub fn load_file(&mut self, path: &Path) -> Result<Handle, Error> {
        let mut bytes = std::fs::read(path).map_err(|_| error::FILE_NOT_FOUND)?;
        bytes.push(0);
        self.load(Image::in_file(&bytes)?, None)
    }

    fn enter(&mut self, descriptor: *const ModuleDescriptor, shown: Option<&str>) -> Result<Handle, Error> {
        // SAFETY: the descriptor belongs to an object that was just loaded and stays loaded.
        let module = unsafe { crate::loading::entered::enter(self, descriptor.cast(), shown) };
        let module = module.ok_or(error::INVALID_KERNEL_IMAGE)?;
        for (index, kernel) in self.modules[module].kernels().iter().enumerate() {
            self.kernels.insert(std::ptr::from_ref(kernel) as usize, Kernel::Lowered(Member { module, index }));
        }
        let handle = descriptor as usize;
        self.loaded.insert(handle, Loaded { module });
        Ok(handle)
    }

    /// Removes a loaded module's kernels; its variables keep their addresses until the device is reset.
    pub fn unload(&mut self, handle: Handle) -> Result<(), Error> {
        let Loaded { module } = self.loaded.remove(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)?;
        for object in self.memory.texture_references.remove_module(handle) {
            self.memory.images.remove_texture(object)?;
        }
        self.kernels.retain(|_, kernel| !matches!(kernel, Kernel::Lowered(member) if member.module == module));
        Ok(())
    }

    /// Returns the handle of a kernel of a loaded module, by its mangled name. The handle is the address of the
    /// kernel's descriptor.
    ///
    /// # Safety
    /// `wanted` is null or a string.
    pub unsafe fn loaded_kernel(&self, handle: Handle, wanted: *const c_char) -> Result<usize, Error> {
        let wanted = name(wanted);
        let module = &self.modules[self.loaded.get(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)?.module];
        let found = module.kernels().iter().find(|kernel| name(kernel.name) == wanted);
        found.map(|kernel| std::ptr::from_ref(kernel) as usize).ok_or(error::SYMBOL_NOT_FOUND)
    }

    /// Returns the address and the size of a variable of a loaded module.
    ///
    /// # Safety
    /// `wanted` is null or a string.
    pub unsafe fn loaded_variable(&self, handle: Handle, wanted: *const c_char) -> Result<(u64, u64), Error> {
        let wanted = name(wanted);
        let module = &self.modules[self.loaded.get(&handle).ok_or(error::INVALID_RESOURCE_HANDLE)?.module];
        let variables = module.variables().iter().zip(&module.globals);
        let found = variables.into_iter().find(|(variable, _)| name(variable.name) == wanted);
        found.map(|(variable, &address)| (address, variable.size)).ok_or(error::SYMBOL_NOT_FOUND)
    }
}

fn refused(cause: object::LoadError) -> Error {
    message::note(&cause.to_string());
    error::INVALID_KERNEL_IMAGE
}
