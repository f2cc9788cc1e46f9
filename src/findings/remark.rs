//! What may be added to the reason or the gain of any finding.

use super::diagnosis::{Count, Names, Ratio, Seconds, described};
use super::text::write_remark;

described! {
    /// A remark; its template is in `text/common.md`.
    pub(super) enum Remark {
        /// The compiler has merged or moved the access.
        NearLine => "near-line",
        /// Other objects have the same cause and remedy.
        OtherObjects { names: Names } => "other-objects",
        /// Other instantiations of the kernel's template have the same line.
        OtherInstantiations { instantiations: Count } => "other-instantiations",
        /// What the remedy saves in other kernels.
        OtherKernels { time: Seconds, kernels: Names } => "other-kernels",
        /// The factor with what each launch costs beside the estimate.
        WithStart { factor: Ratio, start: Seconds } => "with-start",
        /// The gains of findings with these ranks are the same time.
        NotInAddition { first: Count, last: Option<Count> } => "not-in-addition",
    }
}

/// Adds a remark to a sentence.
pub(super) fn push(sentence: &mut String, remark: &Remark) {
    sentence.push_str("; ");
    sentence.push_str(&write_remark(remark));
}
