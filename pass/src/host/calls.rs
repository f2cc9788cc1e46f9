//! Determines which host calls allocate and free, by the base name of the called function.

/// How a CUDA allocation call returns the address of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Argument `n` is the address of the pointer, or of the structure or handle, that it fills.
    Target(usize),
    /// Argument `n` is the memory itself.
    Memory(usize),
}

/// CUDA calls that allocate or register.
pub(super) fn cuda_allocation(base: &str) -> Option<Names> {
    Some(match base {
        "cudaMalloc"
        | "cudaMallocManaged"
        | "cudaMallocHost"
        | "cudaHostAlloc"
        | "cudaMallocPitch"
        | "cudaMalloc3D"
        | "cudaMallocArray"
        | "cudaMalloc3DArray"
        | "cudaMallocMipmappedArray"
        | "cudaMallocAsync"
        | "cudaMallocFromPoolAsync"
        | "cuMemAlloc_v2"
        | "cuMemAllocPitch_v2"
        | "cuMemAllocManaged"
        | "cuMemAllocAsync"
        | "cuMemAllocAsync_ptsz"
        | "cuMemAllocHost_v2"
        | "cuMemHostAlloc"
        | "cuMemAddressReserve"
        | "cuArrayCreate_v2"
        | "cuArray3DCreate_v2" => Names::Target(0),
        "cudaHostRegister" | "cuMemHostRegister_v2" => Names::Memory(0),
        _ => return None,
    })
}

/// The kind of a host allocation, and the arguments with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostAllocation {
    pub(super) kind: &'static str,
    /// The index of the size argument.
    pub(super) size: usize,
    /// The index of an argument by which the size is multiplied.
    pub(super) times: Option<usize>,
    /// The index of the argument that receives the address (`posix_memalign`); otherwise, the address is the result.
    pub(super) through: Option<usize>,
    /// The index of the argument that the call frees (`realloc`).
    pub(super) frees: Option<usize>,
}

/// Returns the allocation that a host call makes, by linkage name.
pub(super) fn host_allocation(name: &str) -> Option<HostAllocation> {
    let plain = |kind, size| HostAllocation { kind, size, times: None, through: None, frees: None };
    Some(match name {
        "malloc" => plain("malloc", 0),
        "calloc" => HostAllocation { times: Some(0), ..plain("calloc", 1) },
        "realloc" => HostAllocation { frees: Some(0), ..plain("realloc", 1) },
        "aligned_alloc" => plain("aligned_alloc", 1),
        "memalign" => plain("memalign", 1),
        "posix_memalign" => HostAllocation { through: Some(0), ..plain("posix_memalign", 2) },
        // operator new and new[] for 64-bit sizes: plain, aligned, nothrow, both.
        "_Znwm" | "_ZnwmSt11align_val_t" | "_ZnwmRKSt9nothrow_t" | "_ZnwmSt11align_val_tRKSt9nothrow_t" => {
            plain("new", 0)
        }
        "_Znam" | "_ZnamSt11align_val_t" | "_ZnamRKSt9nothrow_t" | "_ZnamSt11align_val_tRKSt9nothrow_t" => {
            plain("new[]", 0)
        }
        _ => return None,
    })
}

/// Returns whether a host function frees its first argument.
pub(super) fn frees(name: &str) -> bool {
    name == "free" || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv")
}

/// Returns the unqualified name of a function at file scope. For C names, it is the name itself; for mangled names, it
/// is the identifier without template arguments. `_ZL10cudaMallocIfE9cudaErrorPPT_m` gives `cudaMalloc`.
pub(super) fn base_name(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("_Z") else { return name };
    let rest = rest.strip_prefix('L').unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length = rest[..digits].parse().unwrap_or(0);
    rest.get(digits..digits + length).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typed_template_is_the_same_call() {
        assert_eq!(base_name("_ZL10cudaMallocIfE9cudaErrorPPT_m"), "cudaMalloc");
        assert_eq!(base_name("_Z17cudaMallocManagedIdE9cudaErrorPPT_mj"), "cudaMallocManaged");
        assert_eq!(base_name("cudaMalloc"), "cudaMalloc");
        assert_eq!(base_name("_ZN3foo10cudaMallocEv"), "");
        assert_eq!(base_name("_Z999x"), "");
        assert_eq!(cuda_allocation(base_name("_ZL13cudaHostAllocIfE9cudaErrorPPT_mj")), Some(Names::Target(0)));
    }
}
