//! Decides which warp functions are generated: at the build, and for a run that needs more.

use crate::llvm::ModuleItems;
use inkwell::module::Module;

/// The number of device instructions up to which a module gets its functions with hooks at the build. Generating them
/// takes about half a second, and a run would take longer to start the compiler for each kernel.
const AHEAD: usize = 500;

/// The warp functions that the lowering generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generated<'a> {
    /// The functions without hooks and, if there are hooks, those with hooks.
    All,
    /// Only the functions with hooks, if there are hooks. This halves the code, for launches that always run with
    /// hooks.
    Hooked,
    /// Only the functions without hooks. A run that needs hooks generates them with [`Generated::HookedOf`].
    Native,
    /// Only the functions with hooks of the kernel with this mangled name and of the functions that it may call. They
    /// complete a module of [`Generated::Native`], to whose data they refer.
    HookedOf(&'a str),
    /// No functions: the descriptor describes code for a GPU.
    Nothing,
}

impl Generated<'_> {
    /// Returns which functions of hooked device code are generated at the build. Functions with hooks are most of the
    /// lowered code, and few of a large module's ever run, so a run generates the ones that it needs.
    pub fn at_build(device: &Module<'_>) -> Generated<'static> {
        let blocks = device.functions().into_iter().flat_map(|function| function.blocks());
        let instructions: usize = blocks.map(|block| block.instructions().len()).sum();
        if instructions <= AHEAD { Generated::All } else { Generated::Native }
    }

    /// Returns which forms of a kernel are generated: `false` without and `true` with hooks.
    pub(super) fn forms_of(self, kernel: &str) -> &'static [bool] {
        match self {
            Generated::All => &[false, true],
            Generated::Native => &[false],
            Generated::Hooked => &[true],
            Generated::HookedOf(one) if one == kernel => &[true],
            Generated::HookedOf(_) | Generated::Nothing => &[],
        }
    }

    /// Returns which forms of the device functions are generated that kernels may call.
    pub(super) fn forms_of_functions(self) -> &'static [bool] {
        match self {
            Generated::All => &[false, true],
            Generated::Native => &[false],
            Generated::Hooked | Generated::HookedOf(_) => &[true],
            Generated::Nothing => &[],
        }
    }

    /// Returns whether the generated functions complete another module.
    pub(super) fn completes(self) -> bool {
        matches!(self, Generated::HookedOf(_))
    }
}
