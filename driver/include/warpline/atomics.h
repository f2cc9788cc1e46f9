// nvcc's built-in atomic functions (CUDA C++ Programming Guide, "Built-in Atomic Functions"), which have other names in
// clang. A scope only limits which threads must see the effect; here, all threads see it.
#ifndef WARPLINE_ATOMICS_H
#define WARPLINE_ATOMICS_H
#pragma GCC system_header

#if !__has_builtin(__nv_atomic_load_n)

#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_CONSUME __ATOMIC_CONSUME
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_ATOMIC_SEQ_CST __ATOMIC_SEQ_CST

#define __NV_THREAD_SCOPE_SYSTEM 0
#define __NV_THREAD_SCOPE_DEVICE 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_THREAD 3
#define __NV_THREAD_SCOPE_CLUSTER 4

// These are macros, because the order must be a constant at the built-in function. The scope may be omitted.
#define __nv_atomic_load_n(pointer, order, ...) __atomic_load_n(pointer, order)
#define __nv_atomic_load(pointer, result, order, ...) __atomic_load(pointer, result, order)
#define __nv_atomic_store_n(pointer, value, order, ...) __atomic_store_n(pointer, value, order)
#define __nv_atomic_store(pointer, value, order, ...) __atomic_store(pointer, value, order)
#define __nv_atomic_exchange_n(pointer, value, order, ...) __atomic_exchange_n(pointer, value, order)
#define __nv_atomic_exchange(pointer, value, result, order, ...) __atomic_exchange(pointer, value, result, order)
#define __nv_atomic_compare_exchange_n(pointer, expected, desired, weak, success, failure, ...)                        \
  __atomic_compare_exchange_n(pointer, expected, desired, weak, success, failure)
#define __nv_atomic_compare_exchange(pointer, expected, desired, weak, success, failure, ...)                          \
  __atomic_compare_exchange(pointer, expected, desired, weak, success, failure)
#define __nv_atomic_fetch_add(pointer, value, order, ...) __atomic_fetch_add(pointer, value, order)
#define __nv_atomic_fetch_sub(pointer, value, order, ...) __atomic_fetch_sub(pointer, value, order)
#define __nv_atomic_fetch_and(pointer, value, order, ...) __atomic_fetch_and(pointer, value, order)
#define __nv_atomic_fetch_or(pointer, value, order, ...) __atomic_fetch_or(pointer, value, order)
#define __nv_atomic_fetch_xor(pointer, value, order, ...) __atomic_fetch_xor(pointer, value, order)
#define __nv_atomic_fetch_min(pointer, value, order, ...) __atomic_fetch_min(pointer, value, order)
#define __nv_atomic_fetch_max(pointer, value, order, ...) __atomic_fetch_max(pointer, value, order)
// nvcc's functions of this kind return nothing.
#define __nv_atomic_add(pointer, value, order, ...) ((void)__atomic_fetch_add(pointer, value, order))
#define __nv_atomic_sub(pointer, value, order, ...) ((void)__atomic_fetch_sub(pointer, value, order))
#define __nv_atomic_and(pointer, value, order, ...) ((void)__atomic_fetch_and(pointer, value, order))
#define __nv_atomic_or(pointer, value, order, ...) ((void)__atomic_fetch_or(pointer, value, order))
#define __nv_atomic_xor(pointer, value, order, ...) ((void)__atomic_fetch_xor(pointer, value, order))
#define __nv_atomic_min(pointer, value, order, ...) ((void)__atomic_fetch_min(pointer, value, order))
#define __nv_atomic_max(pointer, value, order, ...) ((void)__atomic_fetch_max(pointer, value, order))
#define __nv_atomic_thread_fence(order, ...) __atomic_thread_fence(order)

#endif

#endif
