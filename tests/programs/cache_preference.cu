// Division of L1 and shared memory by the program's preference. Each warp reads 25.6 KB four times.
#include "test.h"

template <int Number>
__global__ void sweep(const float *in, float *out)
{
    float sum = 0;
    for (int round = 0; round < 4; ++round) {
        for (int row = 0; row < 200; ++row) {
            sum += in[row * 32 + threadIdx.x];
        }
    }
    out[threadIdx.x] = sum;
}

int main()
{
    float *in, *out;
    CHECK(cudaMalloc(&in, 200 * 128));
    CHECK(cudaMalloc(&out, 128));
    CHECK(cudaMemset(in, 0, 200 * 128));
    sweep<0><<<1, 32>>>(in, out);
    CHECK(cudaFuncSetCacheConfig(sweep<1>, cudaFuncCachePreferL1));
    sweep<1><<<1, 32>>>(in, out);
    CHECK(cudaFuncSetAttribute(sweep<2>, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    sweep<2><<<1, 32>>>(in, out);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferEqual));
    cudaFuncCache preferred;
    CHECK(cudaDeviceGetCacheConfig(&preferred));
    sweep<3><<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    EXPECT(preferred == cudaFuncCachePreferEqual);
    EXPECT_ERROR(cudaFuncSetCacheConfig(sweep<0>, cudaFuncCache(4)), cudaErrorInvalidValue);
    return done("cache_preference");
}
