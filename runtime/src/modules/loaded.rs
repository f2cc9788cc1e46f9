//! Modules that the program loaded.

/// A module's handle: the address of its descriptor.
pub type Handle = usize;

/// A module that was loaded. Its code stays mapped when it is unloaded: the trace may still name what is in it.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Index of the runtime's module.
    pub module: usize,
}
