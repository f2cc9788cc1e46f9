//! Views of a single subject (a kernel, a line, an allocation, a call path, a finding), and lists of subjects:
//! paragraphs and tables, independent of their display. Reports print them, and `warpline explore` navigates them.

mod allocation;
mod calls;
mod comparison;
mod figures;
mod finding;
mod kernel;
mod line;
mod links;
mod lists;
mod markdown;
mod model;
mod plain;
mod program;
mod ranks;
mod source;

pub use allocation::{allocation, host_allocation};
pub use calls::{CallNode, CallTree};
pub use comparison::comparison;
pub use finding::finding;
pub use kernel::kernel;
pub use line::line;
pub use lists::{allocations, findings, kernels, lines};
pub use markdown::markdown;
pub use model::{Block, Cell, Column, Fact, Row, Source, SourceLine, Table, Target, View};
pub use plain::text;
pub use program::program;
pub use ranks::ranks;
