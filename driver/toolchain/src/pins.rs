//! Versions that Warpline is built for. The files read here are also read by `scripts/setup.sh`, so each version
//! is in one place.

/// Major version of LLVM and clang. The pass links this LLVM, and clang's bitcode must be of the same version.
pub fn llvm_major() -> u32 {
    include_str!("../../../scripts/llvm-version").trim().parse().unwrap_or(0)
}

/// Name of the cache folder with the CUDA wheels.
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
