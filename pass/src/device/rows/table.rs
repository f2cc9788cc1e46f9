//! Builds the site table: interned files and frames, and the functions.

use super::operand;
use crate::device::options::HookOptions;
use crate::ir::kernel::is_kernel;
use crate::ir::thread_steps;
use crate::llvm::Value;
use crate::llvm::debug::{Location, Scope};
use crate::llvm::shim::demangle;
use std::collections::HashMap;
use warpline_format::site_table::{File, FileId, Frame, FrameId, Function, Operand, SiteTable, Step};
use warpline_format::values::Element;

/// The table under construction.
pub(in crate::device) struct Table<'o> {
    pub(in crate::device) table: SiteTable,
    options: &'o HookOptions,
    files: HashMap<String, FileId>,
    frames: HashMap<Frame, FrameId>,
    /// The names of functions. Demangling is slow, and a function's name is requested at each of its sites.
    names: HashMap<usize, String>,
    /// The positions of the names of operands.
    interned: HashMap<String, u32>,
}

/// Returns whether a function with this name belongs to libdevice or was created by the compiler to call it.
pub(in crate::device) fn is_library_name(name: &str) -> bool {
    ["__nv_", "__internal_", "__nvvm_", "__libdevice", "__warpline_"].iter().any(|prefix| name.starts_with(prefix))
}

impl<'o> Table<'o> {
    pub(in crate::device) fn new(options: &'o HookOptions) -> Self {
        Table {
            table: SiteTable::default(),
            options,
            files: HashMap::new(),
            frames: HashMap::new(),
            names: HashMap::new(),
            interned: HashMap::new(),
        }
    }

    /// Continues a table that was created before.
    pub(in crate::device) fn resume(table: SiteTable, options: &'o HookOptions) -> Self {
        let numbers = |count: usize| 0..count as u32;
        let files = table.files.iter().map(|file| file.path.clone()).zip(numbers(table.files.len())).collect();
        let frames = table.frames.iter().cloned().zip(numbers(table.frames.len())).collect();
        let interned = table.names.iter().cloned().zip(numbers(table.names.len())).collect();
        Table { table, options, files, frames, names: HashMap::new(), interned }
    }

    /// Stores the element that the next site moves.
    pub(in crate::device) fn element(&mut self, element: Element) {
        self.table.elements.resize(self.table.sites.len(), Element::default());
        self.table.elements.push(element);
    }

    pub(in crate::device) fn file(&mut self, path: &str) -> FileId {
        if let Some(&id) = self.files.get(path) {
            return id;
        }
        let system = self.options.system_folders.iter().any(|folder| lies_in(path, folder));
        let id = self.table.files.len() as FileId;
        self.table.files.push(File { path: path.into(), system });
        // A continued table has a digest for each file.
        if !self.table.digests.is_empty() {
            self.table.digests.push(None);
        }
        self.files.insert(path.into(), id);
        id
    }

    pub(in crate::device) fn frame(&mut self, frame: Frame) -> FrameId {
        if let Some(&id) = self.frames.get(&frame) {
            return id;
        }
        let id = self.table.frames.len() as FrameId;
        self.table.frames.push(frame.clone());
        self.frames.insert(frame, id);
        id
    }

    /// Returns the frames of a location, innermost first.
    pub(in crate::device) fn chain(&mut self, location: Location<'_>) -> Vec<FrameId> {
        location.chain().into_iter().map(|place| self.place(place)).collect()
    }

    fn place(&mut self, location: Location<'_>) -> FrameId {
        let (function, path) = match location.scope() {
            Some(scope) => (self.function_name(scope), scope.path().unwrap_or_default()),
            None => Default::default(),
        };
        let file = self.file(&path);
        self.frame(Frame { function, file, line: location.line(), column: location.column() })
    }

    fn function_name(&mut self, scope: Scope<'_>) -> String {
        let Some(subprogram) = scope.subprogram() else { return String::new() };
        self.names.entry(subprogram.raw() as usize).or_insert_with(|| subprogram.demangled_name()).clone()
    }

    /// Returns the position of a function's definition; line 0 if it has no debug information.
    pub(in crate::device) fn definition(&mut self, function: Value<'_>) -> FrameId {
        match Scope::of_function(function) {
            Some(scope) => {
                let name = self.function_name(scope);
                let file = self.file(&scope.path().unwrap_or_default());
                self.frame(Frame { function: name, file, line: scope.line(), column: 0 })
            }
            None => {
                let file = self.file("");
                self.frame(Frame { function: demangle(&function.name()), file, line: 0, column: 0 })
            }
        }
    }

    /// Adds the operand of a site, unless nothing is known about it.
    pub(in crate::device) fn operand(&mut self, site: u32, found: operand::Operand<'_>) {
        let operand::Operand { variable, member, structure, form } = found;
        let mut name = |text: String| (!text.is_empty()).then(|| self.name(text));
        let (variable, member) = (variable.and_then(&mut name), member.and_then(&mut name));
        let structure_bytes = structure.as_ref().map_or(0, |(_, bytes)| u32::try_from(*bytes).unwrap_or(0));
        let structure = structure.and_then(|(text, _)| name(text));
        let steps = form.steps.map(|step| match step {
            thread_steps::Step::None => Step::None,
            thread_steps::Step::Bytes(bytes) => Step::Bytes(bytes),
            thread_steps::Step::Times(factor, further) => {
                Step::Times(operand::product_name(factor, further).and_then(&mut name))
            }
            thread_steps::Step::Other => Step::Other,
        });
        let entry = Operand { site, variable, member, structure, structure_bytes, steps, loaded: form.loaded };
        if entry != (Operand { site, ..Operand::default() }) {
            self.table.operands.push(entry);
        }
    }

    /// Returns the number of a name.
    pub(in crate::device) fn name(&mut self, text: String) -> u32 {
        if let Some(&id) = self.interned.get(&text) {
            return id;
        }
        let id = self.table.names.len() as u32;
        self.table.names.push(text.clone());
        self.interned.insert(text, id);
        id
    }

    /// Adds a function and returns its number.
    pub(in crate::device) fn function(&mut self, function: Value<'_>) -> u32 {
        let mangled = function.name();
        let entry = Function {
            name: demangle(&mangled),
            frame: self.definition(function),
            kernel: is_kernel(function),
            in_library: is_library_name(&mangled),
            mangled,
        };
        self.table.functions.push(entry);
        (self.table.functions.len() - 1) as u32
    }
}

/// Returns whether a path is in a folder, compared by complete components.
pub(in crate::device) fn lies_in(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    !folder.is_empty() && path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::lies_in;

    #[test]
    fn folders_match_by_component() {
        assert!(lies_in("/usr/include/math.h", "/usr/include"));
        assert!(lies_in("/usr/include/math.h", "/usr/include/"));
        assert!(!lies_in("/usr/include2/math.h", "/usr/include"));
        assert!(!lies_in("/a/b.cu", ""));
    }
}
