//! Registered device modules: kernels, variables, site ranges.

use crate::cuda::error::{Error, INVALID_RESOURCE_HANDLE, INVALID_VALUE};
use crate::modules::reported::ReportedFaults;
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::slice;
use warpline_format::abi::{
    ABI_VERSION, KernelDescriptor, MODULE_MAGIC, ModuleDescriptor, NOWHERE, SharedVariable, SiteRange, module_flags,
};
use warpline_format::carveout::CarveoutPreference;
use warpline_format::event::Event;
use warpline_format::occupancy::{Resources, nearest};
use warpline_format::options::Check;
use warpline_format::site_table::{Block, SiteTable};

/// A kernel or variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Index of the module.
    pub module: usize,
    /// Index in its descriptor's array.
    pub index: usize,
}

/// A module whose kernels can run.
#[derive(Debug)]
pub struct Module {
    /// What the pass made. Lives as long as the program, or until its object is unloaded.
    descriptor: *const ModuleDescriptor,
    /// Number in the trace.
    pub id: u32,
    /// What its numbers mean.
    pub table: SiteTable,
    /// Device addresses of its globals.
    pub globals: Vec<u64>,
    /// State of the registry that the site ranges belong to.
    epoch: u64,
    /// Some site ranges are those of the running launch's shared or local memory.
    pub passing: bool,
    /// Bad accesses that have been reported.
    pub reported: ReportedFaults,
    /// Limits that the program set per kernel, by kernel index: dynamic shared memory.
    pub dynamic_shared: Vec<u32>,
    /// Indexed by kernel: the division of L1 and shared memory that the program prefers.
    pub carveouts: Vec<CarveoutPreference>,
    /// The table is no longer the descriptor's own.
    renamed: bool,
}

/// What `__cudaRegisterFatBinary` was given.
#[derive(Debug)]
pub enum Registered {
    /// Lowered code, an index into the modules.
    Module(usize),
    /// A fat binary of code that was not rebuilt.
    Foreign,
}

/// Why a module cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// Made for another runtime.
    #[error(
        "a module was built by another release of Warpline (border version {0}, this one is {ABI_VERSION}): rebuild the program"
    )]
    Version(u32),
    /// The processor lacks what the code needs.
    #[error(
        "the device code needs the processor features {0}, which this machine lacks: rebuild it here, or with a lower -march"
    )]
    Features(String),
    /// Its site table cannot be read.
    #[error(transparent)]
    Table(#[from] warpline_format::site_table::SiteTableError),
}

impl Module {
    /// Reads the descriptor at `data`; `None` where it is not one of ours.
    ///
    /// # Safety
    /// `data` points to the data of a fat binary wrapper; if it starts with [`MODULE_MAGIC`], it is a
    /// descriptor that stays valid while the module is registered.
    pub unsafe fn read(data: *const u8, id: u32) -> Option<Result<Module, ModuleError>> {
        // SAFETY: every fat binary has at least eight bytes.
        if data.is_null() || unsafe { data.cast::<u64>().read_unaligned() } != MODULE_MAGIC {
            return None;
        }
        let descriptor: *const ModuleDescriptor = data.cast();
        // SAFETY: by the contract.
        Some(unsafe { Module::from_descriptor(descriptor, id) })
    }

    /// # Safety
    /// The requirements of [`Module::read`] apply.
    unsafe fn from_descriptor(descriptor: *const ModuleDescriptor, id: u32) -> Result<Module, ModuleError> {
        // SAFETY: by the contract; the version is the second field in every version.
        let ours = unsafe { &*descriptor };
        if ours.version != ABI_VERSION {
            return Err(ModuleError::Version(ours.version));
        }
        if !ours.features.is_null() {
            // SAFETY: a zero-terminated string of the module.
            let features = unsafe { CStr::from_ptr(ours.features) }.to_string_lossy();
            let missing = missing_features(&features);
            if !missing.is_empty() {
                return Err(ModuleError::Features(missing));
            }
        }
        let table = if ours.site_table.is_null() {
            SiteTable::default()
        } else {
            // SAFETY: the module's own bytes.
            SiteTable::from_bytes(unsafe { slice::from_raw_parts(ours.site_table, ours.site_table_bytes as usize) })?
        };
        let mut module = Module {
            descriptor,
            id,
            table,
            globals: Vec::new(),
            epoch: u64::MAX,
            passing: false,
            reported: ReportedFaults::default(),
            dynamic_shared: vec![0; ours.kernel_count as usize],
            carveouts: vec![CarveoutPreference::Default; ours.kernel_count as usize],
            renamed: false,
        };
        module.clear_ranges();
        Ok(module)
    }

    /// Returns the descriptor.
    pub fn descriptor(&self) -> &ModuleDescriptor {
        // SAFETY: valid while the module is registered.
        unsafe { &*self.descriptor }
    }

    /// Returns the site table's bytes.
    pub fn table_bytes(&self) -> &[u8] {
        // SAFETY: the module's own bytes.
        unsafe { array(self.descriptor().site_table, self.descriptor().site_table_bytes) }
    }

    /// Returns the code that it can be lowered again from; empty where there is none.
    pub fn carried(&self) -> &[u8] {
        // SAFETY: the module's own bytes.
        unsafe { array(self.descriptor().carried, self.descriptor().carried_bytes) }
    }

    /// Returns the site table's bytes as the trace has them.
    pub fn encoded_table(&self) -> Vec<u8> {
        if self.renamed { self.table.to_bytes() } else { self.table_bytes().to_vec() }
    }

    /// Gives the module's kernel another name for the user; a module of several keeps theirs.
    pub fn show_as(&mut self, name: &str) {
        let [kernel] = self.kernels() else { return };
        let function = kernel.function as usize;
        if let Some(function) = self.table.functions.get_mut(function) {
            function.name = name.to_owned();
            self.renamed = true;
        }
    }

    /// Kernels.
    pub fn kernels(&self) -> &[KernelDescriptor] {
        // SAFETY: the module's own array.
        unsafe { array(self.descriptor().kernels, self.descriptor().kernel_count) }
    }

    /// Returns events with ptxas's figures of the kernels, if there are any.
    pub fn assembly(&self, capability: (u32, u32)) -> impl Iterator<Item = Event> {
        self.spills(capability).into_iter().chain(self.assembled())
    }

    /// Spills on a device.
    fn spills(&self, capability: (u32, u32)) -> Option<Event> {
        let each =
            |kernel: &KernelDescriptor| Some((kernel.function, nearest(resources(kernel), capability)?.spill_bytes));
        let kernels: Vec<(u32, u32)> =
            self.kernels().iter().filter_map(each).filter(|(_, bytes)| *bytes != 0).collect();
        (!kernels.is_empty()).then_some(Event::Spills { module: self.id, kernels })
    }

    /// Registers on all architectures.
    fn assembled(&self) -> Option<Event> {
        let known = self.kernels().iter().map(|kernel| (kernel.function, resources(kernel).to_vec()));
        let kernels: Vec<_> = known.filter(|(_, resources)| !resources.is_empty()).collect();
        (!kernels.is_empty()).then_some(Event::Assembled { module: self.id, kernels })
    }

    /// Variables.
    pub fn variables(&self) -> &[warpline_format::abi::GlobalDescriptor] {
        // SAFETY: the module's own array.
        unsafe { array(self.descriptor().globals, self.descriptor().global_count) }
    }

    /// First count cell of each branch.
    pub fn branch_cells(&self) -> &[u32] {
        // SAFETY: the module's own array.
        unsafe { array(self.descriptor().branch_cells, self.descriptor().branch_count) }
    }

    /// Returns a range of basic blocks that holds all a kernel may run: its own, or the whole module's where it calls.
    pub fn reachable_blocks(&self, function: u32) -> Range<u64> {
        let blocks = &self.table.blocks;
        if self.table.calls.iter().any(|call| call.caller == function) {
            return 0..blocks.len() as u64;
        }
        let own = |block: &Block| block.function == function;
        let first = blocks.iter().position(own).unwrap_or(0);
        let end = blocks.iter().rposition(own).map_or(first, |last| last + 1);
        first as u64..end as u64
    }

    /// Pointers to a kernel's parameters in a buffer that holds them as the kernel takes them.
    ///
    /// # Errors
    /// Where the buffer is shorter than that.
    pub fn parameters_in(&self, kernel: usize, buffer: *mut c_void, bytes: usize) -> Result<Vec<*mut c_void>, Error> {
        let kernel = self.kernels().get(kernel).ok_or(INVALID_RESOURCE_HANDLE)?;
        if buffer.is_null() || bytes < kernel.parameter_bytes as usize {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the descriptor's own array.
        let parameters = unsafe { array(kernel.parameters, u64::from(kernel.parameter_count)) };
        Ok(parameters.iter().map(|parameter| buffer.wrapping_byte_add(parameter.offset as usize)).collect())
    }

    /// Built with hooks.
    pub fn is_hooked(&self) -> bool {
        self.descriptor().flags & module_flags::HOOKED != 0
    }

    /// Demangled name of a kernel, or the mangled one where the table lacks it.
    pub fn kernel_name(&self, kernel: usize) -> String {
        let function = self.kernels().get(kernel).map(|kernel| kernel.function as usize);
        match function.and_then(|function| self.table.functions.get(function)) {
            Some(function) if !function.name.is_empty() => function.name.clone(),
            _ => self.mangled(kernel),
        }
    }

    /// Returns the mangled name of a kernel.
    pub fn mangled(&self, kernel: usize) -> String {
        self.kernels().get(kernel).map_or_else(String::new, |kernel| name(kernel.name))
    }

    /// Makes all site ranges fit the registry's state `epoch`; empty ones if `every` access must reach the check.
    pub fn refresh_ranges(&mut self, epoch: u64, check: Check, every: bool) {
        if every {
            self.clear_ranges();
        } else if check == Check::Off {
            self.fill_ranges(SiteRange { low: 0, high: i64::MAX as u64 });
        } else if self.epoch != epoch || self.passing {
            self.clear_ranges();
            self.passing = false;
        }
        self.epoch = epoch;
    }

    /// Empties all site ranges: every site goes through the slow path once.
    pub fn clear_ranges(&mut self) {
        // Lowered code takes differences as signed numbers; this is a byte that no program can have.
        self.fill_ranges(SiteRange { low: NOWHERE, high: NOWHERE });
    }

    /// Sets the range of one site.
    pub fn set_range(&mut self, site: u32, range: SiteRange) {
        let descriptor = self.descriptor();
        if u64::from(site) < descriptor.site_count {
            // SAFETY: the module's own writable array.
            unsafe { descriptor.site_ranges.add(site as usize).write(range) };
        }
    }

    fn fill_ranges(&mut self, range: SiteRange) {
        let descriptor = self.descriptor();
        for site in 0..descriptor.site_count as usize {
            // SAFETY: the module's own writable array.
            unsafe { descriptor.site_ranges.add(site).write(range) };
        }
    }
}

/// Returns ptxas's figures of a registered module's kernel.
pub fn resources(kernel: &KernelDescriptor) -> &[Resources] {
    // SAFETY: the module's own array, which is there as long as the descriptor.
    unsafe { array(kernel.resources, kernel.resource_count) }
}

/// Where the shared variables of a registered module's kernel lie.
pub fn shared_variables(kernel: &KernelDescriptor) -> &[SharedVariable] {
    // SAFETY: the module's own array, which is there as long as the descriptor.
    unsafe { array(kernel.shared_variables, kernel.shared_variable_count) }
}

/// # Safety
/// `first` points to `count` values, or `count` is 0.
pub(crate) unsafe fn array<'a, T>(first: *const T, count: u64) -> &'a [T] {
    if first.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: by the contract.
    unsafe { slice::from_raw_parts(first, count as usize) }
}

/// A descriptor's name as text; null or a zero-terminated string.
pub(crate) fn name(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: names of descriptors are zero-terminated.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Those of the comma-separated features that this processor lacks.
fn missing_features(features: &str) -> String {
    let has = |feature: &str| match feature {
        "sse3" => is_x86_feature_detected!("sse3"),
        "ssse3" => is_x86_feature_detected!("ssse3"),
        "sse4.1" => is_x86_feature_detected!("sse4.1"),
        "sse4.2" => is_x86_feature_detected!("sse4.2"),
        "popcnt" => is_x86_feature_detected!("popcnt"),
        "avx" => is_x86_feature_detected!("avx"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "fma" => is_x86_feature_detected!("fma"),
        "f16c" => is_x86_feature_detected!("f16c"),
        "bmi" | "bmi1" => is_x86_feature_detected!("bmi1"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "lzcnt" => is_x86_feature_detected!("lzcnt"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512cd" => is_x86_feature_detected!("avx512cd"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        // Baseline features, and small ones that come with those above.
        _ => true,
    };
    let missing: Vec<&str> = features
        .split(',')
        .map(|feature| feature.trim().trim_start_matches('+'))
        .filter(|feature| !feature.is_empty() && !has(feature))
        .collect();
    missing.join(", ")
}

// SAFETY: the descriptor is the program's own constant data; its site ranges are only written under
// the runtime's lock, or by the one thread that runs device code.
unsafe impl Send for Module {}
