//! The lowering's state for a module: the new positions of its variables and functions, and the features of the host
//! processor.

use super::checked::{Checked, Whole};
use super::hooked::is_hooked;
use super::reach::Reach;
use super::runtime::Runtime;
use super::shared::SharedLayout;
use super::vectors::Vectors;
use crate::cpu::generated::Generated;
use crate::cpu::options::PART;
use crate::cpu::target::types::{LANES, leaf_types};
use crate::ir::globals::device_globals;
use crate::ir::kernel::is_kernel;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::types::Kind;
use crate::llvm::value::Linkage;
use crate::llvm::{Builder, Layout, ModuleItems, Type, Types, Value};
use inkwell::module::Module;
use std::collections::{HashMap, HashSet};
use warpline_format::abi::{count_cells, windows};
use warpline_format::access::{Space, bundle_field, bundle_of};
use warpline_format::site_table::{Bundle, Site, SiteTable};

/// The host processor.
pub struct Host {
    /// The vector instructions.
    pub vectors: Vectors,
    /// Whether LLVM uses gather instructions for the processor.
    pub gathers: bool,
    /// The name and the features, for function attributes.
    pub processor: (String, String),
}

/// The position of a global.
#[derive(Clone, Copy, Debug)]
pub enum GlobalAddress<'c> {
    /// The variable of the lowered module that contains its address.
    Slot(Value<'c>),
    /// The offset in the block's shared memory.
    Shared(u32),
    /// A device function: what represents its address.
    Function(Entry<'c>),
    /// A kernel: the number by which device code launches it.
    Kernel(u64),
}

/// The position of a kernel parameter in the parameter buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterPlace {
    /// The byte offset.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
}

/// What represents the address of a device function.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'c> {
    /// A function of this module.
    Function(Value<'c>),
    /// The variable with the address of the function in the module that this module completes.
    Slot(Value<'c>),
}

/// The warp functions of a device function.
#[derive(Clone, Copy)]
pub struct WarpFunctions<'c> {
    /// The function without hooks, if it is generated.
    pub native: Option<Value<'c>>,
    /// The function with hooks, if it is generated.
    pub hooked: Option<Value<'c>>,
    /// What represents its address, if it is taken.
    pub entry: Option<Entry<'c>>,
}

impl<'c> WarpFunctions<'c> {
    /// Returns the function with or without hooks.
    pub fn form(&self, hooked: bool) -> Option<Value<'c>> {
        if hooked { self.hooked } else { self.native }
    }
}

/// The properties of a module that is being lowered.
pub struct Unit<'c> {
    /// The prepared device code.
    pub source: Module<'c>,
    /// The module that is generated.
    pub target: Module<'c>,
    /// The types of the context.
    pub t: Types<'c>,
    /// The vector instructions of the host.
    pub vectors: Vectors,
    gathers: bool,
    /// The processor and features, for function attributes.
    pub processor: (String, String),
    /// The calls between functions.
    pub reach: Reach<'c>,
    /// The layout of the shared memory.
    pub shared: SharedLayout<'c>,
    /// The slot of each device variable, in the order of the descriptor.
    pub slots: Vec<(Value<'c>, Value<'c>)>,
    slot_of: HashMap<Value<'c>, Value<'c>>,
    /// The device functions.
    pub functions: HashMap<Value<'c>, WarpFunctions<'c>>,
    /// The table of ranges that are known to be valid, one per site, or, in a module that completes another one, the
    /// variable with the address of the other module's table.
    pub ranges: Option<Value<'c>>,
    /// Whether the module completes another one.
    pub completes: bool,
    sites: Vec<(Space, u32, u32)>,
    plain_loads: Vec<bool>,
    in_registers: HashSet<u32>,
    bundles: Vec<Bundle>,
    blocks: Vec<u64>,
    branches: Vec<(u64, u32)>,
    reads_clock: bool,
}

impl<'c> Unit<'c> {
    /// Collects the properties of `source` and declares everything that `target` needs.
    pub fn new(
        source: Module<'c>,
        target: Module<'c>,
        table: Option<&SiteTable>,
        host: Host,
        generated: Generated<'_>,
    ) -> Unit<'c> {
        let t = ModuleItems::types(&source);
        let reach = Reach::new(&source);
        let shared = SharedLayout::new(&source, &reach.kernels, &reach.used);
        let mut unit = Unit {
            t,
            vectors: host.vectors,
            gathers: host.gathers,
            processor: host.processor,
            shared,
            slots: Vec::new(),
            slot_of: HashMap::new(),
            functions: HashMap::new(),
            ranges: None,
            completes: generated.completes(),
            sites: Vec::new(),
            plain_loads: Vec::new(),
            in_registers: HashSet::new(),
            bundles: Vec::new(),
            blocks: Vec::new(),
            branches: Vec::new(),
            reads_clock: reach.reads_clock,
            reach,
            source,
            target,
        };
        unit.read_table(table);
        unit.declare_variables();
        unit.declare_functions(generated);
        unit
    }

    fn read_table(&mut self, table: Option<&SiteTable>) {
        let Some(table) = table else { return };
        self.sites = table.sites.iter().map(|site| (site.space, site.bytes, site.align)).collect();
        self.plain_loads = table.sites.iter().map(Site::is_plain_load).collect();
        self.in_registers = table.in_registers.iter().copied().collect();
        self.bundles = table.bundles.clone();
        self.blocks = (table.blocks.iter())
            .map(|block| {
                let m = &block.mix;
                let all =
                    [m.fp16, m.fp32, m.fp64, m.int, m.special, m.conversion, m.control, m.memory, m.barrier, m.tensor];
                all.iter().map(|&count| u64::from(count)).sum()
            })
            .collect();
        let mut cell = table.blocks.len() as u64 * count_cells::PER_BLOCK;
        for branch in &table.branches {
            self.branches.push((cell, branch.sides));
            cell += count_cells::BRANCH_FIXED + u64::from(branch.sides);
        }
        if !self.sites.is_empty() && self.completes {
            self.ranges = Some(self.slot("warpline.ranges", self.t.pointer(0)));
        } else if !self.sites.is_empty() {
            let ty = self.t.structure(&[self.t.int(64), self.t.int(64)], false).array(self.sites.len() as u64);
            let ranges = self.target.new_variable("warpline.ranges", ty, 0);
            ranges.set_linkage(Linkage::LLVMInternalLinkage);
            // In an empty range, the low end is above the high end, so the first access goes to the runtime.
            let empty =
                Value::structure(self.t, &[Value::int(self.t.int(64), u64::MAX), Value::int(self.t.int(64), 0)], false);
            ranges.set_initializer(Value::array(empty.ty(), &vec![empty; self.sites.len()]));
            ranges.set_alignment(16);
            self.ranges = Some(ranges);
        }
    }

    fn declare_variables(&mut self) {
        for global in device_globals(&self.source) {
            let slot = self.slot(&format!("warpline.slot.{}", global.name()), self.t.int(64));
            self.slots.push((global, slot));
            self.slot_of.insert(global, slot);
        }
    }

    /// Adds a variable of eight bytes that the runtime sets.
    fn slot(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        let slot = self.target.new_variable(name, ty, 0);
        slot.set_linkage(Linkage::LLVMInternalLinkage);
        slot.set_initializer(Value::zero(ty));
        slot.set_alignment(8);
        slot
    }

    fn declare_functions(&mut self, generated: Generated<'_>) {
        for function in self.source.functions() {
            if function.is_declaration() || is_kernel(function) || !self.reach.lives(function) {
                continue;
            }
            let name = function.name();
            let taken = self.reach.address_taken.contains(&function);
            let needed = match generated {
                Generated::HookedOf(kernel) => self.reach.is_reached(kernel, function),
                _ => true,
            };
            let ty = self.warp_type(function);
            let made = |kind: &str| self.new_warp_function(&format!("warpline.{kind}.{name}"), ty);
            let form = |hooked, kind| (needed && generated.forms_of_functions().contains(&hooked)).then(|| made(kind));
            let (native, hooked) = (form(false, "native"), form(true, "hooked"));
            let entry = taken.then(|| match self.completes || generated == Generated::Nothing {
                true => Entry::Slot(self.slot(&format!("warpline.entry.{name}"), self.t.pointer(0))),
                false => Entry::Function(made("entry")),
            });
            self.functions.insert(function, WarpFunctions { native, hooked, entry });
        }
    }

    /// Returns the type of the warp function of a device function: context, mask, and one vector per leaf of each
    /// argument.
    fn warp_type(&self, function: Value<'c>) -> Type<'c> {
        self.warp_type_of(function.value_type())
    }

    /// The variant of [`Self::warp_type`] for the device function's type.
    pub fn warp_type_of(&self, ty: Type<'c>) -> Type<'c> {
        let mut parameters = vec![self.t.pointer(0), self.t.int(32)];
        for parameter in ty.parameters() {
            parameters.extend(leaf_types(parameter).into_iter().map(|leaf| leaf.vector(LANES)));
        }
        let results: Vec<_> = leaf_types(ty.result()).into_iter().map(|leaf| leaf.vector(LANES)).collect();
        let result = match results.len() {
            0 => self.t.void(),
            1 => results[0],
            _ => self.t.structure(&results, false),
        };
        result.function(&parameters)
    }

    /// Adds a function with the attributes of all lowered code.
    pub fn new_warp_function(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        let function = self.target.new_function(name, ty);
        function.set_linkage(Linkage::LLVMInternalLinkage);
        self.dress(function);
        // The context overlaps no memory that kernels can access.
        function.add_attribute(1, "noalias", 0);
        function.add_attribute(1, "nonnull", 0);
        let bytes = std::mem::size_of::<warpline_format::abi::WarpContext>() as u64;
        function.add_attribute(1, "dereferenceable", bytes);
        function.add_attribute(1, "align", 64);
        function
    }

    /// Replaces the attributes of a function, because those of the device function do not apply to its warp function.
    pub fn dress(&self, function: Value<'c>) {
        function.add_attribute(OF_FUNCTION, "nounwind", 0);
        function.set_string_attribute("target-cpu", &self.processor.0);
        // LLVM would clear the registers' upper halves at calls and returns, although `preserve_all` guarantees that
        // they survive. [`Self::clear_uppers`] does this where it is correct.
        let separator = if self.processor.1.is_empty() { "" } else { "," };
        function.set_string_attribute("target-features", &format!("{}{separator}-vzeroupper", self.processor.1));
        // The stack pointer must not skip the guard page below a stack in a frame that is larger than the page.
        function.set_string_attribute("probe-stack", "inline-asm");
        if self.vectors == Vectors::Avx512 {
            function.set_string_attribute("min-legal-vector-width", "512");
            function.set_string_attribute("prefer-vector-width", "512");
        }
    }

    /// Clears the upper halves of the vector registers before code that uses only their lower halves, which would
    /// otherwise be slow on some processors.
    pub fn clear_uppers(&self, b: &Builder<'c>) {
        if self.vectors >= Vectors::Avx2 {
            b.call(self.intrinsic("llvm.x86.avx.vzeroupper", &[]), &[]);
        }
    }

    /// Returns whether a lowered function is so large that its frame may use much of an ordinary host stack. The frame
    /// contains the values of 128 or 256 bytes that live at the same time. It contains all such values if the code is
    /// not optimised, because a program waits for it or because it writes records and the module is divided into parts.
    pub fn has_large_functions(&self, waited_for: bool) -> bool {
        let size = |function: Value<'c>| function.blocks().into_iter().map(|block| block.instructions().len()).sum();
        let sizes: Vec<(bool, usize)> =
            self.target.functions().into_iter().map(|function| (is_hooked(function), size(function))).collect();
        let in_parts = sizes.iter().map(|(_, instructions)| instructions).sum::<usize>() > PART;
        let bound = |hooked| if waited_for || hooked && in_parts { 1000 } else { 4000 };
        sizes.into_iter().any(|(hooked, instructions)| instructions > bound(hooked))
    }

    /// Returns the data layout of the device code.
    pub fn layout(&self) -> Layout<'_> {
        Layout::from_module(&self.source)
    }

    /// Returns the runtime's functions.
    pub fn runtime(&self) -> Runtime<'_, 'c> {
        Runtime { module: &self.target }
    }

    /// Returns an intrinsic of the lowered module.
    pub fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c> {
        self.target.intrinsic(name, overloads)
    }

    /// Returns the position of a kernel's parameter.
    pub fn parameter(&self, kernel: Value<'c>, index: usize) -> ParameterPlace {
        self.parameters(kernel)[index]
    }

    /// Returns the positions of a kernel's parameters, each with its own alignment, in order.
    pub fn parameters(&self, kernel: Value<'c>) -> Vec<ParameterPlace> {
        let layout = self.layout();
        let mut end = 0u64;
        (kernel.parameters().into_iter().enumerate())
            .map(|(index, parameter)| {
                let attribute = index as u32 + 1;
                let (size, align) = match kernel.type_attribute(attribute, "byval") {
                    Some(ty) => {
                        let natural = layout.align(ty);
                        (layout.size(ty), kernel.int_attribute(attribute, "align").unwrap_or(natural).max(natural))
                    }
                    None => (layout.size(parameter.ty()), layout.align(parameter.ty())),
                };
                end = end.next_multiple_of(align.max(1));
                let place = ParameterPlace { offset: end as u32, size: size as u32 };
                end += size;
                place
            })
            .collect()
    }

    /// Returns the position of a global for a kernel, or for a function that kernels share.
    pub fn place(&self, kernel: Option<Value<'c>>, global: Value<'c>) -> Option<GlobalAddress<'c>> {
        if let Some(slot) = self.slot_of.get(&global) {
            return Some(GlobalAddress::Slot(*slot));
        }
        if let Some(number) = self.reach.kernels.iter().position(|(kernel, _)| *kernel == global) {
            return Some(GlobalAddress::Kernel(windows::KERNELS + number as u64));
        }
        if global.is_function() {
            return self.functions.get(&global).and_then(|functions| functions.entry).map(GlobalAddress::Function);
        }
        self.shared.offset(kernel, global).map(GlobalAddress::Shared)
    }

    /// Returns the space, the size in bytes and the alignment of a site.
    pub fn site(&self, number: u32) -> Option<(Space, u32, u32)> {
        self.sites.get(number as usize).copied()
    }

    /// Returns whether a site is a [plain load](Site::is_plain_load).
    pub fn is_plain_load(&self, site: u32) -> bool {
        self.plain_loads.get(site as usize).copied().unwrap_or(false)
    }

    /// Returns what the hook of an access with this number checks: the access of a site, or that of a bundle.
    pub fn checked(&self, number: u32) -> Option<Checked> {
        let Some(index) = bundle_of(number) else {
            let (space, bytes, align) = self.site(number)?;
            let recorded = !self.in_registers.contains(&number);
            return Some(Checked { site: number, space, bytes, align, bundle: None, recorded });
        };
        let members = &self.bundles.get(index as usize)?.members;
        let site = members.first()?.site;
        let (space, bytes, align) = self.site(site)?;
        let mut whole = Whole { field: number, bytes: [0, 0], align: 1 };
        for member in members {
            let (_, bytes, align) = self.site(member.site)?;
            let first = i64::from(member.offset);
            whole.bytes = [whole.bytes[0].min(first), whole.bytes[1].max(first + i64::from(bytes.max(1)) - 1)];
            whole.align = whole.align.max(align);
        }
        // The members of a bundle are in one function and one space, so either all or none of them are in registers.
        let recorded = !self.in_registers.contains(&site);
        Some(Checked { site, space, bytes, align, bundle: Some(whole), recorded })
    }

    /// Returns the site field of a bundle's records.
    pub fn bundle_field(&self, index: u32) -> Option<u32> {
        Some(bundle_field(index, self.bundles.get(index as usize)?.members.len() as u32))
    }

    /// Returns the number of sites.
    pub fn site_count(&self) -> usize {
        self.sites.len()
    }

    /// Returns the address of a site's range.
    pub fn site_range(&self, b: &Builder<'c>, number: u32) -> Value<'c> {
        let Some(ranges) = self.ranges else { return Value::zero(self.t.pointer(0)) };
        if self.completes {
            return b.offset(b.load(self.t.pointer(0), ranges, 8), 16 * u64::from(number));
        }
        let index = Value::int(self.t.int(64), 16 * u64::from(number));
        Value::constant_offset(ranges, index)
    }

    /// Returns the address of a device function, as `i64`.
    pub fn address_of(&self, b: &Builder<'c>, entry: Entry<'c>) -> Value<'c> {
        match entry {
            Entry::Function(function) => b.ptr_to_int(function, self.t.int(64)),
            Entry::Slot(slot) => b.load(self.t.int(64), slot, 8),
        }
    }

    /// Returns the number of instructions of a block.
    pub fn block_instructions(&self, number: usize) -> Option<u64> {
        self.blocks.get(number).copied()
    }

    /// Returns the first cell and the number of sides of a branch.
    pub fn branch_cells(&self, number: usize) -> Option<(u64, u32)> {
        self.branches.get(number).copied()
    }

    /// Returns the first cells of all branches, and the total number of cells.
    pub fn cells(&self) -> (Vec<u32>, u64) {
        let end = self.blocks.len() as u64 * count_cells::PER_BLOCK;
        let end =
            self.branches.last().map_or(end, |(cell, sides)| cell + count_cells::BRANCH_FIXED + u64::from(*sides));
        (self.branches.iter().map(|(cell, _)| *cell as u32).collect(), end)
    }

    /// Returns whether any function of the module reads the clock.
    pub fn reads_clock(&self) -> bool {
        self.reads_clock
    }

    /// Returns whether the host has a gather instruction for this type. Otherwise, LLVM would generate a branch per
    /// lane for each gather.
    pub fn has_gather(&self, ty: Type<'c>) -> bool {
        self.gathers && is_wide(ty)
    }

    /// Returns whether products and sums of this type, or of a vector of it, are fused, which requires an instruction
    /// of the host.
    pub fn has_fused(&self, ty: Type<'c>) -> bool {
        let kind = match ty.kind() {
            Kind::Vector(_) => ty.element().kind(),
            kind => kind,
        };
        self.vectors >= Vectors::Avx2 && matches!(kind, Kind::Float | Kind::Double)
    }

    /// Returns whether the host has instructions for half precision.
    pub fn has_half_arithmetic(&self) -> bool {
        self.processor.1.split(',').any(|feature| feature == "+avx512fp16")
    }

    /// Returns whether the host has masked loads and stores for this type.
    pub fn has_masks(&self, ty: Type<'c>) -> bool {
        self.vectors == Vectors::Avx512 || self.vectors == Vectors::Avx2 && is_wide(ty)
    }

    /// Returns whether the host has a scatter instruction for this type.
    pub fn has_scatter(&self, ty: Type<'c>) -> bool {
        self.vectors >= Vectors::Avx512 && is_wide(ty)
    }
}

fn is_wide(ty: Type<'_>) -> bool {
    matches!(ty.kind(), Kind::Float | Kind::Double | Kind::Int(32) | Kind::Int(64))
}
