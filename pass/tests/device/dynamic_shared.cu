// Dynamic shared memory is aligned to 16 bytes, whatever its type: what is cast to a wider one is moved at once.
#include "cuda.h"

extern __shared__ short values[];

__global__ void wide(float4 *out, int pitch) {
  int row = TX / 8, column = TX % 8;
  *((float4 *)&values[8 * row * 17] + column) = out[TX];
  out[TX + 64] = *((float4 *)&values[0] + TX);
}

// CHECK: @values = external {{.*}}addrspace(3) global [0 x i16], align 16
// CHECK: site {{[0-9]+}} _Z4wideP6float4i Store Shared 8 bytes
// CHECK-NOT: Shared 2 bytes
