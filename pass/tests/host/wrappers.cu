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

// Others may call this one, so it has a name for the memory itself where its caller gives none.
void exported(float **theirs) { cudaMalloc(theirs, 4); }

// More than its memory.
struct Solver {
  int nx;
  float *u;
  Solver(int nx) : nx(nx) { cudaMalloc(&u, nx); }
};

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
  Solver solver(4);
  use(&solver);
  Both both;
  both.make();
  use(&both);
}

// CHECK-LABEL: define {{.*}} @_Z8exportedPPf(
// CHECK: call void @__warpline_name_member(ptr null, ptr nonnull @__warpline_text.theirs, i32 2)
// CHECK-LABEL: define {{.*}} @_Z7callersm(
// CHECK-NOT: call void @__warpline_name(ptr nonnull @__warpline_text.fresh)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_a)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_b)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_c)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.image)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.d_d)
// CHECK: call void @__warpline_name_member(ptr null, ptr nonnull @__warpline_text.theirs, i32 2)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.solver.u)
// CHECK: call {{.*}} @cudaMalloc(
// CHECK: %[[DEPTH:[^ ]+]] = call i32 @__warpline_enter(ptr nonnull @__warpline_text.both, i32 0)
// CHECK: call void @{{.*}}make
// CHECK: call void @__warpline_leave(i32 %[[DEPTH]])
// CHECK-LABEL: define {{.*}} @_ZN4Both4makeEv(
// CHECK: call void @__warpline_name_member(ptr nonnull @__warpline_text..second, ptr nonnull {{.*}}@__warpline_text..second{{.*}}, i32 0)
// CHECK: call {{.*}} @cudaMalloc(
