//! Arguments of the tools. The JSON Schemas contain these comments as documentation.

use schemars::JsonSchema;
use serde::Deserialize;

/// Declares arguments: the given fields, and the fields that limit an answer.
macro_rules! arguments {
    ($(#[$about:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $name {
            $($(#[$of_field])* pub(crate) $field: $kind,)*
            /// Length of the answer in tokens of about 4 bytes, 100 to 20000 [default: 2000]
            #[serde(default)]
            pub(crate) max_tokens: Option<u64>,
            /// Cursor of the next page, from the answer before
            #[serde(default)]
            pub(crate) cursor: Option<String>,
        }
    };
}

arguments! {
    /// Arguments of `findings`.
    FindingsArguments {
        /// Profile: a path inside the folders of the server, or a warpline://profile/ URI
        profile: String,
        /// Only findings of this severity or a graver one: error, warning or note [default: note]
        #[serde(default)]
        severity: Option<String>,
        /// Only findings of kernels whose demangled name matches this regular expression
        #[serde(default)]
        kernel: Option<String>,
    }
}

arguments! {
    /// Arguments of `source`.
    SourceArguments {
        /// Profile: a path inside the folders of the server, or a warpline://profile/ URI
        profile: String,
        /// Part of the path of source files [default: all files]
        #[serde(default)]
        file: Option<String>,
        /// A line of the file, with everything of it; needs `file`, the end of its path
        #[serde(default)]
        line: Option<u32>,
    }
}

arguments! {
    /// Arguments of `kernel`.
    KernelArguments {
        /// Profile: a path inside the folders of the server, or a warpline://profile/ URI
        profile: String,
        /// Regular expression for the demangled name; if several kernels match, the answer lists them [default: all kernels]
        #[serde(default)]
        kernel: Option<String>,
    }
}

arguments! {
    /// Arguments of `allocation`.
    AllocationArguments {
        /// Profile: a path inside the folders of the server, or a warpline://profile/ URI
        profile: String,
        /// Name of the allocation, or a part of it [default: the answer lists all]
        #[serde(default)]
        name: Option<String>,
    }
}

arguments! {
    /// Arguments of `diff`.
    DiffArguments {
        /// Earlier profile: a path inside the folders of the server, or a warpline://profile/ URI
        before: String,
        /// Later profile
        after: String,
    }
}

arguments! {
    /// Arguments of `explain`.
    ExplainArguments {
        /// Id of a finding, such as strided-access [default: the answer lists all]
        #[serde(default)]
        id: Option<String>,
    }
}

arguments! {
    /// Arguments of `gpus`.
    GpusArguments {
        /// Name of a GPU model, such as a100 [default: the answer lists all]
        #[serde(default)]
        model: Option<String>,
    }
}

arguments! {
    /// Arguments of `predict`.
    PredictArguments {
        /// Profile: a path inside the folders of the server, or a warpline://profile/ URI
        profile: String,
        /// Regular expression for the demangled name of one kernel [default: the profile's only kernel]
        #[serde(default)]
        kernel: Option<String>,
        /// Block shapes, such as ["32x8", "64x4"] [default: all powers of two]
        #[serde(default)]
        blocks: Vec<String>,
        /// GPU model, such as a100 [default: the profile's]
        #[serde(default)]
        gpu: Option<String>,
        /// Values of kernel parameters, such as ["n=4096"]
        #[serde(default)]
        set: Vec<String>,
        /// Number of configurations, best first [default: 10]
        #[serde(default)]
        top: Option<u32>,
        /// Also name this number of configurations that are worth a measurement
        #[serde(default)]
        budget: Option<u32>,
        /// Time limit in seconds [default: that of the server]
        #[serde(default)]
        seconds: Option<u64>,
    }
}

/// Arguments of `profile` and `check`. There is no cursor: a second call would be a second run.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// CUDA source files inside the folders of the server, which are compiled first
    #[serde(default)]
    pub(crate) sources: Vec<String>,
    /// In the place of sources: an executable that `warpline cc` has built
    #[serde(default)]
    pub(crate) program: Option<String>,
    /// Arguments of the program
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Macros for the compiler, such as ["N=1024"]
    #[serde(default)]
    pub(crate) defines: Vec<String>,
    /// Include folders inside the folders of the server
    #[serde(default)]
    pub(crate) include_folders: Vec<String>,
    /// GPU architecture to compile for, such as sm_80
    #[serde(default)]
    pub(crate) architecture: Option<String>,
    /// C++ standard, such as c++17
    #[serde(default)]
    pub(crate) standard: Option<String>,
    /// GPU model to simulate, such as a100 [default: that of the architecture]
    #[serde(default)]
    pub(crate) gpu: Option<String>,
    /// Record only kernels whose demangled name matches this regular expression
    #[serde(default)]
    pub(crate) kernels: Option<String>,
    /// Also find redundant values, such as stores that change nothing; takes 3 to 27 times as long. Not for `check`
    #[serde(default)]
    pub(crate) values: bool,
    /// Profile to write, inside the folders of the server [default: warpline.NAME.wlprof]
    #[serde(default)]
    pub(crate) output: Option<String>,
    /// Time limit in seconds, compilation included [default: that of the server]
    #[serde(default)]
    pub(crate) seconds: Option<u64>,
    /// Length of the answer in tokens of about 4 bytes, 100 to 20000 [default: 2000]
    #[serde(default)]
    pub(crate) max_tokens: Option<u64>,
}
