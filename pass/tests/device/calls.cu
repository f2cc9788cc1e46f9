// A call that survives inlining is hooked before and after; a call of the device runtime is not.
#include "cuda.h"

extern "C" __device__ int vprintf(const char *, void *);

__device__ __noinline__ float deep(const float *data, int n) {
  if (n == 0)
    return data[0];
  return deep(data, n - 1) * data[n] + deep(data, n - 2);
}

__global__ void caller(float *out, const float *in, int n, float (*chosen)(float)) {
  out[TX] = deep(in, n);
  out[TX + 32] = chosen(in[TX]);
  vprintf("done\n", nullptr);
}

// CHECK-LABEL: define {{.*}}float @_Z4deepPKfi(
// CHECK: call void @__warpline_call(i32 [[#]])
// CHECK-NEXT: call {{.*}} @_Z4deepPKfi(
// CHECK-NEXT: call void @__warpline_return()
// CHECK-LABEL: define {{.*}}void @_Z6caller{{.*}}(
// CHECK: call void @__warpline_call(
// CHECK-NEXT: call {{.*}} @_Z4deepPKfi(
// CHECK-NEXT: call void @__warpline_return()
// CHECK: call void @__warpline_call(
// CHECK-NEXT: call {{.*}} %{{[0-9]+}}(float
// CHECK-NEXT: call void @__warpline_return()
// CHECK-NOT: call void @__warpline_call(
// CHECK: call {{.*}} @vprintf
// CHECK: function 0 _Z4deepPKfi
// CHECK: kernel 1 _Z6callerPfPKfiPFffE
// CHECK: call [[#]] in _Z6callerPfPKfiPFffE at caller({{.*}}) calls.cu:13:13
