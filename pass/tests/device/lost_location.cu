// A load that leaves its loop loses its location; the note keeps it, inlined-at chain included.
#include "cuda.h"

struct Grid {
  const float *weights;
  int width;
};

__device__ __forceinline__ float weight(const Grid *grid) {
  return grid->weights[3];
}

__global__ void hoisted(float *__restrict__ out, const Grid *__restrict__ grid, int n) {
  for (int i = 0; i < n; i++)
    out[i * BLOCK + TX] = out[i * BLOCK + TX + 1] * weight(grid);
}

// CHECK: site {{[0-9]+}} _Z7hoistedPfPK4Gridi Load Global 8 bytes align 8 {{[a-zA-Z]+}} at weight(Grid const*) lost_location.cu:10:16 < hoisted(float*, Grid const*, int) lost_location.cu:15:53
// CHECK: site {{[0-9]+}} _Z7hoistedPfPK4Gridi Load Generic 4 bytes align 4 {{[a-zA-Z]+}} at weight(Grid const*) lost_location.cu:10:10 < hoisted(float*, Grid const*, int) lost_location.cu:15:53
// CHECK-NOT: approximate
