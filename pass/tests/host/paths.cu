// No function vanishes from a call path: tail calls stay calls. And kernels register with the descriptor.
#include "cuda.h"

__global__ void kernel(int *p) { *p = 1; }

int callee(int);
int caller(int x) { return callee(x + 1); }
void launch(int *p) { kernel<<<1, 32>>>(p); }

// CHECK: @__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 {{[0-9]+}}, i32 1, ptr @__warpline_module, ptr null }
// CHECK: @__warpline_module = external global
// CHECK: define {{.*}} @_Z6calleri({{.*}} #[[A:[0-9]+]]
// CHECK: call {{.*}} @_Z6calleei(
// CHECK: attributes #[[A]] = { {{.*}}uwtable {{.*}}"disable-tail-calls"="true"
