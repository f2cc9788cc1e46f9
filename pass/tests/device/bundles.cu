// Accesses at constant distances from each other share the hook of the first; a bundle ends at an access that is none of
// it, and goes on across accesses to shared memory, whose bundles grow side by side.
// BUNDLES: yes
#include "cuda.h"

struct Particle { float x, y, z, mass; int kind[3]; };

__global__ void fields(const Particle *particles, const int *which, float *out) {
  const Particle *p = particles + which[TX];
  out[TX] = p->x + p->z + p->kind[1];
}

__global__ void stencil(float *out, int pitch, int row) {
  __shared__ float a[32][33], b[32][32];
  int x = TX + 1, y = row + 1;
  a[row][TX] = b[TX][row] = out[TX];
  __nvvm_bar_sync(0);
  float sum = a[y][x - 1] * b[y][x] + a[y][x + 1] * b[y][x + 1] + a[y - 1][x] + a[y + 1][x];
  out[y * pitch + x] = sum;
}

__global__ void barrier(float *out) {
  float first = out[TX];
  __nvvm_bar_sync(0);
  out[TX + 4096] = first;
}

// CHECK-LABEL: @_Z6fieldsPK8ParticlePKiPf(
// CHECK: call void @__warpline_access_global(i32 0, ptr
// CHECK: call void @__warpline_access_global(i32 [[THREE:8912896]], ptr addrspace(1) [[P:%[0-9a-z.]+]])
// CHECK-NEXT: load float, ptr addrspace(1) [[P]]
// CHECK: call void @__warpline_member_global(i32 2, ptr addrspace(1) {{%[0-9a-z.]+}}, i32 0)
// CHECK: call void @__warpline_member_global(i32 3, ptr addrspace(1) {{%[0-9a-z.]+}}, i32 0)
// CHECK: call void @__warpline_access_global(i32 4, ptr

// CHECK-LABEL: @_Z7stencilPfii(
// CHECK: call void @llvm.nvvm.barrier
// CHECK-COUNT-2: call void @__warpline_access_shared(i32 {{[89][0-9]+}}, ptr addrspace(3)
// CHECK-COUNT-4: call void @__warpline_member_shared(
// CHECK: call void @__warpline_access_global(i32

// CHECK-LABEL: @_Z7barrierPf(
// CHECK: call void @__warpline_access_global(i32 {{[0-9]+}}, ptr
// CHECK-NOT: __warpline_member
// CHECK: ret void
