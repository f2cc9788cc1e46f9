//! Functions with hooks that a run generates for a module that was built without them. A shared object contains those
//! of one kernel. It uses the site ranges, the variables and the function addresses of the module that it completes.

use super::module::{Module, array, missing_features, name};
use std::ffi::{CStr, c_char};
use warpline_format::abi::{ABI_VERSION, KernelDescriptor, ModuleDescriptor, SiteRange, module_flags};

/// The reason why an object does not complete a module.
#[derive(Debug, thiserror::Error)]
pub enum CompletionError {
    /// The object has another purpose or version, or it does not contain the kernel.
    #[error("the generated code does not belong to the module; remove Warpline's cache folder and run again")]
    Foreign,
    /// The processor does not have features that the code needs.
    #[error("the generated code needs the processor features {0}, which this machine lacks")]
    Features(String),
}

impl Module {
    /// Returns whether a kernel has hooks whose functions must be generated before it runs with hooks.
    pub fn lacks_hooks(&self, kernel: usize) -> bool {
        self.is_hooked()
            && !self.carried().is_empty()
            && self.kernels().get(kernel).is_some_and(|kernel| kernel.hooked_general.is_none())
            && !self.completions.contains_key(&kernel)
    }

    /// Returns the descriptor with a kernel's functions with hooks: its own, or that of the object that completes it.
    pub fn hooked_kernel(&self, kernel: usize) -> &KernelDescriptor {
        // SAFETY: the descriptor belongs to an object that stays loaded.
        self.completions.get(&kernel).map_or_else(|| &self.kernels()[kernel], |completion| unsafe { &*completion.0 })
    }

    /// Adds a kernel's functions with hooks from the descriptor of a loaded object.
    ///
    /// # Safety
    /// `descriptor` comes from an object that `warpline-cc --warpline-hooks-of` generated from this module's code, and
    /// that stays loaded.
    pub unsafe fn complete(
        &mut self,
        kernel: usize,
        descriptor: *const ModuleDescriptor,
    ) -> Result<(), CompletionError> {
        // SAFETY: by the contract.
        let made = unsafe { &*descriptor };
        if made.version != ABI_VERSION || made.flags & module_flags::COMPLETES == 0 {
            return Err(CompletionError::Foreign);
        }
        let missing = features(made.features);
        if !missing.is_empty() {
            return Err(CompletionError::Features(missing));
        }
        let wanted = self.mangled(kernel);
        // SAFETY: the array belongs to the descriptor.
        let kernels: &[KernelDescriptor] = unsafe { array(made.kernels, made.kernel_count) };
        let found = kernels.iter().find(|one| one.hooked_general.is_some() && name(one.name) == wanted);
        let found = found.ok_or(CompletionError::Foreign)?;
        // SAFETY: by the contract.
        unsafe { self.connect(made) };
        self.completions.insert(kernel, Completion(found));
        Ok(())
    }

    /// Gives an object the addresses of the module's data.
    ///
    /// # Safety
    /// The requirements of [`Module::complete`] apply.
    unsafe fn connect(&self, made: &ModuleDescriptor) {
        let ours = self.descriptor();
        // SAFETY: the arrays belong to the descriptors; the slots belong to the object and are writable.
        unsafe {
            if !made.site_ranges.is_null() {
                made.site_ranges.cast::<*mut SiteRange>().write(ours.site_ranges);
            }
            for (global, &address) in array(made.globals, made.global_count).iter().zip(&self.globals) {
                if !global.slot.is_null() {
                    global.slot.write(address);
                }
            }
            let addresses = array(ours.functions, ours.function_count);
            for function in array(made.functions, made.function_count) {
                let wanted = name(function.name);
                let known = addresses.iter().find(|one| name(one.name) == wanted);
                if let Some(known) = known.filter(|_| !function.slot.is_null()) {
                    function.slot.write(known.address);
                }
            }
        }
    }
}

/// A kernel's descriptor in an object that completes a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion(*const KernelDescriptor);

// SAFETY: the descriptor is constant data of an object that stays loaded.
unsafe impl Send for Completion {}

/// Returns those of an object's features that this processor does not have.
fn features(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the pointer is a zero-terminated string of the object.
    missing_features(&unsafe { CStr::from_ptr(text) }.to_string_lossy())
}
