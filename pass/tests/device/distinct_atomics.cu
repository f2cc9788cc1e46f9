// Atomic operations at the ends of the two sides of a branch stay two, each at its place.
#include "cuda.h"
#include "atomics.h"

__device__ void add(int *at, int value) { atomicAdd(at, value); }

__global__ void sides(int *out, int n) {
  if (TX & 1) atomicAdd(&out[n], 1); else { out[0] = n; atomicAdd(&out[n], 2); }
}

__global__ void inlined(int *out, int n) {
  if (TX & 1) add(out + n, 1); else { out[0] = n; add(out + n, 2); }
}

__global__ void first(int *out, int n) {
  if (TX & 1) { atomicAdd(out + n, 1); out[1] = n; } else { atomicAdd(out + n, 1); out[2] = n; }
}

__global__ void swapped(unsigned long *out, int n) {
  if (TX & 1) compareAndSwap(out + n, 0ul, 1ul); else { out[0] = n; compareAndSwap(out + n, 0ul, 2ul); }
}

__global__ void scoped(int *out, int n) {
  if (TX & 1) __nvvm_atom_cta_add_gen_i(out + n, 1); else { out[0] = n; __nvvm_atom_cta_add_gen_i(out + n, 2); }
}

// CHECK-NOT: syncscope("warpline
// CHECK: _Z5sidesPii Atomic {{.*}} distinct_atomics.cu:8:57
// CHECK: _Z5sidesPii Atomic {{.*}} distinct_atomics.cu:8:15
// CHECK: _Z7inlinedPii Atomic {{.*}} distinct_atomics.cu:12:51
// CHECK: _Z7inlinedPii Atomic {{.*}} distinct_atomics.cu:12:15
// CHECK: _Z5firstPii Atomic {{.*}} distinct_atomics.cu:16:61
// CHECK: _Z5firstPii Atomic {{.*}} distinct_atomics.cu:16:17
// CHECK: _Z7swappedPmi Atomic {{.*}} distinct_atomics.cu:20:69
// CHECK: _Z7swappedPmi Atomic {{.*}} distinct_atomics.cu:20:15
// CHECK: _Z6scopedPii Atomic {{.*}} distinct_atomics.cu:24:73
// CHECK: _Z6scopedPii Atomic {{.*}} distinct_atomics.cu:24:15
