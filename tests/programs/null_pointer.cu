// needs: hooks
// expect: stderr "null_pointer.cu:10"
// One lane of many follows a null pointer; and a host pointer is no device pointer.
#include "test.h"

__global__ void follow(int **pointers, int *out)
{
    int i = threadIdx.x;
    int *pointer = pointers[i];
    out[i] = *pointer;
}

int main()
{
    Device<int> values(64), out(64);
    std::vector<int *> pointers(64);
    for (int i = 0; i < 64; ++i) {
        pointers[i] = i == 45 ? nullptr : values + i;
    }
    Device<int *> d_pointers(pointers);
    follow<<<1, 64>>>(d_pointers, out);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS null_pointer\n");
    return 0;
}
