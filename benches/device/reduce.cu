// Sum of 4 Mi numbers: a grid-stride loop, shuffles, one atomic per block.
#include "bench.h"

static const int N = 1 << 22;

#ifdef __CUDACC__
__global__ void reduce(int n, const float *values, float *result)
{
    __shared__ float partial[8];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < 8; ++i) {
            total += partial[i];
        }
        atomicAdd(result, total);
    }
}
#else
__attribute__((noinline)) static float reduce(int n, const float *values)
{
    // Eight sums, as the order of additions keeps a compiler from using vectors otherwise.
    float sums[8] = {0};
    for (int i = 0; i < n; i += 8) {
        for (int lane = 0; lane < 8; ++lane) {
            sums[lane] += values[i + lane];
        }
    }
    float total = 0;
    for (float sum : sums) {
        total += sum;
    }
    return total;
}
#endif

int main(int argc, char **argv)
{
    std::vector<float> values(N), result(1);
    for (int i = 0; i < N; ++i) {
        values[i] = number(i);
    }
#ifdef __CUDACC__
    float *dvalues = on_device(values), *dresult = on_device(result);
    measure(rounds(argc, argv), [&] {
        need(cudaMemset(dresult, 0, sizeof(float)));
        reduce<<<256, 256>>>(N, dvalues, dresult);
        need(cudaDeviceSynchronize());
    });
    to_host(result, dresult);
#else
    measure(rounds(argc, argv), [&] { result[0] = reduce(N, values.data()); });
#endif
    checksum(result);
}
