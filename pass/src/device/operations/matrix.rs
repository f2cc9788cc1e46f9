//! Operations on matrix fragments: products, loads and stores.

use super::Candidate;
use crate::matrix::{Multiply, Rows, Transfer};
use warpline_format::operation::{OperationClass, ValueType};

/// Returns the operation of an intrinsic on fragments.
pub(super) fn intrinsic(name: &str) -> Option<Candidate> {
    let rest = name.strip_prefix("llvm.nvvm.")?;
    if let Some(transfer) = rest.strip_prefix("wmma.").and_then(Transfer::read) {
        return Some(moved(transfer.store, transfer.ty));
    }
    if let Some(multiply) = Multiply::read_intrinsic(rest) {
        return Some(product(multiply, rest.to_owned()));
    }
    Rows::read(&rest.split('.').collect::<Vec<_>>()).map(rows)
}

/// Returns the operation of a product.
pub(super) fn product(multiply: Multiply, name: String) -> Candidate {
    let ty = multiply.tile.d.value_type();
    Candidate { class: OperationClass::Arithmetic, name, ty: Some(ty), checked: ty.float().is_some() }
}

/// Returns the operation of `ldmatrix` or `stmatrix`, whose elements have 16 bits of an unknown type.
pub(super) fn rows(rows: Rows) -> Candidate {
    Candidate { checked: true, ..moved(rows.store, ValueType::Int16) }
}

fn moved(store: bool, ty: ValueType) -> Candidate {
    let (class, name) = if store { (OperationClass::Store, "store") } else { (OperationClass::Load, "load") };
    Candidate { class, name: name.to_owned(), ty: Some(ty), checked: ty.float().is_some() }
}
