// PTX: no
// A guard in inline assembly that compares arguments goes before the hook; the assembly stays as it is.
#include "cuda.h"

__global__ void guarded(int *out, const int *in, int wanted, int limit) {
  int value;
  asm volatile("{ .reg .pred p;\n setp.ne.b32 p, %1, 0;\n mov.b32 %0, 7;\n @p ld.global.L2::128B.u32 %0, [%2];\n }"
               : "=r"(value)
               : "r"(wanted), "l"(in)
               : "memory");
  asm volatile("{ .reg .pred q;\n setp.lt.s32 q, %0, %1;\n @!q st.global.u32 [%2], %3;\n }" ::"r"(wanted), "r"(limit),
               "l"(out), "r"(value)
               : "memory");
}

// CHECK-LABEL: define {{.*}}guarded
// CHECK: [[WANTED:%[0-9]+]] = icmp ne i32 %{{[0-9]+}}, 0
// CHECK: br i1 [[WANTED]], label %[[HOOK:[0-9]+]], label %[[ON:[0-9]+]]
// CHECK: [[HOOK]]:
// CHECK: call void @__warpline_access_global(i32 [[SITE:[0-9]+]],
// CHECK: br label %[[ON]]
// CHECK: [[ON]]:
// CHECK-NOT: __warpline_branch
// CHECK: asm sideeffect "{ .reg .pred p
// CHECK: icmp sge i32
// CHECK: call void @__warpline_access_global(i32
// CHECK: asm sideeffect "{ .reg .pred q
// CHECK: site [[SITE]] _Z7guardedPiPKiii Load Global 4 bytes
// CHECK: _Z7guardedPiPKiii Store Global 4 bytes
// CHECK: address of site [[SITE]] p1 if (p2 != 0)
// CHECK: address of site {{[0-9]+}} p0 if (p3 <= p2)
