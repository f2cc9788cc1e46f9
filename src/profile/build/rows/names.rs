//! Names that rows of several sections share.

use warpline_format::site_table::Op;

/// Returns the name of an operation in the document.
pub fn op_name(op: Op) -> &'static str {
    match op {
        Op::Load => "load",
        Op::Store => "store",
        Op::Atomic => "atomic",
    }
}
