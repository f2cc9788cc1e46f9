// PTX: no
// Matrix loads and stores of tensor cores are sites with the address of each lane's part.
#include "cuda.h"

__global__ void matrices(int *a, int *halves, unsigned stride) {
  __shared__ __attribute__((aligned(16))) int rows[128];
  int fragment[8], low, high;
  __hmma_m16n16k16_ld_a(fragment, a, stride, 0);
  for (int i = 0; i < 4; ++i)
    rows[TX + 32 * i] = fragment[i];
  unsigned place = (unsigned)(size_t)(__attribute__((address_space(3))) int *)(rows + TX % 16 * 4);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2+16];"
               : "=r"(low), "=r"(high)
               : "r"(place));
  asm volatile("@p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(fragment[0]) : "r"(place));
  fragment[0] = low;
  fragment[1] = high;
  __hmma_m16n16k16_st_c_f16(halves, fragment, 24, 1);
  __hmma_m16n16k16_ld_b(fragment, rows, 16, 0);
  a[TX] = fragment[TX % 4];
}

// A fragment's part: row (lane / 4) of `stride` halves, column 2 (lane % 4), in bytes.
// CHECK: [[LANE:%[0-9]+]] = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
// CHECK-NEXT: [[STRIDE:%[0-9]+]] = zext i32 %{{[0-9]+}} to i64
// CHECK-NEXT: [[SHIFTED:%[0-9]+]] = lshr i32 [[LANE]], 2
// CHECK-NEXT: [[GROUP:%[0-9]+]] = zext i32 [[SHIFTED]] to i64
// CHECK: [[BYTES:%[0-9]+]] = lshr i64 %{{[0-9]+}}, 3
// CHECK-NEXT: [[PLACE:%[0-9]+]] = getelementptr i8, ptr addrspace(1) %{{[0-9]+}}, i64 [[BYTES]]
// CHECK-NEXT: call void @__warpline_access_global(i32 0, ptr addrspace(1) [[PLACE]])
// CHECK: call void @__warpline_access_global(i32 3, ptr addrspace(1) %{{[0-9]+}})
// CHECK-NEXT: @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16
// Two matrices: 8 bytes per lane, of a row whose address another lane has.
// CHECK: [[HALF:%[0-9]+]] = lshr i32 [[LANE2:%[0-9]+]], 1
// CHECK-NEXT: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %{{[0-9]+}}, i32 [[HALF]], i32 31)
// CHECK: call void @__warpline_access_shared(i32 8, ptr addrspace(3) %{{[0-9]+}})
// CHECK-NEXT: asm sideeffect "ldmatrix
// CHECK: site 0 _Z8matricesPiS_j Load Global 4 bytes align 4 Default at {{.*}} matrices.cu:8:3
// CHECK: site 3 _Z8matricesPiS_j Load Global 4 bytes align 4 Default at {{.*}} matrices.cu:8:3
// CHECK: site 8 _Z8matricesPiS_j Load Shared 8 bytes align 8 Default at {{.*}} matrices.cu:12:3
// CHECK: site 9 _Z8matricesPiS_j Store Global 4 bytes align 4 Default at {{.*}} matrices.cu:18:3
// CHECK: site 12 _Z8matricesPiS_j Store Global 4 bytes align 4 Default at {{.*}} matrices.cu:18:3
// A fragment in shared memory is loaded as by ldmatrix: rows of 16 bytes, one per lane.
// CHECK: site 13 _Z8matricesPiS_j Load Shared 16 bytes align 16 Default at {{.*}} matrices.cu:19:3
// CHECK: not seen in _Z8matricesPiS_j: inline assembly: @p ldmatrix
