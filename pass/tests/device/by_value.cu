// A structure by value lies in parameter space, which is no memory traffic; the pointer in it is global.
#include "cuda.h"

struct Mesh {
  float *nodes;
  int count;
  float4 box;
};

__global__ void scale(Mesh mesh) {
  if (TX < mesh.count)
    mesh.nodes[TX] *= mesh.box.y;
}

// CHECK: site 0 _Z5scale4Mesh Load Global 4 bytes align 4 Default at scale(Mesh) by_value.cu:12:20
// CHECK: site 1 _Z5scale4Mesh Store Global 4 bytes align 4 Default at scale(Mesh) by_value.cu:12:20
// CHECK-NOT: site 2
