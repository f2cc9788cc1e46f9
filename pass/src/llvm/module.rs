//! Target machines, and operations on complete modules.

use inkwell::OptimizationLevel;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
};

/// The reason why LLVM could not fulfil a request.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// LLVM was built without the target.
    #[error("this LLVM has no code generator for {triple}: {cause}")]
    NoTarget {
        /// The requested target.
        triple: String,
        /// LLVM's error message.
        cause: String,
    },
    /// The target exists, but the processor does not.
    #[error("LLVM makes no machine for {triple} with processor {processor}")]
    NoMachine {
        /// The requested target.
        triple: String,
        /// The requested processor.
        processor: String,
    },
    /// Passes failed.
    #[error("passes {passes} failed: {cause}")]
    Passes {
        /// The pipeline.
        passes: String,
        /// LLVM's error message.
        cause: String,
    },
    /// The module is not valid IR.
    #[error("invalid IR after {stage}: {cause}")]
    Invalid {
        /// The stage that created the module.
        stage: String,
        /// LLVM's error message.
        cause: String,
    },
    /// Code generation failed.
    #[error("code generation failed: {cause}")]
    Emit {
        /// LLVM's error message.
        cause: String,
    },
}

/// A target machine: the properties of the processor that passes and code generation need.
pub struct Machine {
    inner: TargetMachine,
    triple: String,
}

impl Machine {
    /// Returns a GPU machine for an architecture; 75 means `sm_75`.
    pub fn nvptx(arch: u32) -> Result<Machine, MachineError> {
        Target::initialize_nvptx(&InitializationConfig::default());
        Machine::new("nvptx64-nvidia-cuda", &format!("sm_{arch}"), "+ptx63")
    }

    /// Returns a GPU machine with the processor (`sm_90a`) and the feature string (`+ptx88`) with which the device code
    /// was compiled. LLVM aborts if the PTX version is too old for the processor.
    pub fn nvptx_like(processor: &str, features: &str) -> Result<Machine, MachineError> {
        Target::initialize_nvptx(&InitializationConfig::default());
        Machine::new("nvptx64-nvidia-cuda", processor, features)
    }

    /// Returns a host machine. `processor` has the form of clang's `-march`; `native` is the processor on which this
    /// program runs.
    pub fn host(processor: &str) -> Result<Machine, MachineError> {
        super::options::bound_code_generation();
        Target::initialize_x86(&InitializationConfig::default());
        let triple = TargetMachine::get_default_triple();
        let triple = triple.as_str().to_string_lossy().into_owned();
        if processor == "native" {
            let name = TargetMachine::get_host_cpu_name().to_string();
            let features = TargetMachine::get_host_cpu_features().to_string();
            return Machine::new(&triple, &name, &features);
        }
        Machine::new(&triple, processor, "")
    }

    fn new(triple: &str, processor: &str, features: &str) -> Result<Machine, MachineError> {
        let wanted = TargetTriple::create(triple);
        let target = Target::from_triple(&wanted)
            .map_err(|cause| MachineError::NoTarget { triple: triple.into(), cause: cause.to_string() })?;
        let options = TargetMachineOptions::default()
            .set_cpu(processor)
            .set_features(features)
            .set_level(OptimizationLevel::Default)
            .set_reloc_mode(RelocMode::PIC)
            .set_code_model(CodeModel::Default);
        target
            .create_target_machine_from_options(&wanted, options)
            .map(|inner| Machine { inner, triple: triple.into() })
            .ok_or_else(|| MachineError::NoMachine { triple: triple.into(), processor: processor.into() })
    }

    /// Returns the name of the processor.
    pub fn processor(&self) -> String {
        self.inner.get_cpu().to_string()
    }

    /// Returns the feature string, such as `+avx2,+fma`.
    pub fn features(&self) -> String {
        self.inner.get_feature_string().to_string_lossy().into_owned()
    }

    /// Sets the module's triple and data layout to those of this machine.
    pub fn adopt(&self, module: &Module<'_>) {
        module.set_triple(&TargetTriple::create(&self.triple));
        module.set_data_layout(&self.inner.get_target_data().get_data_layout());
    }

    /// Runs a pipeline in `opt`'s textual form.
    pub fn run(&self, module: &Module<'_>, passes: &str) -> Result<(), MachineError> {
        self.run_with(module, passes, PassBuilderOptions::create())
    }

    /// Runs a pipeline with options.
    pub fn run_with(&self, module: &Module<'_>, passes: &str, options: PassBuilderOptions) -> Result<(), MachineError> {
        module
            .run_passes(passes, &self.inner, options)
            .map_err(|cause| MachineError::Passes { passes: passes.into(), cause: cause.to_string() })
    }

    /// Generates an object file.
    pub fn emit_object(&self, module: &Module<'_>) -> Result<Vec<u8>, MachineError> {
        self.emit(module, FileType::Object)
    }

    /// Generates assembly text, which is PTX for a GPU machine.
    pub fn emit_assembly(&self, module: &Module<'_>) -> Result<Vec<u8>, MachineError> {
        self.emit(module, FileType::Assembly)
    }

    fn emit(&self, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>, MachineError> {
        self.inner
            .write_to_memory_buffer(module, kind)
            .map(|buffer: MemoryBuffer| buffer.as_slice().to_vec())
            .map_err(|cause| MachineError::Emit { cause: cause.to_string() })
    }

    /// Returns the machine itself, for operations that this type does not wrap.
    pub fn inner(&self) -> &TargetMachine {
        &self.inner
    }
}

/// Returns the version of the linked LLVM, such as `22.1.0`.
pub fn version() -> String {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the results go to three local variables.
    unsafe { inkwell::llvm_sys::core::LLVMGetVersion(&mut major, &mut minor, &mut patch) };
    format!("{major}.{minor}.{patch}")
}

/// Checks that the module is valid IR; `stage` names the stage that created it.
pub fn verify(module: &Module<'_>, stage: &str) -> Result<(), MachineError> {
    module.verify().map_err(|cause| MachineError::Invalid { stage: stage.into(), cause: cause.to_string() })
}

/// Returns an empty module in the context of another module.
pub fn new_module<'c>(beside: &Module<'c>, name: &str) -> Module<'c> {
    let name = super::text::c_name(name);
    // SAFETY: the context outlives `'c`, and the module has one owner.
    unsafe {
        let context = inkwell::llvm_sys::core::LLVMGetModuleContext(beside.as_mut_ptr());
        Module::new(inkwell::llvm_sys::core::LLVMModuleCreateWithNameInContext(name.as_ptr(), context))
    }
}
