// needs: hooks
// expect: exit 3, stderr "an illegal memory access was encountered"
// expect: stderr "out_of_bounds_write.cu:12"
// expect: stderr "d_out"
// A write in front of an allocation, found in a function; the program ends as its error check decides.
#include "test.h"

struct Buffer {
    float *data;
    __device__ __noinline__ void store(int at, float value)
    {
        data[at] = value;
    }
};

__global__ void shift(Buffer buffer, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        buffer.store(i - 1, 2.0f * i);
    }
}

int main()
{
    // Ends 24 bytes before the next one begins.
    float *d_other, *d_out;
    CHECK(cudaMalloc(&d_other, 250 * sizeof(float)));
    CHECK(cudaMalloc(&d_out, 256 * sizeof(float)));
    shift<<<2, 128>>>(Buffer{d_out}, 256);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
        return 3;
    }
    return 0;
}
