//! The versions for which Warpline is built. `scripts/setup.sh` reads the same files, so each version is stated only
//! once.

/// Returns the major version of LLVM and clang. The pass links this LLVM, and clang's bitcode must have the same
/// version.
pub fn llvm_major() -> u32 {
    include_str!("../../../scripts/llvm-version").trim().parse().unwrap_or(0)
}

/// The name of the cache folder with the CUDA wheels.
pub const CUDA_WHEEL_FOLDER: &str = "cuda-13.0";

/// Returns the pinned wheels: name and version, in file order.
pub fn cuda_wheels() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("../../../scripts/cuda-wheels.txt").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (name, rest) = line.split_once("==")?;
        Some((name, rest.split_whitespace().next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_is_built_for_the_pinned_llvm() {
        let manifest = include_str!("../../../pass/Cargo.toml");
        assert!(manifest.contains(&format!("llvm{}-1-prefer-dynamic", llvm_major())));
    }

    #[test]
    fn wheels_are_pinned() {
        let wheels: Vec<_> = cuda_wheels().collect();
        assert_eq!(wheels.len(), 7);
        assert!(wheels.contains(&("nvidia-cuda-nvcc", "13.0.88")));
    }
}
