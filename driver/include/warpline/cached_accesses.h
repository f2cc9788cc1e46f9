// Loads and stores with a cache operator (CUDA C++ Programming Guide, "Load Functions Using Cache Hints" and "Store
// Functions Using Cache Hints") that clang's headers do not contain, for the types in CUDA's sm_32_intrinsics.h.
#ifndef WARPLINE_CACHED_ACCESSES_H
#define WARPLINE_CACHED_ACCESSES_H
#pragma GCC system_header

// The columns are: type, PTX type, type of the register and its letter in constraints.
#define WARPLINE_SCALARS(X, name, op)                                                                                  \
  X(name, op, char, "s8", int, "r")                                                                                    \
  X(name, op, signed char, "s8", int, "r")                                                                             \
  X(name, op, short, "s16", short, "h")                                                                                \
  X(name, op, int, "s32", int, "r")                                                                                    \
  X(name, op, long long, "s64", long long, "l")                                                                        \
  X(name, op, unsigned char, "u8", unsigned, "r")                                                                      \
  X(name, op, unsigned short, "u16", unsigned short, "h")                                                              \
  X(name, op, unsigned, "u32", unsigned, "r")                                                                          \
  X(name, op, unsigned long long, "u64", unsigned long long, "l")                                                      \
  X(name, op, float, "f32", float, "f")                                                                                \
  X(name, op, double, "f64", double, "d")
// The two types that clang's own `__stwt` does not support.
#define WARPLINE_LONGS(X, name, op)                                                                                    \
  X(name, op, long, "s64", long long, "l")                                                                             \
  X(name, op, unsigned long, "u64", unsigned long long, "l")
#define WARPLINE_PAIRS(X, name, op)                                                                                    \
  X(name, op, char2, "v2.s8", int, "r")                                                                                \
  X(name, op, short2, "v2.s16", short, "h")                                                                            \
  X(name, op, int2, "v2.s32", int, "r")                                                                                \
  X(name, op, longlong2, "v2.s64", long long, "l")                                                                     \
  X(name, op, uchar2, "v2.u8", unsigned, "r")                                                                          \
  X(name, op, ushort2, "v2.u16", unsigned short, "h")                                                                  \
  X(name, op, uint2, "v2.u32", unsigned, "r")                                                                          \
  X(name, op, ulonglong2, "v2.u64", unsigned long long, "l")                                                           \
  X(name, op, float2, "v2.f32", float, "f")                                                                            \
  X(name, op, double2, "v2.f64", double, "d")
#define WARPLINE_QUADS(X, name, op)                                                                                    \
  X(name, op, char4, "v4.s8", int, "r")                                                                                \
  X(name, op, short4, "v4.s16", short, "h")                                                                            \
  X(name, op, int4, "v4.s32", int, "r")                                                                                \
  X(name, op, uchar4, "v4.u8", unsigned, "r")                                                                          \
  X(name, op, ushort4, "v4.u16", unsigned short, "h")                                                                  \
  X(name, op, uint4, "v4.u32", unsigned, "r")                                                                          \
  X(name, op, float4, "v4.f32", float, "f")

#define WARPLINE_LOAD(name, op, T, ptx, R, letter)                                                                     \
  static inline __device__ T name(const T *pointer) {                                                                  \
    R value;                                                                                                           \
    asm("ld.global." op "." ptx " %0, [%1];" : "=" letter(value) : "l"(pointer) : "memory");                           \
    return (T)value;                                                                                                   \
  }
#define WARPLINE_LOAD2(name, op, T, ptx, R, letter)                                                                    \
  static inline __device__ T name(const T *pointer) {                                                                  \
    R x, y;                                                                                                            \
    asm("ld.global." op "." ptx " {%0, %1}, [%2];"                                                                     \
                 : "=" letter(x), "=" letter(y)                                                                        \
                 : "l"(pointer)                                                                                        \
                 : "memory");                                                                                          \
    T value;                                                                                                           \
    value.x = (decltype(value.x))x, value.y = (decltype(value.y))y;                                                    \
    return value;                                                                                                      \
  }
#define WARPLINE_LOAD4(name, op, T, ptx, R, letter)                                                                    \
  static inline __device__ T name(const T *pointer) {                                                                  \
    R x, y, z, w;                                                                                                      \
    asm("ld.global." op "." ptx " {%0, %1, %2, %3}, [%4];"                                                             \
                 : "=" letter(x), "=" letter(y), "=" letter(z), "=" letter(w)                                          \
                 : "l"(pointer)                                                                                        \
                 : "memory");                                                                                          \
    T value;                                                                                                           \
    value.x = (decltype(value.x))x, value.y = (decltype(value.y))y;                                                    \
    value.z = (decltype(value.z))z, value.w = (decltype(value.w))w;                                                    \
    return value;                                                                                                      \
  }
#define WARPLINE_STORE(name, op, T, ptx, R, letter)                                                                    \
  static inline __device__ void name(T *pointer, T value) {                                                            \
    asm volatile("st.global." op "." ptx " [%0], %1;" : : "l"(pointer), letter((R)value) : "memory");                  \
  }
#define WARPLINE_STORE2(name, op, T, ptx, R, letter)                                                                   \
  static inline __device__ void name(T *pointer, T value) {                                                            \
    asm volatile("st.global." op "." ptx " [%0], {%1, %2};"                                                            \
                 :                                                                                                     \
                 : "l"(pointer), letter((R)value.x), letter((R)value.y)                                                \
                 : "memory");                                                                                          \
  }
#define WARPLINE_STORE4(name, op, T, ptx, R, letter)                                                                   \
  static inline __device__ void name(T *pointer, T value) {                                                            \
    asm volatile("st.global." op "." ptx " [%0], {%1, %2, %3, %4};"                                                    \
                 :                                                                                                     \
                 : "l"(pointer), letter((R)value.x), letter((R)value.y), letter((R)value.z), letter((R)value.w)        \
                 : "memory");                                                                                          \
  }

#define WARPLINE_LOADS(name, op)                                                                                       \
  WARPLINE_SCALARS(WARPLINE_LOAD, name, op)                                                                            \
  WARPLINE_LONGS(WARPLINE_LOAD, name, op)                                                                              \
  WARPLINE_PAIRS(WARPLINE_LOAD2, name, op)                                                                             \
  WARPLINE_QUADS(WARPLINE_LOAD4, name, op)
#define WARPLINE_STORES(name, op)                                                                                      \
  WARPLINE_SCALARS(WARPLINE_STORE, name, op)                                                                           \
  WARPLINE_LONGS(WARPLINE_STORE, name, op)                                                                             \
  WARPLINE_PAIRS(WARPLINE_STORE2, name, op)                                                                            \
  WARPLINE_QUADS(WARPLINE_STORE4, name, op)

WARPLINE_LOADS(__ldca, "ca")
WARPLINE_LOADS(__ldlu, "lu")
WARPLINE_STORES(__stwb, "wb")
WARPLINE_STORES(__stcg, "cg")
WARPLINE_STORES(__stcs, "cs")
WARPLINE_LONGS(WARPLINE_STORE, __stwt, "wt")
// The type that clang's own functions do not support.
WARPLINE_LOAD(__ldcg, "cg", unsigned long, "u64", unsigned long long, "l")
WARPLINE_LOAD(__ldcs, "cs", unsigned long, "u64", unsigned long long, "l")
WARPLINE_LOAD(__ldcv, "cv", unsigned long, "u64", unsigned long long, "l")

#undef WARPLINE_SCALARS
#undef WARPLINE_LONGS
#undef WARPLINE_PAIRS
#undef WARPLINE_QUADS
#undef WARPLINE_LOAD
#undef WARPLINE_LOAD2
#undef WARPLINE_LOAD4
#undef WARPLINE_LOADS
#undef WARPLINE_STORE
#undef WARPLINE_STORE2
#undef WARPLINE_STORE4
#undef WARPLINE_STORES

#endif
