// The policy of runtime/device/record.h on the host: a warp is one thread, a lane value an array of 32, so that
// the very source of the device's encoding and ring protocol runs under test without a GPU.
#pragma once

#define WARPLINE_INLINE inline

#include "../../runtime/device/wire.h"

#include <cstring>
#include <thread>

namespace warpline {

template <class T>
struct Lanes {
    T v[32];
    Lanes() = default;
    Lanes(T all) {
        for (T& lane : v) lane = all;
    }
};

template <class R, class T, class F>
Lanes<R> combine(const Lanes<T>& a, const Lanes<T>& b, F f) {
    Lanes<R> result;
    for (int lane = 0; lane < 32; lane++) result.v[lane] = f(a.v[lane], b.v[lane]);
    return result;
}

#define LANE_OPERATOR(result, op)                                                             \
    template <class T>                                                                        \
    Lanes<result> operator op(const Lanes<T>& a, const Lanes<T>& b) {                         \
        return combine<result>(a, b, [](T x, T y) { return (result)(x op y); });              \
    }                                                                                         \
    inline Lanes<result> operator op(const Lanes<u32>& a, u32 b) { return a op Lanes<u32>(b); } \
    inline Lanes<result> operator op(u32 a, const Lanes<u32>& b) { return Lanes<u32>(a) op b; }
LANE_OPERATOR(bool, ==)
LANE_OPERATOR(bool, !=)
#undef LANE_OPERATOR
#define LANE_OPERATOR(op)                                                                     \
    template <class T>                                                                        \
    Lanes<T> operator op(const Lanes<T>& a, const Lanes<T>& b) {                              \
        return combine<T>(a, b, [](T x, T y) { return (T)(x op y); });                        \
    }                                                                                         \
    inline Lanes<u32> operator op(const Lanes<u32>& a, u32 b) { return a op Lanes<u32>(b); }  \
    inline Lanes<u32> operator op(u32 a, const Lanes<u32>& b) { return Lanes<u32>(a) op b; }  \
    inline Lanes<u64> operator op(const Lanes<u64>& a, u64 b) { return a op Lanes<u64>(b); }
LANE_OPERATOR(+)
LANE_OPERATOR(-)
LANE_OPERATOR(*)
LANE_OPERATOR(&)
LANE_OPERATOR(|)
LANE_OPERATOR(^)
inline Lanes<u64> operator*(const Lanes<u64>& a, u32 b) { return a * Lanes<u64>(b); }
#undef LANE_OPERATOR
template <class T>
Lanes<T> operator>>(const Lanes<T>& a, u32 b) {
    return combine<T>(a, Lanes<T>(b), [](T x, T y) { return (T)(x >> y); });
}

struct HostWarp {
    using L32 = Lanes<u32>;
    using L64 = Lanes<u64>;
    using Flag = Lanes<bool>;

    static inline thread_local u32 current_sm = 0;
    static u32 sm() { return current_sm; }
    static L32 lane() {
        L32 lanes;
        for (u32 lane = 0; lane < 32; lane++) lanes.v[lane] = lane;
        return lanes;
    }
    static u32 lowest(u32 mask) { return (u32)__builtin_ctz(mask); }
    static u32 highest(u32 mask) { return 31u - (u32)__builtin_clz(mask); }
    static u32 count(u32 mask) { return (u32)__builtin_popcount(mask); }
    static bool elected(u32) {
        together = 0;
        return true;
    }
    static u32 shuffle(u32, const L32& value, u32 from) { return value.v[from]; }
    static u64 shuffle64(u32, const L64& value, u32 from) { return value.v[from]; }
    static u64 broadcast64(u32, u64 value, u32) { return value; }
    static bool all(u32 mask, const Flag& flag) {
        for (u32 lane = 0; lane < 32; lane++)
            if ((mask >> lane & 1) && !flag.v[lane]) return false;
        return true;
    }
    static u32 ballot(u32 mask, const Flag& flag) {
        u32 result = 0;
        for (u32 lane = 0; lane < 32; lane++)
            if ((mask >> lane & 1) && flag.v[lane]) result |= 1u << lane;
        return result;
    }
    static L32 match(u32 mask, const L64& value) {
        L32 result(0u);
        for (u32 lane = 0; lane < 32; lane++)
            for (u32 other = 0; other < 32; other++)
                if ((mask >> lane & 1) && (mask >> other & 1) && value.v[lane] == value.v[other])
                    result.v[lane] |= 1u << other;
        return result;
    }
    static bool agree(u32 mask, const L64& value) {
        for (u32 lane = 0; lane < 32; lane++)
            if ((mask >> lane & 1) && value.v[lane] != value.v[lowest(mask)]) return false;
        return true;
    }
    static u64 own(const L64& value, u32 lane) { return value.v[lane]; }
    static Flag first_of(const L32& lanes) {
        Flag result(false);
        for (u32 lane = 0; lane < 32; lane++) result.v[lane] = (lanes.v[lane] & ((1u << lane) - 1)) == 0;
        return result;
    }
    static L32 low(const L64& value) {
        L32 result;
        for (u32 lane = 0; lane < 32; lane++) result.v[lane] = (u32)value.v[lane];
        return result;
    }
    static L64 widen(const L32& value) {
        L64 result;
        for (u32 lane = 0; lane < 32; lane++) result.v[lane] = (u64)(long long)(int)value.v[lane];
        return result;
    }
    static L32 select(const Flag& flag, u32 value) {
        L32 result;
        for (u32 lane = 0; lane < 32; lane++) result.v[lane] = flag.v[lane] ? value : 0;
        return result;
    }

    static u64 fetch_add_device(u64* at, u64 value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
    static void add_device(u64* at, u64 value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
    static u64 load_device(const u64* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
    static void store_device(u64* at, u64 value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
    // The host's compiler may move stores ahead of a branch, which a GPU does not: hence an acquire here.
    static u64 load_host(const u64* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
    static void pause() { std::this_thread::yield(); }

    // Lanes that go on together: none, once one lane alone has done something.
    static inline thread_local u32 together = 0;
    static void reconverge(u32 mask) { together = mask; }
    static void store_word(unsigned char* at, u64 value) { __atomic_store_n((u64*)at, value, __ATOMIC_RELAXED); }
    static void store_pair(unsigned char* at, u64 first, u64 second) {
        // The device promises no order between the two: the unkind one.
        store_word(at + 8, second);
        store_word(at, first);
    }
    static void scatter32(u32 mask, unsigned char* data, u64 position, u64 wrap, const L32& value) {
        for (u32 lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) continue;
            const u32 rank = count(mask & ((1u << lane) - 1));
            __atomic_store_n((u32*)(data + ((position + 4 * rank) & wrap)), value.v[lane], __ATOMIC_RELAXED);
        }
    }
    static void scatter64(u32 mask, unsigned char* data, u64 position, u64 wrap, const L64& value) {
        for (u32 lane = 0; lane < 32; lane++) {
            if (!(mask >> lane & 1)) continue;
            const u32 rank = count(mask & ((1u << lane) - 1));
            store_word(data + ((position + 8 * rank) & wrap), value.v[lane]);
        }
    }
};

}  // namespace warpline
