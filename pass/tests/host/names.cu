// The variable, field or element that an allocation fills gives it its name.
#include "cuda.h"

struct Mesh {
  int count;
  float *nodes;
  struct {
    double *values[2];
  } field;
};

float *global_buffer;
static int *static_buffer;

class Solver {
  float *state;
  Mesh mesh;

public:
  void allocate(size_t n);
};

void Solver::allocate(size_t n) {
  cudaMalloc(&state, n);
  cudaMalloc(&mesh.nodes, n);
}
// CHECK-LABEL: define {{.*}} @_ZN6Solver8allocateEm(
// CHECK: call void @__warpline_name_member(ptr nonnull @__warpline_text..state, ptr {{.*}}@__warpline_text..state, i64 1), i32 0)
// CHECK-NEXT: {{.*}}call {{.*}} @cudaMalloc(
// CHECK: call void @__warpline_name_member(ptr nonnull @__warpline_text..mesh.nodes, ptr {{.*}}, i32 0)

void reference(float *&by_reference, float **by_pointer, Mesh *mesh, Mesh &other) {
  cudaMalloc(&by_reference, 4);
  cudaMalloc(by_pointer, 4);
  cudaMalloc((void **)&mesh->nodes, 4);
  cudaMalloc((void **)&other.field.values[1], 4);
}
// CHECK-LABEL: define {{.*}} @_Z9reference
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.by_reference)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.by_pointer)
// CHECK: call void @__warpline_name(ptr nonnull @"__warpline_text.mesh->nodes")
// CHECK: call void @__warpline_name(ptr nonnull @"__warpline_text.other.field.values[1]")

void arrays(int n, float **table) {
  float *buffers[4];
  for (int i = 0; i < n; i++) {
    cudaMalloc(&buffers[i], 4);
    cudaMalloc(&table[i], 4);
  }
  cudaHostRegister(buffers[0], 4, 0);
}
// CHECK-LABEL: define {{.*}} @_Z6arraysiPPf(
// CHECK: call void @__warpline_name(ptr nonnull @"__warpline_text.buffers[0]")
// CHECK-NEXT: {{.*}}call {{.*}} @cudaHostRegister(
// CHECK: call {{.*}} @snprintf(ptr {{.*}}[[TEXT:%[0-9]+]], i64 128, ptr nonnull @"__warpline_text.buffers[%lld]", i64
// CHECK-NEXT: call void @__warpline_name(ptr nonnull [[TEXT]])
// CHECK: call {{.*}} @snprintf(ptr {{.*}}, i64 128, ptr nonnull @"__warpline_text.table[%lld]", i64

void globals(size_t n) {
  float *local;
  size_t pitch;
  cudaMalloc(&global_buffer, n);
  cudaMalloc((void **)&static_buffer, n);
  cudaMallocManaged(&local, n);
  cudaMallocPitch((void **)&local, &pitch, n, n);
}
// CHECK-LABEL: define {{.*}} @_Z7globalsm(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.global_buffer)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.static_buffer)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.local)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.local)
// CHECK-NOT: devPtr

// A structure that is returned, or passed by value, lies where an argument of the code leads to.
struct Tables {
  long size[20];
  double *grid;
};
Tables returned(Tables given) {
  Tables made = given;
  cudaMalloc((void **)&made.grid, 4);
  cudaMalloc((void **)&given.grid, 4);
  made.size[0] = given.grid != nullptr;
  return made;
}
// CHECK-LABEL: define {{.*}} @_Z8returned6Tables(
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.made.grid)
// CHECK: call void @__warpline_name(ptr nonnull @__warpline_text.given.grid)
