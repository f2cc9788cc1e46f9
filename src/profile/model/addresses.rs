//! A kernel's addresses as expressions.

use serde::{Deserialize, Serialize};
use warpline_format::expression::{AddressExpression, Expression, LoopExpression};
use warpline_format::occupancy::Resources;

/// Addresses of a kernel's accesses as expressions of what a launch gives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Addresses {
    /// Values, each after its operands.
    pub expressions: Vec<Expression>,
    /// Sorted by site.
    pub sites: Vec<AddressExpression>,
    /// What those of the sites do that the run did not reach, which have no rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<Unreached>,
    /// Sites of accesses that the trace has as one item, in its order: a warp's turn does not end between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<Vec<u32>>,
    /// Loops that expressions count the iterations of.
    pub loops: Vec<LoopExpression>,
    /// Names of the parameters that are read.
    pub parameters: Vec<Parameter>,
    /// Addresses of variables that expressions refer to, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub globals: Vec<Variable>,
    /// Names of the shared variables, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<String>,
    /// Registers by architecture, as ptxas reports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Resources>,
}

/// What an access does that no thread of the run reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreached {
    /// Its site.
    pub site: u32,
    /// Line of the user's code; 0 where it is not known.
    #[serde(default)]
    pub line: u32,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// `global` or `shared`.
    pub space: String,
    /// Per lane.
    pub bytes: u32,
    /// A load that goes past L1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past_l1: bool,
}

/// A kernel parameter that expressions read, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Number, from 0.
    pub number: u32,
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// What the source calls it; absent without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A variable in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Number in expressions.
    pub number: u32,
    /// Its allocation.
    pub allocation: u64,
    /// Device address.
    pub address: u64,
}

/// A part of a launch's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Bytes from its start.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Value, zero-extended; a pointer's is the device address.
    pub value: u64,
    /// Allocation that a pointer leads into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<u64>,
}
