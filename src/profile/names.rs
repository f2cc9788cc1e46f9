//! Small things that rows of several sections share.

use warpline_format::site_table::Op;

/// An operation's name in the document.
pub(crate) fn op_name(op: Op) -> &'static str {
    match op {
        Op::Load => "load",
        Op::Store => "store",
        Op::Atomic => "atomic",
    }
}

/// Whether a figure is left out of the document.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
pub(super) fn is_nothing(bytes: &u32) -> bool {
    *bytes == 0
}
