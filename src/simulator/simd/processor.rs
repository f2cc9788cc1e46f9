//! Operations that safe Rust does not provide: prefetching, large pages, comparisons of many numbers at once, and code
//! for newer processors.

/// Prefetches the cache line of an element; has no effect if the index is out of range.
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

/// Requests large pages for memory that has not been written yet, if it is large. Random reads of a large table then
/// need fewer page-table walks on the host.
pub fn prefer_large_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    const MUCH: usize = 4 << 20;
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= MUCH {
        // `madvise` requires whole pages, so partial pages at both ends are excluded.
        const PAGE: usize = 4096;
        let start = memory.as_mut_ptr().cast::<u8>();
        let skipped = start.align_offset(PAGE);
        let length = (size_of_val(memory) - skipped) & !(PAGE - 1);
        // SAFETY: the range lies within `memory`; the advice is a hint that changes no content.
        unsafe {
            libc::madvise(start.add(skipped).cast(), length, libc::MADV_HUGEPAGE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, MUCH);
}

/// Returns which of eight numbers equal `wanted`, one bit each.
#[inline(always)]
pub fn equal(numbers: &[u32; 8], wanted: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
            _mm_setzero_si128,
        };
        // SAFETY: SSE2 is part of x86-64, and the loads stay within the array.
        unsafe {
            let wanted = _mm_set1_epi32(wanted.cast_signed());
            let low = _mm_cmpeq_epi32(_mm_loadu_si128(numbers.as_ptr().cast()), wanted);
            let high = _mm_cmpeq_epi32(_mm_loadu_si128(numbers.as_ptr().add(4).cast()), wanted);
            let words = _mm_packs_epi32(low, high);
            _mm_movemask_epi8(_mm_packs_epi16(words, _mm_setzero_si128())).cast_unsigned()
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        numbers.iter().enumerate().map(|(index, number)| u32::from(*number == wanted) << index).sum()
    }
}

/// Returns which of 16 numbers equal `wanted`, one bit each.
#[inline(always)]
pub fn equal_of_16(numbers: &[u32; 16], wanted: u32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        };
        // SAFETY: SSE2 is part of x86-64, and the loads stay within the array.
        unsafe {
            let wanted = _mm_set1_epi32(wanted.cast_signed());
            let quarter =
                |index: usize| _mm_cmpeq_epi32(_mm_loadu_si128(numbers.as_ptr().add(4 * index).cast()), wanted);
            let low = _mm_packs_epi32(quarter(0), quarter(1));
            let high = _mm_packs_epi32(quarter(2), quarter(3));
            _mm_movemask_epi8(_mm_packs_epi16(low, high)).cast_unsigned()
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        numbers.iter().enumerate().map(|(index, number)| u32::from(*number == wanted) << index).sum()
    }
}

/// Returns which of 32 bytes equal `wanted`, one bit each.
#[inline(always)]
pub fn equal_bytes(bytes: &[u8; 32], wanted: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: SSE2 is part of x86-64, and both loads stay within the array.
        let half = |index: usize| unsafe {
            let half = _mm_loadu_si128(bytes.as_ptr().add(16 * index).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(half, _mm_set1_epi8(wanted.cast_signed()))).cast_unsigned()
        };
        half(0) | half(1) << 16
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        bytes.iter().enumerate().map(|(index, byte)| u32::from(*byte == wanted) << index).sum()
    }
}

/// Work that is compiled for two generations of processors.
pub trait Job {
    /// Result of the work.
    type Output;
    /// Performs the work. Mark the method `#[inline(always)]`: only inlined code is compiled twice.
    fn run(self) -> Self::Output;
}

/// Runs a job with the code for processors with AVX2 and bit counting (2013 or later) if this processor supports them.
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
            // SAFETY: the processor was just found to support every feature that `newer` is compiled for.
            return unsafe { newer(job) };
        }
    }
    job.run()
}
