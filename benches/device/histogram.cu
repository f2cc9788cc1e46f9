// Histogram of 4 Mi bytes in 256 bins, with shared atomics per block.
#include "bench.h"

static const int N = 1 << 22;
static const int BINS = 256;

#ifdef __CUDACC__
__global__ void histogram(int n, const unsigned char *data, unsigned *bins)
{
    __shared__ unsigned mine[BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&mine[data[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
#else
__attribute__((noinline)) static void histogram(int n, const unsigned char *data, unsigned *bins)
{
    for (int i = 0; i < n; ++i) {
        bins[data[i]] += 1;
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<unsigned char> data(N);
    std::vector<unsigned> bins(BINS);
    for (int i = 0; i < N; ++i) {
        data[i] = static_cast<unsigned char>(number(i) * 256.0f);
    }
#ifdef __CUDACC__
    unsigned char *ddata = on_device(data);
    unsigned *dbins = on_device(bins);
    measure(rounds(argc, argv), [&] {
        need(cudaMemset(dbins, 0, BINS * sizeof(unsigned)));
        histogram<<<256, BINS>>>(N, ddata, dbins);
        need(cudaDeviceSynchronize());
    });
    to_host(bins, dbins);
#else
    measure(rounds(argc, argv), [&] {
        bins.assign(BINS, 0);
        histogram(N, data.data(), bins.data());
    });
#endif
    checksum(std::vector<float>(bins.begin(), bins.end()));
}
