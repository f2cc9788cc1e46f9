// The registration of device code runs before the constructors of static objects, which may launch kernels.
// CHECK: @llvm.global_ctors = appending global [2 x { i32, ptr, ptr }]
// CHECK-DAG: { i32, ptr, ptr } { i32 65535, ptr @_GLOBAL__sub_I_registration.cu, ptr null }
// CHECK-DAG: { i32, ptr, ptr } { i32 101, ptr @__cuda_module_ctor, ptr null }
#include "cuda.h"

__global__ void kernel() {}

struct Early {
    Early() { kernel<<<1, 1>>>(); }
};
Early early;
