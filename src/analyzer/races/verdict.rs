//! Judges two accesses to the same bytes by different threads.

use warpline_format::conflict::Update;
use warpline_format::site_table::{Op, Stored};

use super::shadow::{Mark, flags};
use crate::attribution::Module;

/// The relation of the conflicting threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Lanes of one warp in one request.
    Warp,
    /// Warps of one block between the same barriers.
    Block,
    /// Warps of different blocks of a launch.
    Grid,
}

/// Severity of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing orders the accesses, so the result depends on timing.
    Race,
    /// All stores have the same source position, and may store the same value in all threads.
    OneStore,
    /// Some blocks store a constant that others read, as for a flag. Or a load precedes an atomic operation on the same
    /// address that it controls, or that fails if the value has changed (compare-and-swap).
    Flag,
    /// An atomic operation or a volatile flag may have ordered the accesses.
    MaybeOrdered,
}

/// Judges two accesses by different warps; returns `None` if they do not conflict. `axes` has one bit for each
/// dimension of the block with more than one thread.
pub(super) fn judge(module: &Module, axes: u8, mine: &Mark, other: &Mark) -> Option<(Scope, Verdict)> {
    let scope = if mine.block == other.block {
        if mine.interval != other.interval {
            return None;
        }
        Scope::Block
    } else {
        Scope::Grid
    };
    let both = mine.flags & other.flags;
    let either = mine.flags | other.flags;
    if !(mine.writes() || other.writes()) {
        return None;
    }
    let sites = &module.table.sites;
    let [one, two] = [mine, other].map(|mark| &sites[mark.site as usize]);
    let [facts, other_facts] = [mine, other].map(|mark| &module.facts[mark.site as usize]);
    let (hint, other_hint) = (facts.conflict, other_facts.conflict);
    if both & flags::MEETS != 0 {
        let is_narrow = scope == Scope::Grid && (hint.block_scope || other_hint.block_scope);
        return is_narrow.then_some((scope, Verdict::Race));
    }
    let (stored, other_stored) = (facts.stored, other_facts.stored);
    let stores = one.op == Op::Store && two.op == Op::Store;
    if stores
        && one.bytes == two.bytes
        && stored == other_stored
        && match stored {
            Stored::Anything => false,
            Stored::Constant(_) => true,
            // An argument at another site may be a different argument.
            Stored::Argument => mine.site == other.site,
        }
    {
        return None;
    }
    let knows = if scope == Scope::Block { flags::WARP_KNOWS } else { flags::BLOCK_KNOWS };
    if either & (flags::VOLATILE | knows) != 0 {
        return Some((scope, Verdict::MaybeOrdered));
    }
    if stores {
        // Unrolled loops have several instructions at one source position. Threads of different blocks may store equal
        // values.
        let differs = scope == Scope::Block && differs(hint.differs, axes);
        let verdict = if one.chain == two.chain && !differs { Verdict::OneStore } else { Verdict::Race };
        return Some((scope, verdict));
    }
    let (reader, written, writer) = if mine.writes() { (two, stored, hint) } else { (one, other_stored, other_hint) };
    if reader.op == Op::Load {
        // The load precedes an atomic operation that it controls, or that fails if the value has changed.
        let is_loaded_first = sites[writer.site as usize].op == Op::Atomic
            && writer.loaded_by.is_some_and(|load| sites[load as usize].chain == reader.chain);
        if is_loaded_first || scope == Scope::Grid && written != Stored::Anything {
            return Some((scope, Verdict::Flag));
        }
    }
    Some((scope, Verdict::Race))
}

/// Returns whether threads with different indices in any of the block's dimensions store different values
/// ([`warpline_format::conflict::ConflictHint::differs`]).
fn differs(mask: u8, axes: u8) -> bool {
    mask != 0 && mask & axes == axes
}

/// Returns whether lanes of one request that store to the same address conflict. They do if they store different
/// values, or if each computes its value from the old one, because all but one of the updates are lost.
pub(super) fn lanes_conflict(module: &Module, axes: u8, site: u32) -> bool {
    let hint = module.facts[site as usize].conflict;
    module.table.sites[site as usize].op == Op::Store && (hint.update == Update::Value || differs(hint.differs, axes))
}
