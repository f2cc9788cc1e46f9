//! The tables that the runtime reads: `ModuleDescriptor` and the data to which it points, as constants.

use super::unit::{Entry, GlobalAddress, Unit};
use crate::cpu::error::{LowerError, Refusal};
use crate::cpu::generated::Generated;
use crate::cpu::options::Options;
use crate::cpu::shapes::analysis::Version;
use crate::cpu::shapes::serial::PointerUses;
use crate::ir::globals::declared_name;
use crate::llvm::types::Kind;
use crate::llvm::value::{Linkage, Opcode, Visibility};
use crate::llvm::{ModuleItems, Value, annotations};
use std::collections::BTreeMap;
use warpline_format::abi::{ABI_VERSION, MODULE_MAGIC, kernel_flags, module_flags};
use warpline_format::site_table::{GlobalKind, SiteTable};

/// The warp functions of a kernel by version, without and with hooks.
#[derive(Default)]
pub struct KernelFunctions<'c> {
    /// The functions without hooks.
    pub native: BTreeMap<Version, Value<'c>>,
    /// The functions with hooks.
    pub hooked: BTreeMap<Version, Value<'c>>,
    /// The pointers through which the native function of [`Version::Serial`] accesses memory, if there is one.
    pub pointers: PointerUses,
    /// Whether the kernel may wait for other warps.
    pub may_wait: bool,
    /// See [`kernel_flags::EXCHANGES_VALUES`].
    pub exchanges_values: bool,
}

/// Builds the descriptor tables.
pub struct Tables<'u, 'c> {
    /// The properties of the module.
    pub unit: &'u Unit<'c>,
    /// Names and kinds.
    pub table: Option<&'u SiteTable>,
}

/// A pointer inside an image that the runtime sets.
struct ImagePointer {
    offset: u64,
    target: u64,
    addend: i64,
}

impl<'c> Tables<'_, 'c> {
    fn int(&self, bits: u32, value: u64) -> Value<'c> {
        Value::int(self.unit.t.int(bits), value)
    }

    fn null(&self) -> Value<'c> {
        Value::zero(self.unit.t.pointer(0))
    }

    /// Returns a private constant.
    fn constant(&self, name: &str, value: Value<'c>, align: u32) -> Value<'c> {
        let variable = self.unit.target.new_variable(name, value.ty(), 0);
        variable.set_linkage(Linkage::LLVMPrivateLinkage);
        variable.set_constant(true);
        variable.set_initializer(value);
        variable.set_alignment(align);
        variable
    }

    fn text(&self, text: &str) -> Value<'c> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        self.constant("warpline.text", Value::bytes(self.unit.t, &bytes), 1)
    }

    fn bytes(&self, name: &str, bytes: &[u8], align: u32) -> Value<'c> {
        if bytes.is_empty() { self.null() } else { self.constant(name, Value::bytes(self.unit.t, bytes), align) }
    }

    fn list(&self, name: &str, items: &[Value<'c>]) -> Value<'c> {
        match items.first() {
            Some(first) => self.constant(name, Value::array(first.ty(), items), 8),
            None => self.null(),
        }
    }

    fn record(&self, fields: &[Value<'c>]) -> Value<'c> {
        Value::structure(self.unit.t, fields, false)
    }

    /// Creates the module's descriptor with the name in the options.
    pub fn emit(&self, kernels: &[(Value<'c>, KernelFunctions<'c>)], options: &Options<'_>) -> Result<(), LowerError> {
        let mut kernel_list = Vec::new();
        // This is computed once for all kernels, because it inspects every instruction.
        let large = self.unit.has_large_functions(!matches!(options.generated, Generated::All | Generated::Native));
        for (kernel, functions) in kernels {
            kernel_list.push(self.kernel(*kernel, functions, large, options)?);
        }
        let mut globals = Vec::new();
        for index in 0..self.unit.slots.len() {
            globals.push(self.global(index)?);
        }
        let functions = self.functions();
        let table_bytes = self.table.map(SiteTable::to_bytes).unwrap_or_default();
        let (branch_cells, cells) = self.unit.cells();
        let branches: Vec<_> = branch_cells.iter().map(|&cell| self.int(32, u64::from(cell))).collect();
        let mut flags = if self.table.is_some() { module_flags::HOOKED } else { 0 };
        if self.unit.completes {
            flags |= module_flags::COMPLETES;
        }
        let fields = [
            self.int(64, MODULE_MAGIC),
            self.int(32, u64::from(ABI_VERSION)),
            self.int(32, u64::from(flags)),
            self.bytes("warpline.site_table", &table_bytes, 16),
            self.int(64, table_bytes.len() as u64),
            self.list("warpline.kernels", &kernel_list),
            self.int(64, kernel_list.len() as u64),
            self.list("warpline.globals", &globals),
            self.int(64, globals.len() as u64),
            self.list("warpline.functions", &functions),
            self.int(64, functions.len() as u64),
            self.unit.ranges.unwrap_or_else(|| self.null()),
            self.int(64, self.unit.site_count() as u64),
            self.int(64, cells),
            self.int(64, self.table.map_or(0, |table| table.blocks.len()) as u64),
            self.list("warpline.branch_cells", &branches),
            self.int(64, branches.len() as u64),
            self.text(self.unit.vectors.features()),
            match options.emulated {
                Some(name) => self.unit.target.new_variable(name, self.unit.t.int(8), 0),
                None => self.bytes("warpline.fat_binary", options.fat_binary, 64),
            },
            self.int(64, options.fat_binary.len() as u64),
            self.bytes("warpline.carried", options.carried, 16),
            self.int(64, options.carried.len() as u64),
        ];
        let value = self.record(&fields);
        let descriptor = self.unit.target.new_variable(options.descriptor, value.ty(), 0);
        descriptor.set_initializer(value);
        descriptor.set_constant(true);
        descriptor.set_alignment(16);
        descriptor.set_linkage(Linkage::LLVMExternalLinkage);
        if !options.visible {
            descriptor.set_visibility(Visibility::LLVMHiddenVisibility);
        }
        Ok(())
    }

    /// Returns the device functions whose address is taken.
    fn functions(&self) -> Vec<Value<'c>> {
        let taken = self.unit.reach.address_taken.iter();
        let listed = taken.filter_map(|function| Some((function.name(), self.unit.functions.get(function)?.entry?)));
        let record = |(name, entry): (String, Entry<'c>)| match entry {
            Entry::Function(address) => self.record(&[self.text(&name), address, self.null()]),
            Entry::Slot(slot) => self.record(&[self.text(&name), self.null(), slot]),
        };
        listed.map(record).collect()
    }

    /// Returns the flags that follow from the code of a kernel and of the functions that it may call.
    fn flags(&self, kernel: Value<'c>, functions: &KernelFunctions<'c>) -> u32 {
        let mut flags = 0;
        if self.unit.reach.has_barrier(kernel) {
            flags |= kernel_flags::BARRIER;
        }
        if self.unit.reach.has_named_barrier(kernel) {
            flags |= kernel_flags::NAMED_BARRIERS;
        }
        if self.unit.reach.uses_reserved_shared(kernel) {
            flags |= kernel_flags::RESERVED_SHARED;
        }
        if self.unit.reach.has_independent_blocks(kernel) {
            flags |= kernel_flags::INDEPENDENT_BLOCKS;
        }
        if functions.may_wait {
            flags |= kernel_flags::MAY_WAIT;
        }
        if functions.exchanges_values {
            flags |= kernel_flags::EXCHANGES_VALUES;
        }
        flags
    }

    fn kernel(
        &self,
        kernel: Value<'c>,
        functions: &KernelFunctions<'c>,
        large: bool,
        options: &Options<'_>,
    ) -> Result<Value<'c>, LowerError> {
        let name = kernel.name();
        let number = match self.table {
            Some(table) => (table.functions.iter().position(|one| one.mangled == name))
                .ok_or_else(|| LowerError::Table(format!("it does not list the kernel {name}")))?,
            None => 0,
        };
        let (local, unbounded) = self.unit.reach.stack(kernel);
        let mut flags = self.flags(kernel, functions);
        if unbounded {
            flags |= kernel_flags::UNBOUNDED_STACK;
        }
        if large {
            flags |= kernel_flags::LARGE_FRAMES;
        }
        let parameters = self.unit.parameters(kernel);
        let bytes = parameters.iter().map(|one| one.offset + one.size).max().unwrap_or(0);
        let list: Vec<_> = (parameters.iter())
            .map(|one| self.record(&[self.int(32, u64::from(one.offset)), self.int(32, u64::from(one.size))]))
            .collect();
        let pick = |map: &BTreeMap<Version, Value<'c>>, version| map.get(&version).copied().unwrap_or(self.null());
        let resources: Vec<_> = (options.registers.get(&name).into_iter().flatten())
            .map(|one| {
                let fields = [one.architecture, one.registers, one.spill_bytes];
                self.record(&fields.map(|field| self.int(32, u64::from(field))))
            })
            .collect();
        let shared: Vec<_> = (self.unit.shared.variables(kernel))
            .map(|(variable, offset, bytes)| {
                let name = self.text(&declared_name(variable));
                self.record(&[name, self.int(32, u64::from(offset)), self.int(32, u64::from(bytes))])
            })
            .collect();
        let pointers: Vec<_> = (functions.pointers.iter())
            .map(|(&offset, &uses)| self.record(&[self.int(32, offset.into()), self.int(32, uses.into())]))
            .collect();
        let sizes = |key: &str| -> Vec<u64> {
            let text = kernel.string_attribute(key).unwrap_or_default();
            text.split(',').filter_map(|part| part.trim().parse().ok()).collect()
        };
        let bound =
            |key: &str| Some(sizes(key)).filter(|sizes| !sizes.is_empty()).map_or(0, |all| all.iter().product());
        // Dimensions that are not given are 1.
        let required = sizes("nvvm.reqntid");
        let required = |axis| if required.is_empty() { 0 } else { required.get(axis).copied().unwrap_or(1) };
        let cluster = sizes(annotations::CLUSTER_DIMENSIONS);
        let cluster = |axis| if cluster.is_empty() { 0 } else { cluster.get(axis).copied().unwrap_or(1) };
        Ok(self.record(&[
            self.text(&name),
            self.int(32, number as u64),
            self.int(32, u64::from(flags)),
            pick(&functions.native, Version::Linear),
            pick(&functions.native, Version::Half),
            pick(&functions.native, Version::General),
            pick(&functions.native, Version::Serial),
            pick(&functions.hooked, Version::Linear),
            pick(&functions.hooked, Version::Half),
            pick(&functions.hooked, Version::General),
            self.list("warpline.parameters", &list),
            self.int(32, list.len() as u64),
            self.int(32, u64::from(bytes)),
            self.int(32, u64::from(self.unit.shared.static_bytes(kernel))),
            self.int(32, local),
            self.list("warpline.resources", &resources),
            self.int(64, resources.len() as u64),
            // If a kernel requires one block shape, this shape is its limit.
            self.int(
                32,
                [bound("nvvm.reqntid"), bound("nvvm.maxntid")].into_iter().find(|&threads| threads != 0).unwrap_or(0),
            ),
            self.int(32, bound("nvvm.minctasm")),
            self.int(32, required(0)),
            self.int(32, required(1)),
            self.int(32, required(2)),
            self.int(32, cluster(0)),
            self.int(32, cluster(1)),
            self.int(32, cluster(2)),
            self.list("warpline.shared_variables", &shared),
            self.int(64, shared.len() as u64),
            self.list("warpline.pointers", &pointers),
            self.int(64, pointers.len() as u64),
        ]))
    }

    fn global(&self, index: usize) -> Result<Value<'c>, LowerError> {
        let (global, slot) = self.unit.slots[index];
        let layout = self.unit.layout();
        let ty = global.value_type();
        let kind = match self.table {
            Some(table) => {
                let entry = table.globals.get(index);
                entry.ok_or_else(|| LowerError::Table(format!("it does not list the variable {}", global.name())))?.kind
            }
            None if global.address_space() == 4 => GlobalKind::Constant,
            None => GlobalKind::Device,
        };
        let mut pointers = Vec::new();
        let image = match global.initializer() {
            // The module that this one completes has the images.
            _ if self.unit.completes => self.null(),
            Some(value) if !value.is_zero() && !value.is_undef() => {
                let image = self.image(value, 0, &mut pointers)?;
                self.constant("warpline.image", image, 16)
            }
            _ => self.null(),
        };
        let relocations: Vec<_> = (pointers.iter())
            .map(|one| {
                self.record(&[self.int(64, one.offset), self.int(64, one.target), self.int(64, one.addend as u64)])
            })
            .collect();
        let align = layout.align(ty).max(u64::from(global.alignment()));
        Ok(self.record(&[
            self.text(&global.name()),
            image,
            self.int(64, layout.size(ty)),
            self.int(64, align),
            self.int(32, kind as u64),
            self.int(32, 0),
            slot,
            self.list("warpline.relocations", &relocations),
            self.int(64, relocations.len() as u64),
        ]))
    }

    /// Returns the initialiser without device pointers, which are added to `found`. Pointers to functions stay, because
    /// the linker has their addresses.
    fn image(&self, value: Value<'c>, offset: u64, found: &mut Vec<ImagePointer>) -> Result<Value<'c>, LowerError> {
        let ty = value.ty();
        if value.is_undef() || value.is_zero() {
            let held = if ty.is_pointer() { self.unit.t.pointer(0) } else { ty };
            return if contains_pointers(held) { self.zero_image(held) } else { Ok(Value::zero(held)) };
        }
        if value.is_plain_data()
            || matches!(ty.kind(), Kind::Int(_) if !value.is_constant_expression())
            || ty.is_float()
        {
            return Ok(value);
        }
        let layout = self.unit.layout();
        match ty.kind() {
            Kind::Pointer(_) => self.image_pointer(value, offset, found),
            Kind::Int(64) => {
                let pointer = self.image_pointer(value, offset, found)?;
                Ok(if pointer.is_zero() { self.int(64, 0) } else { pointer })
            }
            Kind::Struct => {
                let mut fields = Vec::new();
                for index in 0..ty.fields().len() as u32 {
                    let element = self.element(value, index)?;
                    fields.push(self.image(element, offset + layout.offset(ty, index), found)?);
                }
                Ok(Value::structure(self.unit.t, &fields, ty.is_packed()))
            }
            Kind::Array(count) => {
                let size = layout.size(ty.element());
                let mut elements = Vec::new();
                for index in 0..count {
                    let element = self.element(value, index as u32)?;
                    elements.push(self.image(element, offset + index * size, found)?);
                }
                // Elements keep their size, but not always their type, so a structure is used for them.
                Ok(Value::structure(self.unit.t, &elements, false))
            }
            Kind::Vector(_) => Ok(value),
            _ => Err(Refusal::new(value, "this constant in a variable's initial value").into()),
        }
    }

    fn zero_image(&self, ty: crate::llvm::Type<'c>) -> Result<Value<'c>, LowerError> {
        let bytes = self.unit.layout().size(ty);
        // The words are pointers, so that the alignment is the same.
        let words = self.unit.t.int(64).array(bytes / 8);
        Ok(Value::zero(words))
    }

    fn element(&self, value: Value<'c>, index: u32) -> Result<Value<'c>, LowerError> {
        value
            .constant_element(index)
            .ok_or_else(|| Refusal::new(value, "this constant in a variable's initial value").into())
    }

    fn image_pointer(
        &self,
        value: Value<'c>,
        offset: u64,
        found: &mut Vec<ImagePointer>,
    ) -> Result<Value<'c>, LowerError> {
        let (mut base, mut addend) = (value, 0i64);
        loop {
            match base.constant_opcode() {
                Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr | Opcode::LLVMBitCast) => {
                    base = base.operand(0);
                }
                Some(Opcode::LLVMGetElementPtr) => {
                    let steps =
                        crate::ir::address::steps(base, self.unit.layout()).filter(|steps| steps.variable.is_empty());
                    let Some(steps) = steps else {
                        return Err(Refusal::new(value, "this address in a variable's initial value").into());
                    };
                    addend = addend.wrapping_add(steps.constant);
                    base = base.operand(0);
                }
                _ => break,
            }
        }
        if let Some(number) = base.as_u64() {
            let address = self.int(64, number.wrapping_add(addend as u64));
            return Ok(address);
        }
        if let Some(target) = self.unit.slots.iter().position(|(global, _)| *global == base) {
            found.push(ImagePointer { offset, target: target as u64, addend });
            return Ok(self.null());
        }
        match self.unit.place(None, base) {
            Some(GlobalAddress::Function(Entry::Function(function))) if addend == 0 => Ok(function),
            Some(GlobalAddress::Kernel(number)) if addend == 0 => Ok(self.int(64, number)),
            // This is a pure virtual function or a type description that no kernel can use.
            None if base.is_global() => Ok(self.null()),
            _ => Err(Refusal::new(value, "this address in a variable's initial value").into()),
        }
    }
}

fn contains_pointers(ty: crate::llvm::Type<'_>) -> bool {
    match ty.kind() {
        Kind::Array(_) | Kind::Vector(_) => contains_pointers(ty.element()),
        Kind::Struct => ty.fields().into_iter().any(contains_pointers),
        _ => false,
    }
}
