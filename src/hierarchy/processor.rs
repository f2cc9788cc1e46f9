//! Prefetching, the one thing here that safe Rust has no word for, and code for newer processors.

/// Asks for the cache line of an element; nothing happens where there is none.
#[inline(always)]
pub fn read<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        // SAFETY: a prefetch is a hint: it reads nothing and cannot fault, and the pointer is valid anyway.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(element).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Work that is worth compiling twice.
pub trait Job {
    /// What it gives.
    type Output;
    /// Does it. Mark the method `#[inline(always)]`: only what is inlined into it is compiled twice.
    fn run(self) -> Self::Output;
}

/// Runs a job, compiled for a processor of 2013 or later (AVX2, bit counting) where this one is.
#[inline]
pub fn with_newer_instructions<J: Job>(job: J) -> J::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt,avx2")]
        fn newer<J: Job>(job: J) -> J::Output {
            job.run()
        }
        if std::arch::is_x86_feature_detected!("popcnt")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
            && std::arch::is_x86_feature_detected!("lzcnt")
            && std::arch::is_x86_feature_detected!("avx2")
        {
            // SAFETY: every feature that `newer` is compiled for was just found.
            return unsafe { newer(job) };
        }
    }
    job.run()
}
