//! The complete lowering of a module.

use super::emitter::{Emitter, Job};
use super::error::{LowerError, Refusal};
use super::generated::Generated;
use super::options::Options;
use super::shapes::analysis::{Analysis, Version};
use super::shapes::body::Body;
use super::shapes::cautious::find_regions;
use super::shapes::serial::{PointerUses, serial};
use super::shapes::spin::{exchanges_values, spinning_loops};
use super::target::descriptor::{KernelFunctions, Tables};
use super::target::unit::{Entry, Host, Unit};
use super::target::vectors::Vectors;
use crate::ir::class::{Register, register};
use crate::ir::kernel::is_kernel;
use crate::llvm::module::{new_module, verify};
use crate::llvm::{Builder, Machine, ModuleItems, Value};
use inkwell::module::Module;
use std::collections::hash_map;
use std::collections::{BTreeMap, HashMap};
use warpline_format::site_table::SiteTable;

/// Lowers prepared device code to a module for the host.
///
/// `device` is not changed; the result is in the same context. If there is a `table`, it must belong to the hooks of
/// `device`. Without a table, every kernel gets only functions without hooks.
///
/// # Errors
/// [`LowerError::Unsupported`] names the first instruction, with its source line, for which there is no
/// lowering.
pub fn lower<'c>(
    device: &Module<'c>,
    table: Option<&SiteTable>,
    options: &Options<'_>,
) -> Result<Module<'c>, LowerError> {
    let machine = Machine::host(options.processor)?;
    let source = super::target::prepare::prepared(device)?;
    let target = new_module(&source, "warpline.device");
    machine.adopt(&target);
    let host = Host {
        vectors: Vectors::for_machine(&machine),
        gathers: crate::llvm::shim::gathers(&machine, &target),
        processor: (machine.processor(), machine.features()),
    };
    let generated = if table.is_some() { options.generated } else { Generated::Native };
    let unit = Unit::new(source, target, table, host, generated);
    let mut lowering = Lowering {
        unit: &unit,
        generated,
        cautious: options.cautious,
        any_shape: options.any_shape || options.cautious,
        large: options.large,
        most_others: options.serial,
        values: options.values,
        bodies: HashMap::new(),
    };
    let kernels = lowering.run()?;
    Tables { unit: &unit, table }.emit(&kernels, options)?;
    let target = unit.target;
    verify(&target, "lowering to the CPU device")?;
    if options.optimize {
        super::target::optimize::run(&target, &machine)?;
    }
    Ok(target)
}

struct Lowering<'u, 'c> {
    unit: &'u Unit<'c>,
    generated: Generated<'u>,
    cautious: bool,
    any_shape: bool,
    large: usize,
    most_others: usize,
    values: bool,
    bodies: HashMap<Value<'c>, Body<'c>>,
}

impl<'c> Lowering<'_, 'c> {
    fn run(&mut self) -> Result<Vec<(Value<'c>, KernelFunctions<'c>)>, LowerError> {
        let functions: Vec<_> = self.unit.source.functions();
        for &function in &functions {
            if let Some(warp) = self.unit.functions.get(&function) {
                for (hooked, into) in [(false, warp.native), (true, warp.hooked)] {
                    if let Some(into) = into {
                        self.fill(function, Version::General, hooked, into)?;
                    }
                }
                if let Some(Entry::Function(entry)) = warp.entry {
                    fill_entry(entry);
                }
            }
        }
        let mut kernels = Vec::new();
        for (kernel, _) in &self.unit.reach.kernels {
            kernels.push((*kernel, self.kernel(*kernel)?));
        }
        Ok(kernels)
    }

    fn kernel(&mut self, kernel: Value<'c>) -> Result<KernelFunctions<'c>, LowerError> {
        let mut functions = KernelFunctions::default();
        let forms = self.generated.forms_of(&kernel.name());
        if forms.is_empty() {
            return Ok(functions);
        }
        let reached = self.unit.reach.kernels.iter().find(|(one, _)| *one == kernel);
        for function in reached.map(|(_, reached)| reached.clone()).unwrap_or_default() {
            let body = self.body(function)?;
            functions.may_wait |= body.spins.contains(&true);
            functions.exchanges_values |= exchanges_values(body);
        }
        self.body(kernel)?;
        let versions = if self.any_shape { vec![Version::General] } else { self.versions(kernel) };
        let serial = if self.any_shape || !forms.contains(&false) { None } else { self.serial(kernel) };
        for &hooked in forms {
            let mut made = BTreeMap::new();
            let versions = match &serial {
                Some(_) if !hooked => vec![Version::Serial, Version::General],
                _ => versions.clone(),
            };
            for &version in &versions {
                let kind = if hooked { "hooked" } else { "native" };
                let name = format!("warpline.{kind}.{}.{}", version.suffix(), kernel.name());
                let ty = self.unit.t.void().function(&[self.unit.t.pointer(0)]);
                made.insert(version, self.unit.new_warp_function(&name, ty));
            }
            for &version in &versions {
                let mut into = made[&version];
                if version != Version::General && self.reads_grid(kernel) {
                    let body = self.unit.new_warp_function(&format!("{}.body", into.name()), into.value_type());
                    self.guard(into, body, made[&Version::General]);
                    into = body;
                }
                if version == Version::Serial {
                    into = self.each_thread(into);
                }
                self.fill(kernel, version, hooked, into)?;
            }
            // If a version is not worthwhile, it is the same as the general one.
            let general = made[&Version::General];
            for version in [Version::Linear, Version::Half] {
                made.entry(version).or_insert(general);
            }
            *(if hooked { &mut functions.hooked } else { &mut functions.native }) = made;
        }
        functions.pointers = serial.unwrap_or_default();
        Ok(functions)
    }

    /// Returns the pointers of a kernel that gets a native function of [`Version::Serial`], if it gets one. This replaces
    /// the native function for linear blocks.
    fn serial(&self, kernel: Value<'c>) -> Option<PointerUses> {
        serial(self.bodies.get(&kernel)?, &self.unit.parameters(kernel), self.unit.layout(), self.most_others)
    }

    /// Lets a function of [`Version::Serial`] call the returned function, its body, for each lane of its warp.
    fn each_thread(&self, function: Value<'c>) -> Value<'c> {
        let (t, unit) = (self.unit.t, self.unit);
        let ty = t.void().function(&[t.pointer(0), t.int(32)]);
        let body = unit.new_warp_function(&format!("{}.thread", function.name()), ty);
        let [entry, next, end] = ["entry", "next", "end"].map(|name| function.append_block(name));
        let context = function.parameters()[0];
        let b = Builder::new(t);
        b.at_end(entry);
        let live = super::emitter::context::LIVE;
        let all = b.load(live.ty(t), b.offset(context, live.offset), live.align());
        b.branch(next);
        b.at_end(next);
        let lanes = b.phi(t.int(32));
        let lowest = b.call(unit.intrinsic("llvm.cttz", &[t.int(32)]), &[lanes, Value::int(t.int(1), 1)]);
        b.call(body, &[context, lowest]);
        let rest = b.and(lanes, b.sub(lanes, Value::int(t.int(32), 1)));
        lanes.add_incoming(&[(all, entry), (rest, next)]);
        b.branch_if(b.eq(rest, Value::int(t.int(32), 0)), end, next);
        b.at_end(end);
        unit.clear_uppers(&b);
        b.return_void();
        body
    }

    /// Returns the versions that are worthwhile for a kernel.
    fn versions(&self, kernel: Value<'c>) -> Vec<Version> {
        let reads = |wanted: fn(usize) -> bool| {
            self.registers(kernel).any(|one| matches!(one, Register::Thread(dimension) if wanted(dimension)))
        };
        let wanted: &[Version] = if !reads(|_| true) {
            &[]
        } else if reads(|dimension| dimension > 0) {
            &[Version::Linear, Version::Half]
        } else {
            &[Version::Linear]
        };
        let layout = self.unit.layout();
        let kernels = self.unit.reach.kernels.len();
        let worth = |version: &Version| {
            self.bodies
                .get(&kernel)
                .is_some_and(|body| super::shapes::worth::is_worth_it(body, *version, layout, kernels))
        };
        wanted.iter().copied().filter(worth).chain([Version::General]).collect()
    }

    fn registers(&self, kernel: Value<'c>) -> impl Iterator<Item = Register> + use<'c> {
        let values = kernel.blocks().into_iter().flat_map(|block| block.instructions());
        values.filter_map(|value| register(&value.callee_name()))
    }

    fn reads_grid(&self, kernel: Value<'c>) -> bool {
        let reads = |one| {
            use Register::{Block, ClusterIndex, Clusters, GridSize};
            matches!(one, Block(_) | GridSize(_) | ClusterIndex(_) | Clusters(_))
        };
        self.registers(kernel).any(reads)
    }

    fn body(&mut self, function: Value<'c>) -> Result<&Body<'c>, LowerError> {
        Ok(match self.bodies.entry(function) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(place) => {
                let mut body = Body::new(function).ok_or_else(|| {
                    Refusal::new(function, "a loop with several entries that could not be taken apart")
                })?;
                body.spins = spinning_loops(&body);
                if self.cautious {
                    body.regions.push(0..body.end());
                } else {
                    find_regions(&mut body, is_kernel(function), self.unit.layout());
                }
                place.insert(body)
            }
        })
    }

    fn fill(&mut self, function: Value<'c>, version: Version, hooked: bool, into: Value<'c>) -> Result<(), LowerError> {
        self.body(function)?;
        if hooked {
            super::target::hooked::mark(into);
        }
        let body = &self.bodies[&function];
        let analysis = Analysis::new(body, version, is_kernel(function), self.unit.layout());
        let (unit, large, values) = (self.unit, self.large, self.values && hooked);
        let job = Job { unit, body, analysis: &analysis, version, hooked, values, large, function: into };
        Emitter::lower(job).map_err(|mut refusal| {
            if refusal.function.is_empty() {
                refusal.function = function.name();
            }
            LowerError::from(refusal)
        })
    }

    /// Redirects launches of very large grids to the general version, which does not assume small block numbers.
    fn guard(&self, function: Value<'c>, usual: Value<'c>, general: Value<'c>) {
        let start = function.append_block("entry");
        let (small, large) = (function.append_block("small"), function.append_block("large"));
        let b = Builder::new(self.unit.t);
        b.at_end(start);
        let parameters = function.parameters();
        let limit = Value::int(self.unit.t.int(32), crate::ir::class::LARGEST_GRID as u64);
        let mut too_large = Value::int(self.unit.t.int(1), 0);
        for dimension in 0..3 {
            let field = super::emitter::context::GRID_DIM.dimension(dimension);
            let size = b.load(field.ty(self.unit.t), b.offset(parameters[0], field.offset), field.align());
            too_large = b.or(too_large, b.ugt(size, limit));
        }
        b.branch_if(too_large, large, small);
        for (block, target) in [(small, usual), (large, general)] {
            b.at_end(block);
            b.call(target, &[parameters[0]]);
            b.return_void();
        }
    }
}

/// Fills the function whose address represents a device function. Calls compare the address with those of all
/// candidates and call the warp function of the one that is equal, so this function never runs. It is not empty, because
/// empty functions may have the same address.
fn fill_entry(entry: Value<'_>) {
    let b = Builder::new(entry.types());
    b.at_end(entry.append_block("entry"));
    let result = entry.value_type().result();
    if result.is_void() {
        b.return_void();
    } else {
        b.return_value(Value::zero(result));
    }
}
