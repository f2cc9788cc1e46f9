// FLAGS: -std=c++17
// What a standard container allocates is called like the container; its elements are called by subscript.
#include <vector>
#include <memory>
#include "cuda.h"

struct Level {
  int size;
  float *values;
};

void use(std::vector<float> &);

void containers(size_t n) {
  std::vector<float> h_input(n);
  use(h_input);
}
// CHECK-LABEL: define {{.*}} @_Z10containersm(
// CHECK: {{(call|invoke)}} {{.*}} @_Znwm(
// CHECK: call void @__warpline_host_allocated({{.*}}ptr @__warpline_text.new, ptr @__warpline_text.h_input)

void levels(std::vector<Level> &pyramid, std::vector<float *> &tiles) {
  for (int level = 0; level < 4; level++)
    cudaMalloc(&pyramid[level].values, 4);
  cudaMalloc(&tiles[2], 4);
}
// CHECK-LABEL: define {{.*}} @_Z6levels
// CHECK: @snprintf({{.*}}@"__warpline_text.pyramid[%lld].values"
// CHECK: call void @__warpline_name(ptr nonnull @"__warpline_text.tiles[2]")
