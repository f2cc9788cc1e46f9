// Launches through cudaLaunchKernel and cudaLaunchKernelExC, by function pointer, with dynamic shared memory.
#include "test.h"

__global__ void fill(int *out, int start, short step, double scale)
{
    extern __shared__ int shared[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    shared[threadIdx.x] = start + i * step;
    __syncthreads();
    out[i] = static_cast<int>(shared[blockDim.x - 1 - threadIdx.x] * scale);
}

int main()
{
    Device<int> out(96);
    int *pointer = out;
    int start = 10;
    short step = 3;
    double scale = 2;
    void *arguments[] = {&pointer, &start, &step, &scale};
    CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(fill), dim3(3), dim3(32), arguments, 32 * sizeof(int), nullptr));
    std::vector<int> want(96);
    for (int i = 0; i < 96; ++i) {
        want[i] = 2 * (10 + 3 * (i / 32 * 32 + 31 - i % 32));
    }
    expect_equal("cudaLaunchKernel", out.read(), want);

    cudaLaunchConfig_t config{};
    config.gridDim = dim3(2);
    config.blockDim = dim3(48);
    config.dynamicSmemBytes = 48 * sizeof(int);
    CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(fill), arguments));
    for (int i = 0; i < 96; ++i) {
        want[i] = 2 * (10 + 3 * (i / 48 * 48 + 47 - i % 48));
    }
    expect_equal("cudaLaunchKernelExC", out.read(), want);

    void (*through)(int *, int, short, double) = fill;
    through<<<1, 96, 96 * sizeof(int)>>>(out, 0, 1, 1.0);
    for (int i = 0; i < 96; ++i) {
        want[i] = 95 - i;
    }
    expect_equal("pointer", out.read(), want);
    return done("launch_direct");
}
