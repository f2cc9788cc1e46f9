// The policy of record.h for a GPU. Inline PTX states the exact memory order and scope, so no toolkit header is needed.
#pragma once

#define WARPLINE_INLINE __attribute__((device, always_inline)) inline

#include "wire.h"

namespace warpline {

struct GpuWarp {
    using L32 = u32;
    using L64 = u64;
    using Flag = bool;

    static WARPLINE_INLINE u32 sm() {
        // A block stays on its SM, so the compiler may read this register once per kernel.
        return (u32)__nvvm_read_ptx_sreg_smid();
    }
    static WARPLINE_INLINE u32 lane() {
        return (u32)__nvvm_read_ptx_sreg_laneid();
    }
    // Returns the lanes that execute this instruction together.
    static WARPLINE_INLINE u32 active() {
        u32 mask;
        asm volatile("activemask.b32 %0;" : "=r"(mask));
        return mask;
    }
    static WARPLINE_INLINE u32 lowest(u32 mask) { return (u32)__builtin_ctz(mask); }
    static WARPLINE_INLINE u32 highest(u32 mask) { return 31u - (u32)__builtin_clz(mask); }
    static WARPLINE_INLINE u32 count(u32 mask) { return (u32)__builtin_popcount(mask); }
    static WARPLINE_INLINE bool elected(u32 mask) {
        return (mask & (u32)__nvvm_read_ptx_sreg_lanemask_lt()) == 0;
    }
    static WARPLINE_INLINE u32 rank(u32 mask) {
        return count(mask & (u32)__nvvm_read_ptx_sreg_lanemask_lt());
    }
    static WARPLINE_INLINE u32 shuffle(u32 mask, u32 value, u32 from) {
        return (u32)__nvvm_shfl_sync_idx_i32(mask, (int)value, (int)from, 0x1f);
    }
    static WARPLINE_INLINE u64 shuffle64(u32 mask, u64 value, u32 from) {
        return (u64)shuffle(mask, (u32)value, from) | (u64)shuffle(mask, (u32)(value >> 32), from) << 32;
    }
    static WARPLINE_INLINE u64 broadcast64(u32 mask, u64 value, u32 from) { return shuffle64(mask, value, from); }
    static WARPLINE_INLINE bool all(u32 mask, bool flag) { return __nvvm_vote_all_sync(mask, flag); }
    static WARPLINE_INLINE u32 ballot(u32 mask, bool flag) { return (u32)__nvvm_vote_ballot_sync(mask, flag); }
    // Returns, for each lane, the lanes that have the same value.
    static WARPLINE_INLINE u32 match(u32 mask, u64 value) { return (u32)__nvvm_match_any_sync_i64(mask, (long long)value); }
    // Returns whether all lanes have the same value.
    static WARPLINE_INLINE bool agree(u32 mask, u64 value) {
        int all;
        __nvvm_match_all_sync_i64p(mask, (long long)value, &all);
        return all != 0;
    }
    // Returns a value of the lowest lane; only this lane uses it.
    static WARPLINE_INLINE u64 own(u64 value, u32) { return value; }
    // Returns whether the calling lane is the lowest of `lanes`.
    static WARPLINE_INLINE bool first_of(u32 lanes) { return elected(lanes); }
    static WARPLINE_INLINE u32 low(u64 value) { return (u32)value; }
    static WARPLINE_INLINE u64 widen(u32 value) { return (u64)(long long)(int)value; }
    static WARPLINE_INLINE u32 select(bool flag, u32 value) { return flag ? value : 0; }

    static WARPLINE_INLINE u64 fetch_add_device(u64* at, u64 value) {
        u64 old;
        asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(value));
        return old;
    }
    static WARPLINE_INLINE void add_device(u64* at, u64 value) {
        asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(at), "l"(value));
    }
    static WARPLINE_INLINE u64 load_device(const u64* at) {
        u64 value;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at));
        return value;
    }
    static WARPLINE_INLINE void store_device(u64* at, u64 value) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value));
    }
    static WARPLINE_INLINE u64 load_host(const u64* at) {
        u64 value;
        asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at));
        return value;
    }
    static WARPLINE_INLINE void pause() { asm volatile("nanosleep.u32 500;"); }

    // Makes the lanes of the mask converge again, so that the code after a hook executes as it would without the hook.
    static WARPLINE_INLINE void reconverge(u32 mask) { __nvvm_bar_warp_sync(mask); }

    // Stores to the host are strong operations at system scope, so that they arrive while the kernel runs. The host
    // always sees a whole word; the order of the words does not matter to it.
    static WARPLINE_INLINE void store_pair(unsigned char* at, u64 first, u64 second) {
        asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(first), "l"(second));
    }
    static WARPLINE_INLINE void store_word(unsigned char* at, u64 value) {
        asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value));
    }
    static WARPLINE_INLINE void scatter32(u32 mask, unsigned char* data, u64 position, u64 wrap, u32 value) {
        const u64 at = (position + 4 * rank(mask)) & wrap;
        asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(data + at), "r"(value));
    }
    static WARPLINE_INLINE void scatter64(u32 mask, unsigned char* data, u64 position, u64 wrap, u64 value) {
        const u64 at = (position + 8 * rank(mask)) & wrap;
        store_word(data + at, value);
    }
};

}  // namespace warpline
