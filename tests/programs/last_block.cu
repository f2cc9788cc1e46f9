// The last block to finish adds up what the others wrote (fences and a counter), launched twice.
#include "test.h"

__device__ unsigned finished = 0;

__global__ void sum(const float *values, int n, volatile float *partial, float *total)
{
    __shared__ float shared[128];
    __shared__ bool last;
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += values[i];
    }
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            shared[threadIdx.x] += shared[threadIdx.x + half];
        }
        __threadfence_block();
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = shared[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned block = 0; block < gridDim.x; ++block) {
            all += partial[block];
        }
        *total = all;
        __threadfence_system();
    }
}

int main()
{
    const int n = 30000, blocks = 90;
    std::vector<float> values(n);
    float want = 0;
    for (int i = 0; i < n; ++i) {
        values[i] = static_cast<float>(i % 17);
        want += values[i];
    }
    Device<float> d_values(values), partial(blocks), total(1);
    for (int launch = 0; launch < 2; ++launch) {
        CHECK(cudaMemset(total, 0, sizeof(float)));
        sum<<<blocks, 128>>>(d_values, n, partial, total);
        expect_equal("total", total.read()[0], want);
    }
    return done("last_block");
}
