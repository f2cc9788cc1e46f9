//! Bundles: accesses of a basic block with constant distances between them share one record.
//!
//! Accesses through one address, such as `p->x`, `p->y` or the sixteen elements of an unrolled loop, have one hook with
//! the first access's pointer. The others keep a hook that names their bundle, for the access check and for counters
//! mode. All lanes of a block make all its accesses, so one mask is enough.
//!
//! A record means that its accesses follow one another. Therefore, a bundle ends if another access to the same level of
//! the memory hierarchy comes between, if the warp may wait, if another function writes records, or at the end of the
//! block. Requests to shared memory use no cache and their order has no effect, so bundles with different addresses can
//! grow at the same time.

use crate::ir::border;
use crate::ir::class::gives_way;
use crate::ir::distance::Sum;
use crate::llvm::value::{Opcode, Ordering};
use crate::llvm::{Block, Builder, Layout, ModuleItems, Value};
use inkwell::module::Module;
use warpline_format::access::{MOST_BUNDLES, MOST_MEMBERS, Space, bundle_field};
use warpline_format::hooks::Hook;
use warpline_format::site_table::{Bundle, Member, SiteTable};

/// The maximum number of accesses in a bundle that use caches: the number that a warp makes in one turn of the models.
/// With more, other warps would wait longer in the trace than in the modelled order.
const MOST_CACHED: usize = 4;
/// The maximum distance from the first access.
const FARTHEST: i64 = 1 << 20;
const ACCESS: &str = "__warpline_access_";

/// Bundles the hooked accesses of a module.
pub(super) fn bundle(module: &Module<'_>, table: &mut SiteTable) {
    let layout = Layout::from_module(module);
    for function in module.functions().into_iter().filter(|function| !function.is_declaration()) {
        for block in function.blocks() {
            let mut bundler = Bundler { module, layout, table, cached: None, shared: Vec::new() };
            bundler.block(block);
        }
    }
}

/// A bundle that may grow.
struct Open<'c> {
    address: Sum<'c>,
    space: Space,
    hooks: Vec<Value<'c>>,
    members: Vec<Member>,
}

struct Bundler<'b, 'c> {
    module: &'b Module<'c>,
    layout: Layout<'b>,
    table: &'b mut SiteTable,
    /// The open bundle of accesses that use caches.
    cached: Option<Open<'c>>,
    shared: Vec<Open<'c>>,
}

impl<'c> Bundler<'_, 'c> {
    fn block(&mut self, block: Block<'c>) {
        for instruction in block.instructions() {
            if instruction.is_call() && instruction.callee_name().starts_with(ACCESS) {
                self.access(instruction);
            } else if gives_way(instruction) {
                self.close_all();
            }
        }
    }

    fn access(&mut self, hook: Value<'c>) {
        let operands = hook.arguments();
        let Some(site) = operands.first().and_then(|site| site.as_u64()).map(|site| site as u32) else { return };
        let Some(entry) = self.table.sites.get(site as usize) else { return };
        let (space, align) = (entry.space, i64::from(entry.align.max(1)));
        match space {
            Space::Shared => {}
            // The access may also be to shared memory.
            Space::Generic => self.close_shared(),
            _ => {}
        }
        let plain = hook.next().is_some_and(is_plain_access);
        let address = Sum::from_pointer(operands[1], self.layout);
        let joins = |open: &Open<'c>| {
            let distance = open.address.to(&address)?;
            let most = if space == Space::Shared { MOST_MEMBERS } else { MOST_CACHED };
            // The first address is checked for the alignment that all accesses need.
            let fits = open.space == space && open.members.len() < most && distance % align == 0;
            (fits && distance.abs() <= FARTHEST).then_some(distance as i32)
        };
        let open = if space == Space::Shared { self.shared.iter_mut() } else { self.cached.as_mut_slice().iter_mut() };
        if plain {
            for open in open {
                if let Some(offset) = joins(open) {
                    open.hooks.push(hook);
                    open.members.push(Member { site, offset });
                    return;
                }
            }
        }
        if space != Space::Shared {
            self.close_cached();
        }
        if !plain {
            return;
        }
        let open = Open { address, space, hooks: vec![hook], members: vec![Member { site, offset: 0 }] };
        if space == Space::Shared {
            self.shared.push(open);
        } else {
            self.cached = Some(open);
        }
    }

    fn close_all(&mut self) {
        self.close_cached();
        self.close_shared();
    }

    fn close_cached(&mut self) {
        if let Some(open) = self.cached.take() {
            self.close(open);
        }
    }

    fn close_shared(&mut self) {
        for open in std::mem::take(&mut self.shared) {
            self.close(open);
        }
    }

    /// Converts the hooks to those of a bundle, if there are several.
    fn close(&mut self, open: Open<'c>) {
        if open.hooks.len() < 2 || self.table.bundles.len() >= MOST_BUNDLES {
            return;
        }
        let types = ModuleItems::types(self.module);
        let number = types.int(32);
        let index = self.table.bundles.len() as u32;
        let field = bundle_field(index, open.members.len() as u32);
        open.hooks[0].set_operand(0, Value::int(number, u64::from(field)));
        for (hook, member) in open.hooks.iter().zip(&open.members).skip(1) {
            let Some(Hook::Access(space)) = Hook::of_name(&hook.callee_name()) else { continue };
            let pointer = hook.operand(1);
            let function = border::hook(self.module, Hook::Member(space));
            let builder = Builder::new(types);
            builder.before(*hook);
            let constant = |value: u32| Value::int(number, u64::from(value));
            builder.call(function, &[constant(member.site), pointer, constant(index)]);
            hook.erase();
        }
        self.table.bundles.push(Bundle { members: open.members });
    }
}

/// Returns whether an instruction is a load or store that is not atomic.
fn is_plain_access(instruction: Value<'_>) -> bool {
    let access = matches!(instruction.opcode(), Some(Opcode::LLVMLoad | Opcode::LLVMStore));
    access && instruction.ordering().is_none_or(|order| order == Ordering::LLVMAtomicOrderingNotAtomic)
}
