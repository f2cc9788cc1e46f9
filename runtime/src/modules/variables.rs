//! Variables of modules: their descriptions in the trace, and their initial content.

use crate::memory::Description;
use crate::modules::module::{Module, name};
use warpline_format::abi::GlobalDescriptor;
use warpline_format::event::AllocationKind;
use warpline_format::site_table::GlobalKind;

/// Returns the trace's description of a module's variable.
pub fn variable_of(module: &Module, index: usize, global: &GlobalDescriptor) -> Description {
    let kind = match global.kind {
        0 => AllocationKind::DeviceGlobal,
        1 => AllocationKind::Constant,
        2 => AllocationKind::ManagedGlobal,
        _ => AllocationKind::Compiler,
    };
    let entry = module.table.globals.get(index);
    let label = entry.filter(|global| global.kind != GlobalKind::Compiler || !global.name.is_empty());
    let name = Some(label.map_or_else(|| name(global.name), |global| global.name.clone()));
    Description { kind, name, path: 0 }
}

/// Writes the initial content of a module's globals.
pub fn fill_globals(module: &Module) {
    for (global, &address) in module.variables().iter().zip(&module.globals) {
        if address == 0 {
            continue;
        }
        let bytes = global.size as usize;
        // SAFETY: the image belongs to the module; the allocation has the image's size.
        unsafe {
            if global.image.is_null() {
                std::ptr::write_bytes(address as *mut u8, 0, bytes);
            } else {
                std::ptr::copy_nonoverlapping(global.image, address as *mut u8, bytes);
            }
        }
        if global.relocations.is_null() {
            continue;
        }
        // SAFETY: the array belongs to the module.
        let relocations = unsafe { std::slice::from_raw_parts(global.relocations, global.relocation_count as usize) };
        for relocation in relocations {
            let target = module.globals.get(relocation.target as usize).copied().unwrap_or(0);
            if relocation.offset + 8 <= global.size {
                // SAFETY: the address is within the allocation that was just made.
                unsafe {
                    let pointer = (address + relocation.offset) as *mut u64;
                    pointer.write_unaligned(target.wrapping_add_signed(relocation.addend));
                }
            }
        }
    }
}
