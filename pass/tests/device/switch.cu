// The side of a switch is the index of the distinct target, the default's first; cases that share a target share a
// side and, as neighbours, a test.
#include "cuda.h"

__global__ void choose(int *out, const int *in) {
  switch (in[TX]) {
  case 1:
  case 2:
  case 3:
    out[1] = TX;
    break;
  case 10:
    out[2] = 7;
    break;
  case 20:
    out[3] = 9;
    __nvvm_bar_sync(0);
    break;
  default:
    out[4] = 11;
  }
}

// CHECK: call void @__warpline_switch(i32 0, i32 [[SIDE:%[0-9]+]])
// CHECK-NEXT: switch i32
// CHECK: branch 0 _Z6choosePiPKi 4 sides at choose(int*, int const*) switch.cu:6:3
