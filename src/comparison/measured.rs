//! Returns the figures of one profile under the names that comparisons and limits use.

use super::compare::Side;
use super::figures::Figures;
use super::matching::Code;
use warpline_profile::Profile;

/// The figures of one profile.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Figures of the whole program.
    pub program: Figures,
    /// Figures of its kernels by demangled name, in the profile's order. If several kernels share a name, it includes
    /// their source file.
    pub kernels: Vec<(String, Figures)>,
}

/// Computes the figures of a profile.
pub fn measure(profile: &Profile) -> Measured {
    let code = Code::new(profile);
    let side = Side::new(&code);
    let program = side.program();
    let name = |index: usize| {
        let kernel = &profile.kernels[index];
        let alike = profile.kernels.iter().filter(|other| other.name == kernel.name).count();
        match kernel.module.rsplit('/').next() {
            Some(file) if alike > 1 => format!("{} [{file}]", kernel.name),
            _ => kernel.name.clone(),
        }
    };
    let kernels = side.kernels.iter().enumerate().map(|(index, figures)| (name(index), figures.clone())).collect();
    Measured { program, kernels }
}
