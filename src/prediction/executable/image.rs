//! Finds the modules of an executable in the descriptors that the runtime reads when the program runs.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::path::Path;

use object::{Object as _, ObjectSection as _, RelocationTarget};
use warpline_format::abi::{ABI_VERSION, KernelDescriptor, MODULE_MAGIC, ModuleDescriptor};
use warpline_format::occupancy::Resources;
use warpline_format::site_table::SiteTable;

use super::ExecutableError;

/// Maximum number of kernels of a module. The limit protects against damaged files.
const MOST_KERNELS: u64 = 1 << 16;
/// Maximum number of architectures of a kernel.
const MOST_RESOURCES: u64 = 64;
/// Bytes of an entry of [`Resources`] in the file: three numbers.
const RESOURCE_BYTES: u64 = 12;

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Meanings of the module's numbers.
    pub table: SiteTable,
    /// Its kernels.
    pub kernels: Vec<BuiltKernel>,
    /// Encoded [`warpline_format::device_code::CarriedCode`]; may be empty.
    pub carried: Vec<u8>,
}

/// A kernel as it was built.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltKernel {
    /// Index into the table's functions.
    pub function: u32,
    /// Mangled name.
    pub mangled: String,
    /// Bytes of static shared memory.
    pub shared_bytes: u32,
    /// Resources that ptxas reported.
    pub resources: Vec<Resources>,
}

/// Returns all modules of an executable.
///
/// # Errors
/// [`ExecutableError`].
pub fn modules(path: &Path) -> Result<Vec<Module>, ExecutableError> {
    let data = std::fs::read(path).map_err(|source| ExecutableError::Unreadable { path: path.into(), source })?;
    let damaged = |reason: String| ExecutableError::Damaged { path: path.into(), reason };
    let file = object::File::parse(&data[..]).map_err(|error| damaged(error.to_string()))?;
    let image = Image::new(&file);
    let mut found = Vec::new();
    for (address, bytes) in &image.parts {
        for at in (0..bytes.len()).step_by(8) {
            if bytes.get(at..at + 8) == Some(&MODULE_MAGIC.to_le_bytes()[..])
                && image.number::<4>(address + at as u64 + offset_of!(ModuleDescriptor, version) as u64)
                    == Some(u64::from(ABI_VERSION))
            {
                let module = image.module(address + at as u64);
                found.extend(module.map_err(|reason| damaged(reason.to_string()))?);
            }
        }
    }
    if found.is_empty() { Err(ExecutableError::NoModules { path: path.into() }) } else { Ok(found) }
}

/// Contents of the program's address space after loading, as far as the file determines them.
struct Image<'a> {
    parts: Vec<(u64, &'a [u8])>,
    /// Pointers that the loader writes, by address relative to the program's start.
    pointers: BTreeMap<u64, u64>,
}

impl<'a> Image<'a> {
    fn new(file: &object::File<'a>) -> Image<'a> {
        let part = |section: object::Section<'a, '_>| Some((section.address(), section.data().ok()?));
        let parts = file.sections().filter_map(part).filter(|(address, bytes)| *address != 0 && !bytes.is_empty());
        let pointers = file
            .dynamic_relocations()
            .into_iter()
            .flatten()
            .filter(|(_, relocation)| matches!(relocation.target(), RelocationTarget::Absolute));
        Image {
            parts: parts.collect(),
            pointers: pointers.map(|(at, relocation)| (at, relocation.addend() as u64)).collect(),
        }
    }

    fn bytes(&self, address: u64, count: u64) -> Option<&'a [u8]> {
        self.parts.iter().find_map(|(start, bytes)| {
            let from = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(from..from.checked_add(usize::try_from(count).ok()?)?)
        })
    }

    fn number<const BYTES: usize>(&self, address: u64) -> Option<u64> {
        let bytes = self.bytes(address, BYTES as u64)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Returns the zero-terminated text at an address.
    fn text(&self, address: u64) -> Option<String> {
        let from = |(start, bytes): &(u64, &'a [u8])| bytes.get(usize::try_from(address.checked_sub(*start)?).ok()?..);
        let text = self.parts.iter().find_map(from)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn pointer(&self, address: u64) -> Option<u64> {
        self.pointers.get(&address).copied().or_else(|| self.number::<8>(address))
    }

    /// Returns the module of a descriptor; `None` if it has no hooks.
    fn module(&self, at: u64) -> Result<Option<Module>, &'static str> {
        const SHORT: &str = "a module's descriptor refers to an address outside the file";
        let number = |offset: usize| self.number::<8>(at + offset as u64).ok_or(SHORT);
        let pointer = |offset: usize| self.pointer(at + offset as u64).ok_or(SHORT);
        let length = number(offset_of!(ModuleDescriptor, site_table_bytes))?;
        if length == 0 {
            return Ok(None);
        }
        let bytes = self.bytes(pointer(offset_of!(ModuleDescriptor, site_table))?, length).ok_or(SHORT)?;
        let table = SiteTable::from_bytes(bytes).map_err(|_| "a site table is damaged, or of another release")?;
        let kernels = pointer(offset_of!(ModuleDescriptor, kernels))?;
        let count = number(offset_of!(ModuleDescriptor, kernel_count))?.min(MOST_KERNELS);
        let mut found = Vec::new();
        for number in 0..count {
            let kernel = kernels.wrapping_add(number * size_of::<KernelDescriptor>() as u64);
            let word = |offset: usize| self.number::<4>(kernel.wrapping_add(offset as u64)).ok_or(SHORT);
            let function = word(offset_of!(KernelDescriptor, function))? as u32;
            if function as usize >= table.functions.len() {
                return Err("a kernel has no function");
            }
            let list =
                self.pointer(kernel.wrapping_add(offset_of!(KernelDescriptor, resources) as u64)).ok_or(SHORT)?;
            let many = self.number::<8>(kernel.wrapping_add(offset_of!(KernelDescriptor, resource_count) as u64));
            let mut resources = Vec::new();
            for one in 0..many.ok_or(SHORT)?.min(MOST_RESOURCES) {
                let word = |index: u64| {
                    self.number::<4>(list.wrapping_add(one * RESOURCE_BYTES + 4 * index)).map(|word| word as u32)
                };
                let [architecture, registers, spill_bytes] = [word(0), word(1), word(2)].map(|word| word.ok_or(SHORT));
                resources.push(Resources {
                    architecture: architecture?,
                    registers: registers?,
                    spill_bytes: spill_bytes?,
                });
            }
            let shared_bytes = word(offset_of!(KernelDescriptor, static_shared))? as u32;
            let mangled = self.pointer(kernel.wrapping_add(offset_of!(KernelDescriptor, name) as u64));
            let mangled = mangled.and_then(|address| self.text(address)).ok_or(SHORT)?;
            found.push(BuiltKernel { function, mangled, shared_bytes, resources });
        }
        let carried = match number(offset_of!(ModuleDescriptor, carried_bytes))? {
            0 => &[],
            bytes => self.bytes(pointer(offset_of!(ModuleDescriptor, carried))?, bytes).ok_or(SHORT)?,
        };
        Ok(Some(Module { table, kernels: found, carried: carried.to_vec() }))
    }
}
