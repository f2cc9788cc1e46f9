//! Modules that the program has loaded.

/// A module's handle, which is the address of its descriptor.
pub type Handle = usize;

/// A loaded module. Its code stays mapped after it is unloaded, because the trace may still refer to it.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// The index of the module in the runtime.
    pub module: usize,
}
