//! Inserts the hooks of `docs/design/borders.md` section 2 into prepared device code, and creates its site table.

use super::accesses::access::{Access, Lanewise, Seen};
use super::accesses::inspect::inspect;
use super::accesses::matrix::Addresses;
use super::error::DeviceError;
use super::options::HookOptions;
use super::rows::addresses::Addresses as Expressions;
use super::rows::flow::{Flow, in_warp_order};
use super::rows::locate::Places;
use super::rows::members::Members;
use super::rows::table::Table;
use super::rows::{atomics, elements, fence, hint, operand, parts};
use super::{bundle, globals, member_note};
use crate::ir::border;
use crate::ir::deciders;
use crate::ir::machine::architecture;
use crate::ir::space::number_of;
use crate::llvm::metadata::{self, LIBRARY};
use crate::llvm::module::verify;
use crate::llvm::value::Opcode;
use crate::llvm::{Block, Builder, Layout, Machine, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::access::{MOST_SITES, Space};
use warpline_format::condition::AtomicSite;
use warpline_format::hooks::Hook;
use warpline_format::site_table::{Branch, CacheOp, CallSite, NotSeen, Op, Site, SiteTable};

/// Hooks every access, block, branch and remaining call of the module, and returns a table that explains their numbers.
///
/// # Errors
/// Returns [`DeviceError::TooManySites`] if the sites do not fit in a record's site field.
pub fn hook(module: &Module<'_>, machine: &Machine, options: &HookOptions) -> Result<SiteTable, DeviceError> {
    let mut table = Table::new(options);
    let name = globals::main_file(module);
    table.table.arch = architecture(machine);
    globals::list(module, &mut table);
    let hooks = Hooks::declare(module);
    let layout = Layout::from_module(module);
    let functions: Vec<_> = module.functions().into_iter().filter(|function| !function.is_declaration()).collect();
    let numbers: HashMap<_, _> = functions.iter().map(|&function| (function, table.function(function))).collect();
    let fencing = fence::fencing(&functions);
    table.table.fencing = Some(
        functions.iter().filter(|&function| fencing.contains(function)).map(|function| numbers[function]).collect(),
    );
    let mut expressions = Expressions::new(module);
    let mut members = Members::new(module);
    for &function in &functions {
        // Hooks may split blocks, so the blocks are listed before.
        let blocks = in_warp_order(&function.blocks());
        let number = numbers[&function];
        expressions.follow((function, number), &blocks, layout, &mut table.table.shared);
        let in_library = table.table.functions[numbers[&function] as usize].in_library;
        let mut hooker = Hooker {
            table: &mut table,
            hooks: &hooks,
            builder: Builder::new(function.types()),
            places: Places::new(function),
            operands: operand::Operands::default(),
            loads: HashMap::new(),
            expressions: &mut expressions,
            members: &mut members,
            function: number,
            value: function,
            in_library,
            load_cache: options.load_cache,
            layout,
            module,
        };
        let (flow, first) = (Flow::new(&blocks), hooker.table.table.blocks.len());
        let conditions = deciders::conditions(function, &blocks);
        let branches: Vec<Option<u32>> = blocks.iter().map(|&block| hooker.block(block)).collect();
        hooker.table.table.decisions.extend(flow.decisions(first as u32, &branches));
        let branching = conditions.into_iter().zip(&branches).filter(|(_, branch)| branch.is_some());
        hooker.table.table.conditions.extend(branching.map(|(condition, _)| condition.unwrap_or_default()));
    }
    expressions.finish(&mut table);
    let mut table = table.table;
    if table.sites.len() > MOST_SITES {
        return Err(DeviceError::TooManySites { module: name, count: table.sites.len(), limit: MOST_SITES });
    }
    if options.bundles {
        bundle::bundle(module, &mut table);
    }
    verify(module, "hooking of device code")?;
    table.module = name;
    table.hash = format!("{:016x}", fingerprint(module.write_bitcode_to_memory().as_slice()));
    Ok(table)
}

/// Returns the 64-bit FNV-1a hash, which distinguishes modules and is not cryptographic.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The hook functions, declared in the module.
struct Hooks<'c>(HashMap<Hook, Value<'c>>);

impl<'c> Hooks<'c> {
    fn declare(module: &Module<'c>) -> Self {
        // Member hooks are created with their bundles.
        let now = Hook::all().filter(|hook| !matches!(hook, Hook::Member(_)));
        Hooks(now.map(|hook| (hook, border::hook(module, hook))).collect())
    }

    fn get(&self, hook: Hook) -> Value<'c> {
        self.0[&hook]
    }
}

/// Hooks one function.
struct Hooker<'t, 'o, 'c, 'm> {
    table: &'t mut Table<'o>,
    hooks: &'t Hooks<'c>,
    builder: Builder<'c>,
    places: Places<'c>,
    operands: operand::Operands<'c>,
    /// The sites of the loads so far.
    loads: HashMap<Value<'c>, u32>,
    expressions: &'t mut Expressions<'c>,
    members: &'t mut Members<'c>,
    function: u32,
    value: Value<'c>,
    in_library: bool,
    /// See [`HookOptions::load_cache`].
    load_cache: CacheOp,
    layout: Layout<'m>,
    module: &'m Module<'c>,
}

impl<'c> Hooker<'_, '_, 'c, '_> {
    fn number(&self, number: usize) -> Value<'c> {
        Value::int(self.builder.types().int(32), number as u64)
    }

    /// Returns the number of the branch at the end of the block, if there is one.
    fn block(&mut self, block: Block<'c>) -> Option<u32> {
        let branches = self.table.table.branches.len();
        let instructions = block.instructions();
        let chain = self.places.block(block).map(|location| self.table.chain(location)).unwrap_or_default();
        let number = self.table.table.blocks.len() as u32;
        let (mix, parts) = parts::of_block(block, number, self.table);
        self.table.table.blocks.push(warpline_format::site_table::Block { function: self.function, chain, mix });
        self.table.table.parts.extend(parts);
        if let Some(&first) = instructions.iter().find(|instruction| !instruction.is_phi()) {
            self.builder.before(first);
            self.builder.call(self.hooks.get(Hook::Block), &[self.number(self.table.table.blocks.len() - 1)]);
        }
        for instruction in instructions {
            match instruction.opcode() {
                Some(Opcode::LLVMBr) => self.branch(instruction),
                Some(Opcode::LLVMSwitch) => self.switch(instruction),
                Some(Opcode::LLVMCall) => {
                    self.accesses(instruction);
                    self.call(instruction);
                }
                _ => self.accesses(instruction),
            }
            // The notes are not needed any more.
            for note in [metadata::LOCATION, metadata::NEAR, LIBRARY] {
                metadata::clear(instruction, note);
            }
            member_note::clear(instruction);
        }
        let ends_in_branch = self.table.table.branches.len() > branches;
        if ends_in_branch {
            self.table.table.branch_blocks.push(number);
        }
        ends_in_branch.then_some(branches as u32)
    }

    /// Returns the cache operator of an access. For plain loads from possibly global memory, it is the operator of the
    /// command line.
    fn cache_op(&self, access: &Access<'c>) -> CacheOp {
        let is_plain_load = access.op == Op::Load && access.cache == CacheOp::Default;
        match access.space {
            Space::Global | Space::Generic if is_plain_load => self.load_cache,
            _ => access.cache,
        }
    }

    fn accesses(&mut self, instruction: Value<'c>) {
        let seen = inspect(instruction, self.layout);
        if seen.is_empty() {
            return;
        }
        let found = self.places.access(instruction);
        let chain = match found {
            Some(found) => self.table.chain(found.location),
            None => vec![self.table.definition(self.value)],
        };
        let approximate = found.is_none_or(|found| found.approximate);
        let in_library = self.in_library || instruction.has_note(LIBRARY);
        let elements = elements::moved_elements(instruction, &seen, self.layout);
        for (number, entry) in seen.into_iter().enumerate() {
            match entry {
                Seen::Access(access) => {
                    let site = self.table.table.sites.len();
                    self.table.element(elements[number]);
                    self.table.table.sites.push(Site {
                        function: self.function,
                        op: access.op,
                        space: access.space,
                        bytes: access.bytes,
                        byte_mask: access.byte_mask,
                        align: access.align,
                        cache: self.cache_op(&access),
                        chain: chain.clone(),
                        approximate,
                        in_library,
                    });
                    if let Some(hint) = hint::find(instruction, site as u32, &access, &mut self.table.table.shared) {
                        self.table.table.hints.push(hint);
                    }
                    if access.op == Op::Load {
                        self.loads.insert(instruction, site as u32);
                    }
                    let known = (self.operands.forms(), &self.loads);
                    self.table.table.conflict_hints.extend(hint::of_conflicts(
                        instruction,
                        site as u32,
                        access.op,
                        known,
                        self.layout,
                    ));
                    if let Some(kind) = (access.op == Op::Atomic).then(|| atomics::kind(instruction)).flatten() {
                        self.table.table.atomics.push(AtomicSite { site: site as u32, kind });
                    }
                    self.operand(site as u32, &access);
                    self.members.add(instruction, (site as u32, &access), self.layout, self.table);
                    self.expressions.add(instruction, number, site as u32);
                    self.access(instruction, site, access);
                }
                Seen::Texture { op, cache, sizes, what } => {
                    self.builder.before(instruction);
                    let first = self.number(self.table.table.sites.len());
                    self.builder.call(self.hooks.get(Hook::Texture), &[first]);
                    self.table.table.sites.extend(sizes.into_iter().map(|bytes| Site {
                        function: self.function,
                        op,
                        space: Space::Global,
                        bytes,
                        byte_mask: None,
                        align: 1,
                        cache,
                        chain: chain.clone(),
                        approximate,
                        in_library,
                    }));
                    let what = format!("{}{what}", NotSeen::ON_GPU);
                    self.table.table.not_seen.push(NotSeen { function: self.function, chain: chain.clone(), what });
                }
                Seen::Not(what) => {
                    self.table.table.not_seen.push(NotSeen { function: self.function, chain: chain.clone(), what })
                }
            }
        }
    }

    fn operand(&mut self, site: u32, access: &Access<'c>) {
        let found = self.operands.operand(access, self.layout);
        self.table.operand(site, found);
    }

    fn access(&self, instruction: Value<'c>, site: usize, access: Access<'c>) {
        let space = number_of(access.space);
        let function = self.hooks.get(Hook::Access(access.space));
        let builder = &self.builder;
        builder.before(instruction);
        if let Some(guard) = access.guard {
            let condition = builder.icmp(guard.predicate, guard.left, guard.right);
            match condition.as_u64() {
                Some(0) => return,
                Some(_) => {}
                // The hook is in a separate block. The block is not counted, and its branch is not part of the program.
                None => builder.before(instruction.split_if(condition)),
            }
        }
        let wanted = builder.types().pointer(space);
        let computed = Addresses { builder, module: self.module };
        let address = match access.address.lanewise {
            Lanewise::Rows(rows) => computed.row(access.address.value, rows),
            _ => access.address.value,
        };
        // Addresses in inline assembly are integers, or pointers in another space than that of the opcode.
        let pointer = if !address.ty().is_pointer() {
            builder.int_to_ptr(address, wanted)
        } else if address.address_space() != space {
            builder.cast(Opcode::LLVMAddrSpaceCast, address, wanted)
        } else {
            address
        };
        let pointer = match access.address.offset {
            0 => pointer,
            offset => {
                let byte = builder.types().int(8);
                builder.gep(byte, pointer, &[Value::int(builder.types().int(64), offset)])
            }
        };
        let pointer = match access.address.lanewise {
            Lanewise::Fragment { access, stride, dense, bits } => {
                builder.gep(builder.types().int(8), pointer, &[computed.fragment_offset(access, stride, dense, bits)])
            }
            Lanewise::Blocks { blocks, count, stride, dense, bits } => {
                let offset = computed.block(&blocks[..count as usize], stride, dense, bits);
                builder.gep(builder.types().int(8), pointer, &[offset])
            }
            _ => pointer,
        };
        builder.call(function, &[self.number(site), pointer]);
    }

    fn chain_of(&mut self, instruction: Value<'c>) -> Vec<u32> {
        self.places.other(instruction).map(|location| self.table.chain(location)).unwrap_or_default()
    }

    fn branch(&mut self, branch: Value<'c>) {
        let Some(condition) = branch.condition() else { return };
        let location = self.places.branch(branch, condition);
        let chain = location.map(|location| self.table.chain(location)).unwrap_or_default();
        let number = self.table.table.branches.len();
        self.table.table.branches.push(Branch { function: self.function, chain, sides: 2 });
        self.builder.before(branch);
        self.builder.call(self.hooks.get(Hook::Branch), &[self.number(number), condition]);
    }

    /// Hooks a switch. The side is the index of the distinct target; the default's target is the first. Adjacent cases
    /// with the same target are tested together.
    fn switch(&mut self, switch: Value<'c>) {
        let successors = switch.successors();
        let mut targets: Vec<Block<'c>> = Vec::new();
        let mut cases: Vec<(Value<'c>, i64, usize)> = Vec::new();
        for (index, &target) in successors.iter().enumerate() {
            let side = targets.iter().position(|&known| known == target).unwrap_or_else(|| {
                targets.push(target);
                targets.len() - 1
            });
            let Some(case) = switch.switch_case(index as u32) else { continue };
            // C++ has no cases wider than 64 bits; such cases keep their own test.
            cases.push((case, case.as_i64().unwrap_or(i64::MIN), side));
        }
        cases.retain(|case| case.2 != 0);
        cases.sort_by_key(|case| (case.2, case.1));
        let chain = self.chain_of(switch);
        let number = self.table.table.branches.len();
        let sides = targets.len() as u32;
        self.table.table.branches.push(Branch { function: self.function, chain, sides });
        let builder = &self.builder;
        builder.before(switch);
        let value = switch.operand(0);
        let mut side = self.number(0);
        let mut at = 0;
        while at < cases.len() {
            let (low, first, target) = cases[at];
            let mut end = at + 1;
            while end < cases.len() && cases[end].2 == target && cases[end].1 == first.wrapping_add((end - at) as i64) {
                end += 1;
            }
            let test = if end - at == 1 {
                builder.eq(value, low)
            } else {
                let span = Value::int(value.ty(), (end - at) as u64);
                builder.ult(builder.sub(value, low), span)
            };
            side = builder.select(test, self.number(target), side);
            at = end;
        }
        builder.call(self.hooks.get(Hook::Switch), &[self.number(number), side]);
    }

    /// Hooks calls of functions of the module, and calls through pointers. Functions that are only declared belong to
    /// the device runtime.
    fn call(&mut self, call: Value<'c>) {
        let Some(callee) = call.called_value() else { return };
        if callee.is_inline_asm() || (callee.is_function() && callee.is_declaration()) {
            return;
        }
        let chain = self.chain_of(call);
        let number = self.table.table.calls.len();
        self.table.table.calls.push(CallSite { caller: self.function, chain });
        self.builder.before(call);
        self.builder.call(self.hooks.get(Hook::Call), &[self.number(number)]);
        if let Some(next) = call.next() {
            self.builder.before(next);
            self.builder.call(self.hooks.get(Hook::Return), &[]);
        }
    }
}
