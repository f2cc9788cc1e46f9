// A float4 that is computed with is one access of 16 bytes; wider vectors are split, and structures and unaligned
// members become what the back end makes of them.
#include "cuda.h"

typedef float float8 __attribute__((vector_size(32)));
struct __attribute__((packed)) Odd {
  char tag;
  int value;
};
struct Pair {
  float4 first;
  int second[3];
};

__global__ void vectors(float4 *out, const float4 *in) {
  float4 value = in[TX];
  value.x += value.w;
  value.z *= value.y;
  out[TX] = value;
}
__global__ void eight(float8 *out, const float8 *in) { out[TX] = in[TX] + in[0]; }
__global__ void unaligned(int *out, const Odd *in) { out[TX] = in[TX].value; }
__global__ void copies(Pair *out, const Pair *in) { out[TX] = in[TX]; }

// CHECK: site {{[0-9]+}} _Z7vectorsP6float4PKS_ Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z7vectorsP6float4PKS_ Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Load Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Store Global 16 bytes align 16
// CHECK-NEXT: site {{[0-9]+}} _Z5eight{{.*}} Store Global 16 bytes align 16
// CHECK-COUNT-4: site {{[0-9]+}} _Z9unaligned{{.*}} Load Global 1 bytes align 1
// CHECK-NEXT: site {{[0-9]+}} _Z9unaligned{{.*}} Store Global 4 bytes align 4
// CHECK: site {{[0-9]+}} _Z6copies{{.*}} Load Global
