//! The expressions of addresses, for the site table.

use super::hint;
use super::table::Table;
use crate::device::accesses::access::{Lanewise, Seen};
use crate::device::accesses::inspect::inspect;
use crate::ir::expressions::{Sink, Variables, Walk};
use crate::ir::globals::device_globals;
use crate::ir::kernel::is_kernel;
use crate::llvm::{Block, Layout, Value};
use inkwell::module::Module;
use std::collections::HashMap;
use warpline_format::access::Space;
use warpline_format::expression::AddressExpression;
use warpline_format::site_table::ParameterName;

/// Collects the expressions of a module.
pub(in crate::device) struct Addresses<'c> {
    sink: Sink,
    globals: HashMap<Value<'c>, u32>,
    /// The expressions for the current function, by instruction and number of the access.
    found: HashMap<(Value<'c>, usize), AddressExpression>,
}

impl<'c> Addresses<'c> {
    pub(in crate::device) fn new(module: &Module<'c>) -> Self {
        let globals = device_globals(module).into_iter().zip(0..).collect();
        Addresses { sink: Sink::default(), globals, found: HashMap::new() }
    }

    /// Builds the expressions for the addresses of a kernel's accesses. The kernel must not have hooks yet, because
    /// hooks change its control flow. Arguments of other functions are not known at the launch.
    pub(in crate::device) fn follow(
        &mut self,
        (function, number): (Value<'c>, u32),
        blocks: &[Block<'c>],
        layout: Layout<'_>,
        shared: &mut Vec<String>,
    ) {
        self.found.clear();
        if !is_kernel(function) {
            return;
        }
        let mut named = |variable| hint::number_of(shared, variable);
        let mut variables = Variables { globals: &self.globals, shared: &mut named };
        let Some(mut walk) = Walk::new(number, blocks.to_vec(), layout, &mut self.sink, &mut variables) else { return };
        for &block in blocks {
            for instruction in block.instructions() {
                for (number, seen) in inspect(instruction, layout).into_iter().enumerate() {
                    let Seen::Access(access) = seen else { continue };
                    let followed = matches!(access.space, Space::Global | Space::Shared | Space::Generic);
                    // If each lane accesses a part of a fragment, the access has no address of this kind.
                    if !followed || !matches!(access.address.lanewise, Lanewise::Own) {
                        continue;
                    }
                    let address = (access.address.value, access.address.offset);
                    let guard = access.guard.map(|guard| (guard.predicate, guard.left, guard.right));
                    if let Some(found) = walk.address(block, address, guard, &mut self.sink, &mut variables) {
                        self.found.insert((instruction, number), found);
                    }
                }
            }
        }
    }

    /// Assigns the address of an instruction's access with this number to a site.
    pub(in crate::device) fn add(&mut self, instruction: Value<'c>, number: usize, site: u32) {
        if let Some(found) = self.found.remove(&(instruction, number)) {
            self.sink.addresses.push(AddressExpression { site, ..found });
        }
    }

    /// Adds the expressions to the table.
    pub(in crate::device) fn finish(mut self, table: &mut Table<'_>) {
        let mut parameters: Vec<_> = std::mem::take(&mut self.sink.parameters).into_iter().collect();
        parameters.sort();
        for ((function, parameter, offset, bytes), name) in parameters {
            let name = name.map(|name| table.name(name));
            table.table.parameters.push(ParameterName { function, parameter, offset, bytes, name });
        }
        let kept = self.sink.finish();
        let table = &mut table.table;
        table.expressions = kept.expressions;
        let mut addresses: Vec<AddressExpression> = kept.addresses;
        addresses.sort_by_key(|address| address.site);
        table.addresses = addresses;
        table.loops = kept.loops;
    }
}
