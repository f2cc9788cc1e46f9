// Each address space has its own hook; kernel parameters have none.
#include "cuda.h"

__constant__ float coefficients[16];
__device__ float total;

__global__ void spaces(float *out, const float *in, int n) {
  __shared__ float tile[64];
  float kept[8];
  tile[TX] = in[TX];
  __nvvm_bar_sync(0);
  for (int i = 0; i < n; i++)
    kept[i & 7] = tile[i];
  out[TX] = coefficients[TX] + kept[n & 7];
  total = 1;
}

// CHECK: define {{.*}}ptx_kernel void @_Z6spacesPfPKfi(
// CHECK: call void @__warpline_block(i32 0)
// CHECK: call void @__warpline_access_global(i32 0, ptr addrspace(1) [[IN:%[0-9]+]])
// CHECK-NEXT: load float, ptr addrspace(1) [[IN]]
// CHECK: call void @__warpline_access_shared(i32 1, ptr addrspace(3) [[TILE:%[0-9]+]])
// CHECK-NEXT: store float {{.*}}, ptr addrspace(3) [[TILE]]
// CHECK: call void @__warpline_branch(i32 0, i1 [[MORE:%[0-9]+]])
// CHECK-NEXT: br i1 [[MORE]]
// CHECK: call void @__warpline_access_constant(i32 {{[0-9]+}}, ptr addrspace(4)
// CHECK: call void @__warpline_access_local(i32 {{[0-9]+}}, ptr addrspace(5)
// CHECK: call void @__warpline_access_global(i32 {{[0-9]+}}, ptr addrspace(1) @total)
// CHECK-NOT: warpline.loc
// CHECK: kernel 0 _Z6spacesPfPKfi spaces(float*, float const*, int) spaces.cu:7:0
// CHECK: site 0 _Z6spacesPfPKfi Load Global 4 bytes align 4 Default at spaces(float*, float const*, int) spaces.cu:10:14
// CHECK: site 1 _Z6spacesPfPKfi Store Shared 4 bytes align 4 Default at spaces(float*, float const*, int) spaces.cu:10:12
// CHECK: branch 0 _Z6spacesPfPKfi 2 sides
// CHECK: global 0 coefficients Constant 64 bytes at  spaces.cu:4:0
// CHECK: global 1 total Device 4 bytes at  spaces.cu:5:0
