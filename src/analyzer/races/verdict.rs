//! What to make of two accesses of the same bytes by different warps.

use warpline_format::site_table::{Op, SiteTable, Stored};

use super::shadow::{Mark, flags};

/// Whose warps meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Of one block, between the same barriers.
    Block,
    /// Of different blocks of a launch.
    Grid,
}

/// What a conflict is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing orders the two: the result depends on who comes first.
    Race,
    /// All stores are of one place in the source, which may store the same value in all threads.
    OneStore,
    /// A constant that some blocks store while others read, as flags are; or a counter that is read while others add to it.
    Flag,
    /// One may have learned from the other, through an atomic operation or a volatile flag, that it can go on.
    MaybeOrdered,
}

/// What becomes of a meeting; `None`: nothing to tell.
pub(super) fn judge(table: &SiteTable, mine: &Mark, other: &Mark) -> Option<(Scope, Verdict)> {
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
    if both & flags::MEETS != 0 || !(mine.writes() || other.writes()) {
        return None;
    }
    let [one, two] = [mine, other].map(|mark| &table.sites[mark.site as usize]);
    let [stored, other_stored] = [mine, other].map(|mark| table.hint(mark.site).stored);
    let stores = one.op == Op::Store && two.op == Op::Store;
    if stores
        && one.bytes == two.bytes
        && stored == other_stored
        && match stored {
            Stored::Anything => false,
            Stored::Constant(_) => true,
            // Another site's argument may be another argument.
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
        // Unrolled loops have several instructions at one place.
        let verdict = if one.chain == two.chain { Verdict::OneStore } else { Verdict::Race };
        return Some((scope, verdict));
    }
    if scope == Scope::Grid {
        let (reader, writer) = if mine.writes() { (two, stored) } else { (one, other_stored) };
        let atomic = one.op == Op::Atomic || two.op == Op::Atomic;
        if reader.op == Op::Load && (atomic || writer != Stored::Anything) {
            return Some((scope, Verdict::Flag));
        }
    }
    Some((scope, Verdict::Race))
}
