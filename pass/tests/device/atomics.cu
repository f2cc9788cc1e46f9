// One hook per atomic, at the line of the caller of the header's wrapper.
#include "cuda.h"
#include "atomics.h"

__global__ void count(int *bins, float *sums, unsigned long *lock) {
  __shared__ int local[32];
  atomicAdd(&bins[TX & 7], 1);
  atomicAdd(&local[TX & 31], 1);
  atomicAdd(&sums[TX], 0.5f);
  compareAndSwap(lock, 0ul, 1ul);
  bins[0] = local[0];
}

// CHECK: call void @__warpline_access_global(i32 0, ptr addrspace(1) [[BIN:%[0-9]+]])
// CHECK-NEXT: atomicrmw add ptr addrspace(1) [[BIN]]
// CHECK: call void @__warpline_access_shared(i32 1
// CHECK-NEXT: atomicrmw add ptr addrspace(3)
// CHECK: atomicrmw fadd
// CHECK: cmpxchg
// CHECK: site 0 [[K:[_a-zA-Z0-9]+]] Atomic Global 4 bytes align 4 Default at atomicAdd(int*, int) atomics.h:{{[0-9]+}}:{{[0-9]+}} (system) < count({{.*}}) atomics.cu:7:3
// CHECK: site 1 [[K]] Atomic Shared 4 bytes align 4 Default at atomicAdd(int*, int) {{.*}} < count({{.*}}) atomics.cu:8:3
// CHECK: site 2 [[K]] Atomic Global 4 bytes
// CHECK: site 3 [[K]] Atomic Global 8 bytes align 8
