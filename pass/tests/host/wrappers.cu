// A function that allocates for its callers is named by them.
#include "cuda.h"

void check(cudaError_t);

template <class T> T *device_array(size_t n) {
  T *fresh;
  check(cudaMalloc(&fresh, n * sizeof(T)));
  return fresh;
}

static void fill(float **target, size_t n) { check(cudaMalloc((void **)target, n)); }

template <class T> void fill_twice(T **outer, size_t n) { fill(outer, n); }

struct Buffer {
  size_t size;
  float *memory;
  Buffer(size_t n) : size(n) { cudaMalloc(&memory, n); }
};

// Two allocations are each named here; the first is another method's, which is known to allocate only later.
struct Both {
  float *first, *second;
  __attribute__((noinline)) void make() { make_first(); cudaMalloc(&second, 8); }
  __attribute__((noinline)) void make_first() { cudaMalloc(&first, 4); }
};

// Others may call this one, so it names the memory itself.
void exported(float **theirs) { cudaMalloc(theirs, 4); }

void use(void *);

void callers(size_t n) {
  float *d_a = device_array<float>(n);
  float *d_b, *d_c, *d_d;
  fill(&d_b, n);
  fill_twice(&d_c, n);
  Buffer image(n);
  exported(&d_d);
  use(d_a);
  use(d_b);
  use(d_c);
  use(d_d);
  use(&image);
  Both both;
  both.make();
  use(&both);
}

// CHECK-LABEL: define {{.*}} @_Z8exportedPPf(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.theirs)
// CHECK-LABEL: define {{.*}} @_Z7callersm(
// CHECK-NOT: call void @__warpline_name(ptr nonnull @__warpline_text.fresh)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_a)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_b)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_c)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.image.memory)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK-LABEL: define {{.*}} @_ZN4Both4makeEv(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.{{.*}}first)
// CHECK: call {{.*}}@{{_ZN4Both10make_firstEv|cudaMalloc}}(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.{{.*}}second)
// CHECK: call {{.*}} @cudaMalloc(
