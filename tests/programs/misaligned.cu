// needs: hooks
// expect: stderr "misaligned.cu:9"
// A load of four bytes at an odd address: error 716.
#include "test.h"

__global__ void load(const char *bytes, int *out, int offset)
{
    int i = threadIdx.x;
    out[i] = *reinterpret_cast<const int *>(bytes + 4 * i + offset);
}

int main()
{
    Device<char> bytes(1024);
    Device<int> out(64);
    load<<<1, 64>>>(bytes, out, 4);
    CHECK(cudaDeviceSynchronize());
    load<<<1, 64>>>(bytes, out, 2);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    if (failures > 0) {
        return 1;
    }
    std::printf("PASS misaligned\n");
    return 0;
}
