// The instructions of a block belong to their own lines; columns distinguish the two branches of a condition.
#include "cuda.h"

// CHECK-LABEL: kernel 0 _Z5partsPfi
__global__ void parts(float *data, int n) {
    int i = __nvvm_read_ptx_sreg_tid_x();
    float x = data[i];
    float y = x * 2.0f;
    y = y + 3.0f;
    if (i < n && y > x) {
        data[i] = y;
    }
}

// CHECK: part of block 0 {{[0-9]+}} instructions at {{.*}} parts.cu:7:0
// CHECK: branch 0 _Z5partsPfi 2 sides at {{.*}} parts.cu:10
