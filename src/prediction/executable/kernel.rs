//! Creates the profile of a kernel of an executable as if it had been launched once, without measurements.

use std::collections::BTreeMap;

use warpline_format::access::Space;
use warpline_format::expression::{Binary, ExpressionId, ExpressionKind};
use warpline_format::site_table::{Op, SiteTable};

use super::{BuiltKernel, Module};
use warpline_profile::addresses_of;
use warpline_profile::model::{Addresses, Argument, Kernel, Launch, Site, Variable};

/// Address of the first array. Each array gets an address range of this size.
const FIRST: u64 = 1 << 40;
const ROOM: u64 = 1 << 38;

/// A kernel that was never launched.
#[derive(Clone, Debug)]
pub struct Unlaunched {
    /// The kernel, with one launch.
    pub kernel: Kernel,
    /// Rows of its accesses.
    pub sites: Vec<Site>,
    /// Names of parameters that have no value yet.
    pub missing: Vec<String>,
    /// Number of accesses whose addresses the compiler does not provide.
    pub left_out: usize,
}

/// Creates a launch of a kernel with a given shape and given values of parameters. Each pointer parameter gets a
/// separate array.
pub fn made_up(
    module: &Module,
    built: &BuiltKernel,
    block: [u32; 3],
    grid: [u32; 3],
    values: &BTreeMap<String, i64>,
) -> Option<Unlaunched> {
    let table = &module.table;
    let function = table.functions.get(built.function as usize)?;
    let mut addresses = addresses_of(table, built.function)?;
    addresses.resources.clone_from(&built.resources);
    for entry in &addresses.expressions {
        if let ExpressionKind::Global(number) = entry.kind
            && !addresses.globals.iter().any(|one| one.number == number)
        {
            let allocation = u64::from(number) + (1 << 32);
            let address = FIRST / 2 + u64::from(number) * (ROOM >> 8);
            addresses.globals.push(Variable { number, allocation, address });
        }
    }
    let pointers = pointers(&addresses, values);
    let mut arguments = Vec::new();
    let mut missing = Vec::new();
    for one in &addresses.parameters {
        let name = one.name.clone().unwrap_or_else(|| format!("parameter{}", one.number));
        let mut argument =
            Argument { parameter: one.number, offset: one.offset, bytes: one.bytes, value: 0, allocation: None };
        if let Some(&value) = values.get(&name) {
            argument.value = value as u64;
        } else if let Some(place) = pointers.iter().position(|known| *known == (one.number, one.offset)) {
            argument.value = FIRST + place as u64 * ROOM;
            argument.allocation = Some(place as u64);
        } else {
            if uses(&addresses, one.number, one.offset) {
                missing.push(name);
            }
            continue;
        }
        arguments.push(argument);
    }
    let sites = addresses.sites.iter().filter_map(|one| row(table, one.site)).collect();
    let own = table.sites.iter().filter(|site| site.function == built.function).count();
    let left_out = own.saturating_sub(addresses.sites.len());
    let frame = table.frames.get(function.frame as usize);
    let file = frame.and_then(|frame| table.files.get(frame.file as usize));
    let launch =
        Launch { grid, block, static_shared_bytes: built.shared_bytes, registers: 32, arguments, ..Launch::default() };
    let kernel = Kernel {
        name: function.name.clone(),
        mangled: function.mangled.clone(),
        module: table.module.clone(),
        file: file.map(|file| file.path.clone()).unwrap_or_default(),
        line: frame.map_or(0, |frame| frame.line),
        launches: vec![launch],
        launch_count: 1,
        addresses: Some(addresses),
        ..Kernel::default()
    };
    Some(Unlaunched { kernel, sites, missing, left_out })
}

/// Returns the location (`file:line`) at which a kernel calls a function that was not inlined, if such functions of the
/// executable make accesses. The site table does not contain which function is called, and the addresses depend on the
/// caller.
pub fn unseen_call(modules: &[Module], module: &Module, built: &BuiltKernel) -> Option<String> {
    let is_kernel = |own: &Module, function: u32| own.kernels.iter().any(|kernel| kernel.function == function);
    let makes_accesses = modules.iter().any(|own| own.table.sites.iter().any(|site| !is_kernel(own, site.function)));
    let table = &module.table;
    let call = table.calls.iter().find(|call| call.caller == built.function).filter(|_| makes_accesses)?;
    let frame = call.chain.first().and_then(|frame| table.frames.get(*frame as usize));
    let file = frame.and_then(|frame| table.files.get(frame.file as usize));
    Some(match (file, frame) {
        (Some(file), Some(frame)) => format!("{}:{}", file.path, frame.line),
        _ => "it".to_owned(),
    })
}

/// Returns the row of a site with the figures that are known without a run.
fn row(table: &SiteTable, number: u32) -> Option<Site> {
    let site = table.sites.get(number as usize)?;
    let frame = site.chain.first().and_then(|frame| table.frames.get(*frame as usize));
    let file = frame.and_then(|frame| table.files.get(frame.file as usize));
    Some(Site {
        id: number,
        file: file.map(|file| file.path.clone()).unwrap_or_default(),
        line: frame.map_or(0, |frame| frame.line),
        column: frame.map_or(0, |frame| frame.column),
        op: match site.op {
            Op::Load => "load",
            Op::Store => "store",
            Op::Atomic => "atomic",
        }
        .to_owned(),
        space: match site.space {
            Space::Shared => "shared",
            _ => "global",
        }
        .to_owned(),
        bytes: site.bytes,
        past_l1: site.op == Op::Load && site.cache.is_past_l1(),
        ..Site::default()
    })
}

/// Returns whether some expression depends on a parameter.
fn uses(addresses: &Addresses, number: u32, at: u32) -> bool {
    let is_it =
        |kind| matches!(kind, ExpressionKind::Parameter { parameter, offset } if (parameter, offset) == (number, at));
    addresses.expressions.iter().any(|entry| is_it(entry.kind))
}

/// Returns the parameters that serve as base addresses: they are added without a factor, and have no given number.
fn pointers(addresses: &Addresses, values: &BTreeMap<String, i64>) -> Vec<(u32, u32)> {
    let given = |parameter: u32, offset: u32| {
        let known = addresses.parameters.iter().find(|one| (one.number, one.offset) == (parameter, offset));
        known.and_then(|one| one.name.as_ref()).is_some_and(|name| values.contains_key(name))
    };
    let mut found = Vec::new();
    for site in &addresses.sites {
        let mut seen = vec![false; site.address as usize + 1];
        let mut work: Vec<ExpressionId> = vec![site.address];
        while let Some(id) = work.pop() {
            let entry = addresses.expressions[id as usize];
            if std::mem::replace(&mut seen[id as usize], true) || entry.bits != 64 {
                continue;
            }
            match entry.kind {
                ExpressionKind::Parameter { parameter, offset }
                    if !given(parameter, offset) && !found.contains(&(parameter, offset)) =>
                {
                    found.push((parameter, offset));
                }
                ExpressionKind::Binary(Binary::Sum | Binary::Difference, left, right) => work.extend([left, right]),
                ExpressionKind::Choice(_, one, other) => work.extend([one, other]),
                ExpressionKind::Signed(of) => work.push(of),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    found
}
