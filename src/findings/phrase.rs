//! Phrases in the texts of findings; their templates are in `text/common.md`.

use super::diagnosis::{Bytes, Choice, Count, Name, Names, Ratio, Seconds, Shown, described};
use super::text::write_phrase;

described! {
    enum Phrase {
        NearLine => "near-line",
        OtherObjects { names: Names } => "other-objects",
        OtherInstantiations { instantiations: Count } => "other-instantiations",
        OtherKernels { time: Seconds, kernels: Names } => "other-kernels",
        WithStart { factor: Ratio, start: Seconds } => "with-start",
        NotInAddition { first: Count, last: Option<Count> } => "not-in-addition",
        Memory { name: Option<Name>, kind: Option<Shown>, size: Shown } => "memory",
        Size { count: Option<Count>, bytes: Bytes } => "size",
        Variable { variable: Name, name: Option<Name>, kind: Option<Shown>, size: Option<Shown> } => "variable",
        OfSpace { space: Shown } => "of-space",
        AndOthers { memory: Shown } => "and-others",
        Alike { count: Count, memory: Shown } => "alike",
        Line { line: Shown, file: Shown } => "line",
        Party { op: Shown, near: Choice, line: Shown, file: Option<Shown> } => "party",
        StreamParty { op: Shown, kernel: Option<Name>, line: Shown, stream: Shown } => "stream-party",
        Unnamed { what: Choice } => "unnamed",
    }
}

impl Phrase {
    pub(super) fn text(&self) -> String {
        write_phrase(self)
    }

    pub(super) fn shown(&self) -> Shown {
        Shown(self.text())
    }
}

/// Objects without a name in the program.
#[derive(Clone, Copy)]
pub(super) enum Unnamed {
    Allocation,
    DeviceMemory,
    HostMemory,
    Memory,
    Structure,
}

impl Unnamed {
    pub(super) fn shown(self) -> Shown {
        Phrase::Unnamed { what: Choice(self as u8) }.shown()
    }
}

/// Adds a remark to a sentence.
pub(super) fn push(sentence: &mut String, remark: &Phrase) {
    sentence.push_str("; ");
    sentence.push_str(&remark.text());
}
