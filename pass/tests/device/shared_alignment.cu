// Shared memory is aligned to 16 bytes, whatever its type: what is cast to a wider one is moved at once.
#include "cuda.h"

extern __shared__ short values[];

__global__ void wide(float4 *out, int pitch) {
  int row = TX / 8, column = TX % 8;
  *((float4 *)&values[8 * row * 17] + column) = out[TX];
  out[TX + 64] = *((float4 *)&values[0] + TX);
}

// The same of an array of fixed size, by rows, as in tiled products.
__global__ void tile(float4 *out, const float4 *in) {
  __shared__ float rows[64 * 32];
  reinterpret_cast<float4 *>(&rows[TX / 8 * 32 + TX % 8 * 4])[0] = in[TX];
  float4 back = reinterpret_cast<float4 *>(&rows[TX % 8 * 32 + TX / 8 * 4])[0];
  out[TX] = back;
}

// CHECK: @values = external {{.*}}addrspace(3) global [0 x i16], align 16
// CHECK: site {{[0-9]+}} _Z4wideP6float4i Store Shared 16 bytes
// CHECK-NOT: Shared 2 bytes
// CHECK-NOT: Shared 4 bytes
// CHECK: site {{[0-9]+}} _Z4tileP6float4PKS_ Store Shared 16 bytes
// CHECK: site {{[0-9]+}} _Z4tileP6float4PKS_ Load Shared 16 bytes
// CHECK-NOT: Shared 4 bytes
