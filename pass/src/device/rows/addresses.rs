//! The expressions of addresses, for the site table.

use super::hint;
use super::table::Table;
use crate::device::accesses::access::{Access, Lanewise};
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
}

impl<'c> Addresses<'c> {
    pub(in crate::device) fn new(module: &Module<'c>) -> Self {
        let globals = device_globals(module).into_iter().zip(0..).collect();
        Addresses { sink: Sink::default(), globals }
    }

    /// Follows the values of a kernel. What other functions are given is not known at the launch.
    pub(in crate::device) fn walk<'m>(
        &mut self,
        (function, number): (Value<'c>, u32),
        blocks: &[Block<'c>],
        layout: Layout<'m>,
        shared: &mut Vec<String>,
    ) -> Option<Walk<'c, 'm>> {
        if !is_kernel(function) {
            return None;
        }
        let mut named = |variable| hint::number_of(shared, variable);
        let mut variables = Variables { globals: &self.globals, shared: &mut named };
        Walk::new(number, blocks.to_vec(), layout, &mut self.sink, &mut variables)
    }

    /// Adds the address of an access in `block`.
    pub(in crate::device) fn add(
        &mut self,
        walk: &mut Walk<'c, '_>,
        (site, block): (u32, Block<'c>),
        access: &Access<'c>,
        shared: &mut Vec<String>,
    ) {
        let followed = matches!(access.space, Space::Global | Space::Shared | Space::Generic);
        // An access whose lanes each take a part of a fragment has no address of this kind.
        if !followed || !matches!(access.address.lanewise, Lanewise::Own) {
            return;
        }
        let mut named = |variable| hint::number_of(shared, variable);
        let mut variables = Variables { globals: &self.globals, shared: &mut named };
        let address = (access.address.value, access.address.offset);
        let guard = access.guard.map(|guard| (guard.predicate, guard.left, guard.right));
        if let Some(found) = walk.address(site, block, (address, guard), &mut self.sink, &mut variables) {
            self.sink.addresses.push(found);
        }
    }

    /// Puts them into the table.
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
