//! Vector instructions of the host.

use crate::llvm::Machine;

/// Vector instructions of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// Up to SSE4.2.
    Sse,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F, BW, DQ, VL.
    Avx512,
}

impl Vectors {
    /// Returns the processor features that code for these vectors needs.
    pub fn features(self) -> &'static str {
        match self {
            Vectors::Sse => "",
            Vectors::Avx2 => "avx2,fma",
            Vectors::Avx512 => "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma",
        }
    }

    /// Returns the vector instructions of a machine.
    pub fn for_machine(machine: &Machine) -> Vectors {
        let features = machine.features();
        let has = |name: &str| features.split(',').any(|feature| feature.strip_prefix('+') == Some(name));
        let processor = machine.processor();
        let one_of = |names: &[&str]| names.iter().any(|name| processor.starts_with(name));
        let no_512 = features.split(',').any(|feature| feature == "-avx512f");
        const WITH_512: [&str; 12] = [
            "x86-64-v4",
            "skylake-avx512",
            "skx",
            "cascadelake",
            "cooperlake",
            "cannonlake",
            "icelake",
            "tigerlake",
            "rocketlake",
            "sapphirerapids",
            "znver4",
            "znver5",
        ];
        const WITH_AVX2: [&str; 14] = [
            "x86-64-v3",
            "haswell",
            "core-avx2",
            "broadwell",
            "skylake",
            "alderlake",
            "raptorlake",
            "arrowlake",
            "meteorlake",
            "lunarlake",
            "znver",
            "emeraldrapids",
            "graniterapids",
            "bdver4",
        ];
        if !no_512 && (has("avx512f") && has("avx512bw") && has("avx512vl") || one_of(&WITH_512)) {
            Vectors::Avx512
        } else if has("avx2") || one_of(&WITH_AVX2) {
            Vectors::Avx2
        } else {
            Vectors::Sse
        }
    }
}
