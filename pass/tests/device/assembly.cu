// PTX: no
// Inline assembly is a site where it is understood and reported where it is not.
#include "cuda.h"

__global__ void inlined(int *out, const int *in, unsigned long texture) {
  int relaxed, x, y, z, w;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1+4];" : "=r"(relaxed) : "l"(in) : "memory");
  asm volatile("st.global.v2.s32 [%0], {%1, %2};" ::"l"(out), "r"(relaxed), "r"(1) : "memory");
  asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(texture), "r"(relaxed));
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(y));
  out[8] = x + y;
}

// CHECK: [[IN:%[0-9]+]] = getelementptr i8, ptr addrspace(1) %{{[0-9]+}}, i64 4
// CHECK-NEXT: call void @__warpline_access_global(i32 0, ptr addrspace(1) [[IN]])
// CHECK-NEXT: call i32 asm sideeffect "ld.relaxed
// CHECK: call void @__warpline_texture(i32 2)
// CHECK-NEXT: asm sideeffect "tex.1d
// CHECK: site 0 _Z7inlinedPiPKim Load Global 4 bytes align 4 Volatile at {{.*}} assembly.cu:7:3
// CHECK: site 1 _Z7inlinedPiPKim Store Global 8 bytes align 8 Default at {{.*}} assembly.cu:8:3
// CHECK: site 2 _Z7inlinedPiPKim Load Global 1 bytes align 1 NonCoherent at {{.*}} assembly.cu:9:3
// CHECK: site 6 _Z7inlinedPiPKim Load Global 16 bytes align 1 NonCoherent at {{.*}} assembly.cu:9:3
// CHECK: site 7 _Z7inlinedPiPKim Store Global 4 bytes
// CHECK: not seen in _Z7inlinedPiPKim: on a GPU: tex.1d.v4.s32.s32
