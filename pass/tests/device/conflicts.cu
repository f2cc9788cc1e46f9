// Stores that depend on a load of their own address, values that differ between threads, scopes and fences.
#include "cuda.h"
#include "atomics.h"

__global__ void increments(int *counts, const int *keys) { counts[keys[TX]] += 1; }

__global__ void claims(int *owners, const int *keys) {
  int key = keys[TX];
  if (owners[key] == 0) owners[key] = keys[TX + 1];
}

__global__ void indices(int *out, int n) { out[n] = 2 * TX + n; }

__global__ void sums(int *out, const int *values) { out[TX] = values[TX] + values[TX + 1]; }

__global__ void guarded(int *best, const int *values) {
  int value = values[TX];
  if (*best < value) atomicAdd(best, value);
}

__global__ void swaps(unsigned long *cell) {
  unsigned long old = *cell, expected;
  do {
    expected = old;
    old = compareAndSwap(cell, expected, expected * 3);
  } while (old != expected);
}

__global__ void of_block(int *out) { __nvvm_atom_cta_add_gen_i(out, 1); }

__global__ void fenced(int *out, int *flag) {
  out[TX] = 1;
  __nvvm_membar_gl();
  atomicAdd(flag, 1);
}

// The loaded value of the first iteration stays in a register, but it is that of the same address.
__global__ void largest(int *best, const int *values, int n) {
  for (int k = TX; k < n; k += 32) *best = *best < values[k] ? values[k] : *best;
}

// The stored value comes from a load of another element, in the iteration before.
__global__ void shifted(int *out, int n) {
  int value = 0;
  for (int k = TX; k < n; ++k) {
    int old = out[k];
    out[k] = value;
    value = old;
  }
}

// CHECK: conflicts of site 2 update Value from site 1 differs 000{{$}}
// CHECK-NEXT: conflicts of site 6 update Condition from site 4 differs 000{{$}}
// CHECK-NEXT: conflicts of site 7 update No differs 001{{$}}
// CHECK-NEXT: conflicts of site 13 update Condition from site 12 differs 000{{$}}
// CHECK-NEXT: conflicts of site 15 update Value from site 14 differs 000{{$}}
// CHECK-NEXT: conflicts of site 16 update No differs 000 block scope{{$}}
// CHECK-NEXT: conflicts of site 21 update Value from site 19 differs 000{{$}}
// CHECK-NEXT: fence in _Z6fencedPiS_
// CHECK-NOT: fence in
