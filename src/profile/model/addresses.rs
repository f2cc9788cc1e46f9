//! A kernel's addresses as expressions.

use serde::{Deserialize, Serialize};
use warpline_format::expression::{AddressExpression, Expression, LoopExpression};
use warpline_format::occupancy::Resources;

/// Addresses of a kernel's accesses as expressions over the inputs of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Addresses {
    /// Expressions; operands precede the expressions that use them.
    pub expressions: Vec<Expression>,
    /// Addresses of the sites, sorted by site.
    pub sites: Vec<AddressExpression>,
    /// Sites that the run did not reach and that therefore have no rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreached: Vec<Unreached>,
    /// Groups of sites whose accesses the trace records as one item, in the order of the trace. A warp's issue slot
    /// does not end within a group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<Vec<u32>>,
    /// Loops whose iterations are counted in expressions.
    pub loops: Vec<LoopExpression>,
    /// Kernel parameters that expressions read.
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

/// An access that no thread of the run reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreached {
    /// Number of its site.
    pub site: u32,
    /// Line in the user's code; 0 if unknown.
    #[serde(default)]
    pub line: u32,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// `global` or `shared`.
    pub space: String,
    /// Bytes per lane.
    pub bytes: u32,
    /// Whether it is a load that bypasses L1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub past_l1: bool,
}

/// A kernel parameter, or a part of one, that expressions read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Number of the parameter, counted from 0.
    pub number: u32,
    /// Offset in bytes within the parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Name in the source; absent without debug information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A variable in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// Number of the variable in expressions.
    pub number: u32,
    /// Number of its allocation.
    pub allocation: u64,
    /// Device address.
    pub address: u64,
}

/// A part of a launch argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Number of the parameter.
    pub parameter: u32,
    /// Offset in bytes within the parameter.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Value, zero-extended. For a pointer, it is the device address.
    pub value: u64,
    /// Allocation that a pointer refers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<u64>,
}
