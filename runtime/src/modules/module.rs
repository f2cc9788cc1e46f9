//! Registered device modules: kernels, variables, site ranges.

use crate::cuda::error::{Error, INVALID_RESOURCE_HANDLE, INVALID_VALUE};
use crate::modules::completion::Completion;
use crate::modules::reported::ReportedFaults;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::slice;
use warpline_format::abi::{
    ABI_VERSION, KernelDescriptor, MODULE_MAGIC, ModuleDescriptor, NOWHERE, SharedVariable, SiteRange, module_flags,
};
use warpline_format::carveout::CarveoutPreference;
use warpline_format::device_code::KernelResources;
use warpline_format::event::Event;
use warpline_format::occupancy::{Resources, nearest};
use warpline_format::options::Check;
use warpline_format::site_table::{Block, SiteTable};

/// A kernel or variable of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The index of the module.
    pub module: usize,
    /// The index in the array of the module's descriptor.
    pub index: usize,
}

/// A module whose kernels can run.
#[derive(Debug)]
pub struct Module {
    /// The descriptor from the pass. It lives as long as the program, or until its object is unloaded.
    descriptor: *const ModuleDescriptor,
    /// The module's number in the trace.
    pub id: u32,
    /// The site table, which explains the module's numbers.
    pub table: SiteTable,
    /// The device addresses of the module's globals.
    pub globals: Vec<u64>,
    /// The epoch of the registry for which the site ranges are valid.
    epoch: u64,
    /// Whether some site ranges are those of the running launch's shared or local memory.
    pub passing: bool,
    /// The bad accesses that have been reported.
    pub reported: ReportedFaults,
    /// Functions of kernels whose shared variables are in the trace.
    pub described: BTreeSet<u32>,
    /// The limits on dynamic shared memory that the program has set, indexed by kernel.
    pub dynamic_shared: Vec<u32>,
    /// The division of L1 and shared memory that the program prefers, indexed by kernel.
    pub carveouts: Vec<CarveoutPreference>,
    /// Whether the table differs from the descriptor's own table.
    renamed: bool,
    /// The figures of ptxas for the kernels, if the run requested further architectures.
    assembled: Option<KernelResources>,
    /// Whether the run requested them.
    requested: bool,
    /// Kernels whose functions with hooks were generated during the run.
    pub(super) completions: HashMap<usize, Completion>,
}

/// The result of `__cudaRegisterFatBinary`.
#[derive(Debug)]
pub enum Registered {
    /// Lowered code; the value is an index into the modules.
    Module(usize),
    /// A fat binary of code that was not rebuilt.
    Foreign,
}

/// The reason why a module cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The module was built for another runtime.
    #[error(
        "a module was built by another release of Warpline (border version {0}, this one is {ABI_VERSION}): rebuild the program"
    )]
    Version(u32),
    /// The processor does not have features that the code needs.
    #[error(
        "the device code needs the processor features {0}, which this machine lacks: rebuild it here, or with a lower -march"
    )]
    Features(String),
    /// The module's site table cannot be read.
    #[error(transparent)]
    Table(#[from] warpline_format::site_table::SiteTableError),
}

impl Module {
    /// Reads the descriptor at `data`; returns `None` if it is not a descriptor from Warpline.
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
            // SAFETY: the pointer is a zero-terminated string of the module.
            let features = unsafe { CStr::from_ptr(ours.features) }.to_string_lossy();
            let missing = missing_features(&features);
            if !missing.is_empty() {
                return Err(ModuleError::Features(missing));
            }
        }
        let table = if ours.site_table.is_null() {
            SiteTable::default()
        } else {
            // SAFETY: the bytes belong to the module.
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
            described: BTreeSet::new(),
            dynamic_shared: vec![0; ours.kernel_count as usize],
            carveouts: vec![CarveoutPreference::Default; ours.kernel_count as usize],
            renamed: false,
            assembled: None,
            requested: false,
            completions: HashMap::new(),
        };
        module.clear_ranges();
        Ok(module)
    }

    /// Returns the descriptor.
    pub fn descriptor(&self) -> &ModuleDescriptor {
        // SAFETY: the pointer is valid while the module is registered.
        unsafe { &*self.descriptor }
    }

    /// Returns the site table's bytes.
    pub fn table_bytes(&self) -> &[u8] {
        // SAFETY: the bytes belong to the module.
        unsafe { array(self.descriptor().site_table, self.descriptor().site_table_bytes) }
    }

    /// Returns the code from which the module can be lowered again; empty if there is none.
    pub fn carried(&self) -> &[u8] {
        // SAFETY: the bytes belong to the module.
        unsafe { array(self.descriptor().carried, self.descriptor().carried_bytes) }
    }

    /// Returns the site table's bytes in the form that the trace contains.
    pub fn encoded_table(&self) -> Vec<u8> {
        if self.renamed { self.table.to_bytes() } else { self.table_bytes().to_vec() }
    }

    /// Changes the name of the module's kernel for the user. In a module with several kernels, the names do not change.
    pub fn show_as(&mut self, name: &str) {
        let [kernel] = self.kernels() else { return };
        let function = kernel.function as usize;
        if let Some(function) = self.table.functions.get_mut(function) {
            function.name = name.to_owned();
            self.renamed = true;
        }
    }

    /// Returns the kernels.
    pub fn kernels(&self) -> &[KernelDescriptor] {
        // SAFETY: the array belongs to the module.
        unsafe { array(self.descriptor().kernels, self.descriptor().kernel_count) }
    }

    /// Returns events with ptxas's figures for the kernels, if there are any.
    pub fn assembly(&self, capability: (u32, u32)) -> impl Iterator<Item = Event> {
        self.spills(capability).into_iter().chain(self.assembled())
    }

    /// Returns the event with the register spills on a device.
    fn spills(&self, capability: (u32, u32)) -> Option<Event> {
        let each = |kernel: &KernelDescriptor| {
            Some((kernel.function, nearest(self.resources(kernel), capability)?.spill_bytes))
        };
        let kernels: Vec<(u32, u32)> =
            self.kernels().iter().filter_map(each).filter(|(_, bytes)| *bytes != 0).collect();
        (!kernels.is_empty()).then_some(Event::Spills { module: self.id, kernels })
    }

    /// Returns the event with the registers on all known architectures.
    fn assembled(&self) -> Option<Event> {
        let known = self.kernels().iter().map(|kernel| (kernel.function, self.resources(kernel).to_vec()));
        let kernels: Vec<_> = known.filter(|(_, resources)| !resources.is_empty()).collect();
        (!kernels.is_empty()).then_some(Event::Assembled { module: self.id, kernels })
    }

    /// Returns ptxas's figures for a kernel of the module, sorted by architecture.
    pub fn resources(&self, kernel: &KernelDescriptor) -> &[Resources] {
        let further = self.assembled.as_ref().and_then(|all| all.get(&name(kernel.name)));
        // SAFETY: the array belongs to the module and lives as long as the descriptor.
        further.map_or_else(|| unsafe { array(kernel.resources, kernel.resource_count) }, Vec::as_slice)
    }

    /// Returns those of the architectures for which no figures are known and `warpline-cc` can find them. The result is
    /// empty from the second call on.
    pub fn lacking_resources(&mut self, architectures: &BTreeSet<u32>) -> Vec<u32> {
        if std::mem::replace(&mut self.requested, true) || self.carried().is_empty() {
            return Vec::new();
        }
        let known = self.kernels().iter().flat_map(|kernel| self.resources(kernel));
        let known: BTreeSet<u32> = known.map(|one| one.architecture).collect();
        if known.is_empty() { Vec::new() } else { architectures.difference(&known).copied().collect() }
    }

    /// Adds figures for further architectures, by mangled name.
    pub fn add_resources(&mut self, further: KernelResources) {
        let mut all = KernelResources::new();
        for kernel in self.kernels() {
            let mut known = self.resources(kernel).to_vec();
            known.extend(further.get(&name(kernel.name)).into_iter().flatten());
            known.sort_unstable();
            all.insert(name(kernel.name), known);
        }
        self.assembled = Some(all);
    }

    /// Returns the variables.
    pub fn variables(&self) -> &[warpline_format::abi::GlobalDescriptor] {
        // SAFETY: the array belongs to the module.
        unsafe { array(self.descriptor().globals, self.descriptor().global_count) }
    }

    /// Returns the first count cell of each branch.
    pub fn branch_cells(&self) -> &[u32] {
        // SAFETY: the array belongs to the module.
        unsafe { array(self.descriptor().branch_cells, self.descriptor().branch_count) }
    }

    /// Returns a range of basic blocks that contains all blocks that a kernel may run. These are the kernel's own
    /// blocks, or, if it calls functions, those of the whole module.
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

    /// Returns pointers to a kernel's parameters in a buffer that contains them with the kernel's layout.
    ///
    /// # Errors
    /// Returns an error if the buffer is too short.
    pub fn parameters_in(&self, kernel: usize, buffer: *mut c_void, bytes: usize) -> Result<Vec<*mut c_void>, Error> {
        let kernel = self.kernels().get(kernel).ok_or(INVALID_RESOURCE_HANDLE)?;
        if buffer.is_null() || bytes < kernel.parameter_bytes as usize {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the array belongs to the descriptor.
        let parameters = unsafe { array(kernel.parameters, u64::from(kernel.parameter_count)) };
        Ok(parameters.iter().map(|parameter| buffer.wrapping_byte_add(parameter.offset as usize)).collect())
    }

    /// Returns whether the module was built with hooks.
    pub fn is_hooked(&self) -> bool {
        self.descriptor().flags & module_flags::HOOKED != 0
    }

    /// Returns the demangled name of a kernel, or the mangled one if the table does not contain it.
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

    /// Updates all site ranges for the registry's epoch `epoch`. The ranges are empty if `every` access must reach the
    /// check.
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

    /// Empties all site ranges, so that every site takes the slow path once.
    pub fn clear_ranges(&mut self) {
        // Lowered code interprets differences as signed numbers; no program can access the byte at this address.
        self.fill_ranges(SiteRange { low: NOWHERE, high: NOWHERE });
    }

    /// Sets the range of one site.
    pub fn set_range(&mut self, site: u32, range: SiteRange) {
        let descriptor = self.descriptor();
        if u64::from(site) < descriptor.site_count {
            // SAFETY: the array belongs to the module and is writable.
            unsafe { descriptor.site_ranges.add(site as usize).write(range) };
        }
    }

    fn fill_ranges(&mut self, range: SiteRange) {
        let descriptor = self.descriptor();
        for site in 0..descriptor.site_count as usize {
            // SAFETY: the array belongs to the module and is writable.
            unsafe { descriptor.site_ranges.add(site).write(range) };
        }
    }
}

/// Returns the shared variables of a registered module's kernel, with their offsets.
pub fn shared_variables(kernel: &KernelDescriptor) -> &[SharedVariable] {
    // SAFETY: the array belongs to the module and lives as long as the descriptor.
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

/// Returns a descriptor's name as text. The pointer is null or a zero-terminated string.
pub(crate) fn name(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: names of descriptors are zero-terminated.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Returns those of the comma-separated features that this processor does not have.
pub(super) fn missing_features(features: &str) -> String {
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
        // The remaining features are baseline features, and small features that accompany those above.
        _ => true,
    };
    let missing: Vec<&str> = features
        .split(',')
        .map(|feature| feature.trim().trim_start_matches('+'))
        .filter(|feature| !feature.is_empty() && !has(feature))
        .collect();
    missing.join(", ")
}

// SAFETY: the descriptor is constant data of the program. Its site ranges are only written while the runtime's lock is
// held, or by the one thread that runs device code.
unsafe impl Send for Module {}
