// Host allocations are reported after they happened, with size, kind and name; frees before.
#include "cuda.h"

extern "C" {
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
int posix_memalign(void **, size_t, size_t);
}
void use(void *);

void heap(size_t n) {
  float *h_data = (float *)malloc(n);
  use(h_data);
  int *counts = (int *)calloc(n, 4);
  use(counts);
  counts = (int *)realloc(counts, 2 * n);
  use(counts);
  double *fresh = new double[n];
  use(fresh);
  void *aligned;
  posix_memalign(&aligned, 64, n);
  use(aligned);
  delete[] fresh;
  free(h_data);
}

// CHECK-LABEL: define {{.*}} @_Z4heapm(
// CHECK: [[DATA:%[0-9]+]] = {{.*}}call {{.*}} @malloc(i64 {{.*}}%0)
// CHECK-NEXT: call void @__warpline_host_allocated(ptr [[DATA]], i64 %0, ptr @__warpline_text.malloc, ptr @__warpline_text.h_data)
// CHECK: [[COUNTS:%[0-9]+]] = {{.*}}call {{.*}} @calloc(
// CHECK-NEXT: [[BYTES:%[0-9]+]] = mul i64 4, %0
// CHECK-NEXT: call void @__warpline_host_allocated(ptr [[COUNTS]], i64 [[BYTES]], ptr @__warpline_text.calloc, ptr @__warpline_text.counts)
// CHECK: call void @__warpline_host_freed(ptr [[COUNTS]])
// CHECK-NEXT: {{.*}}call {{.*}} @realloc(
// CHECK-NEXT: call void @__warpline_host_allocated(
// CHECK: call {{.*}} @_Znam(
// CHECK-NEXT: call void @__warpline_host_allocated({{.*}}ptr @"__warpline_text.new[]", ptr @__warpline_text.fresh)
// CHECK: call {{.*}} @posix_memalign(
// CHECK-NEXT: [[ADDRESS:%[0-9]+]] = load ptr
// CHECK-NEXT: call void @__warpline_host_allocated(ptr [[ADDRESS]], i64 %0, ptr @__warpline_text.posix_memalign, ptr @__warpline_text.aligned)
// CHECK: call void @__warpline_host_freed(
// CHECK-NEXT: {{.*}}call void @_ZdaPv
// CHECK: call void @__warpline_host_freed(ptr [[DATA]])
// CHECK-NEXT: {{.*}}call void @free(ptr {{.*}}[[DATA]])
