//! Collects the data of a kernel that `predict` needs: its address expressions and the arguments of its launches.

use std::collections::BTreeSet;

use warpline_format::access::Space;
use warpline_format::expression::{
    AddressExpression, Expression, ExpressionId, ExpressionKind, LoopExpression, LoopId,
};
use warpline_format::site_table::{Bundle, Op, SiteTable};

use crate::build::rows::{chain_place, op_name};
use crate::model::{Addresses, Parameter, Unreached, Variable};
use warpline_analyzer::analysis::{Analysis, KernelData};
use warpline_analyzer::attribution::Module;

/// Returns the addresses of a kernel; `None` if its module has no expressions for it.
pub(in crate::build) fn of_kernel(analysis: &Analysis, kernel: &KernelData) -> Option<Addresses> {
    let module = analysis.modules.get(&kernel.module)?;
    let table = &module.table;
    let mut addresses = of_table(table, kernel.function)?;
    for entry in &addresses.expressions {
        let ExpressionKind::Global(number) = entry.kind else { continue };
        let global = Some((kernel.module, number));
        let Some((id, found)) = analysis.allocations.iter().find(|(_, data)| data.event.global == global) else {
            continue;
        };
        addresses.globals.push(Variable { number, allocation: *id, address: found.event.address });
    }
    // Launches of another shape or size may reach these sites, which have no rows.
    let reached: BTreeSet<u32> = kernel.cells.iter().map(|(key, _)| key.site).collect();
    let others = addresses.sites.iter().filter(|one| !reached.contains(&one.site));
    addresses.unreached = others.filter_map(|one| unreached(module, one.site)).collect();
    addresses.resources = analysis.resources.get(&(kernel.module, kernel.function)).cloned().unwrap_or_default();
    Some(addresses)
}

/// Returns the description of a site that no thread reached, from the site table.
fn unreached(module: &Module, site: u32) -> Option<Unreached> {
    let entry = module.table.sites.get(site as usize)?;
    let is_shared = entry.space == Space::Shared;
    Some(Unreached {
        site,
        line: chain_place(module, &entry.chain).user.line,
        op: op_name(entry.op).to_owned(),
        space: if is_shared { "shared" } else { "global" }.to_owned(),
        bytes: entry.bytes,
        past_l1: entry.op == Op::Load && !is_shared && entry.cache.is_past_l1(),
    })
}

/// Returns the addresses of a function from its module's table.
pub fn of_table(table: &SiteTable, function: u32) -> Option<Addresses> {
    let own = |address: &&AddressExpression| table.sites[address.site as usize].function == function;
    let sites: Vec<AddressExpression> = table.addresses.iter().filter(own).cloned().collect();
    if sites.is_empty() {
        return None;
    }
    let is_own = |site: u32| sites.binary_search_by_key(&site, |one| one.site).is_ok();
    let of_bundle = |bundle: &Bundle| bundle.members.iter().map(|member| member.site).collect::<Vec<u32>>();
    let bundles =
        table.bundles.iter().map(of_bundle).filter(|sites| sites.len() > 1 && sites.iter().all(|&site| is_own(site)));
    let bundles = bundles.collect();
    let mut addresses = subset(table, sites);
    addresses.bundles = bundles;
    let parameters = table.parameters.iter().filter(|one| one.function == function);
    addresses.parameters = parameters
        .map(|one| Parameter {
            number: one.parameter,
            offset: one.offset,
            bytes: one.bytes,
            name: one.name.and_then(|name| table.names.get(name as usize)).cloned(),
        })
        .collect();
    Some(addresses)
}

/// Returns the expressions that some sites need, with new numbers.
fn subset(table: &SiteTable, mut sites: Vec<AddressExpression>) -> Addresses {
    let mut taken = CopiedExpressions::new(table);
    for site in &mut sites {
        site.address = taken.expression(site.address);
        site.guard = site.guard.map(|guard| taken.expression(guard));
        site.loops = site.loops.iter().map(|&lap| taken.lap(lap)).collect();
    }
    // The ends of loops may refer to further loops.
    let mut at = 0;
    while at < taken.order.len() {
        let lap = &table.loops[taken.order[at] as usize];
        let around = lap.around.iter().map(|&lap| taken.lap(lap)).collect();
        let ends = lap.ends.iter().map(|&end| taken.expression(end)).collect();
        taken.loops[at] = LoopExpression { line: lap.line, around, ends };
        at += 1;
    }
    Addresses {
        expressions: taken.expressions,
        sites,
        loops: taken.loops,
        shared: taken.shared,
        ..Addresses::default()
    }
}

/// Expressions and loops that were copied, with their new numbers.
struct CopiedExpressions<'a> {
    table: &'a SiteTable,
    expressions: Vec<Expression>,
    known: Vec<Option<ExpressionId>>,
    loops: Vec<LoopExpression>,
    order: Vec<LoopId>,
    shared: Vec<String>,
}

impl<'a> CopiedExpressions<'a> {
    fn new(table: &'a SiteTable) -> CopiedExpressions<'a> {
        let known = vec![None; table.expressions.len()];
        CopiedExpressions {
            table,
            expressions: Vec::new(),
            known,
            loops: Vec::new(),
            order: Vec::new(),
            shared: Vec::new(),
        }
    }

    fn lap(&mut self, lap: LoopId) -> LoopId {
        if let Some(at) = self.order.iter().position(|one| *one == lap) {
            return at as LoopId;
        }
        self.order.push(lap);
        self.loops.push(LoopExpression::default());
        self.order.len() as LoopId - 1
    }

    /// Operands precede the expressions that use them, so a table has no cycles.
    fn expression(&mut self, id: ExpressionId) -> ExpressionId {
        let mut work = vec![id];
        while let Some(&next) = work.last() {
            if self.known[next as usize].is_some() {
                work.pop();
                continue;
            }
            let mut entry = self.table.expressions[next as usize];
            let before = work.len();
            work.extend(entry.kind.operands().filter(|of| self.known[*of as usize].is_none()));
            if work.len() > before {
                continue;
            }
            entry.kind = entry.kind.with_operands(|of| self.known[of as usize].unwrap_or_default());
            match &mut entry.kind {
                ExpressionKind::Counter(lap) => *lap = self.lap(*lap),
                ExpressionKind::Shared(number) => {
                    let name = &self.table.shared[*number as usize];
                    let known = self.shared.iter().position(|one| one == name);
                    *number = known.unwrap_or_else(|| {
                        self.shared.push(name.clone());
                        self.shared.len() - 1
                    }) as u32;
                }
                _ => {}
            }
            self.known[next as usize] = Some(self.expressions.len() as ExpressionId);
            self.expressions.push(entry);
            work.pop();
        }
        self.known[id as usize].unwrap_or_default()
    }
}
