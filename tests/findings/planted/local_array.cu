// A histogram of each thread's values. Planted: its bins are a local array with a computed index, which lies in memory.
// Fixed: the bins of a thread are a column of shared memory.
#include <cstdio>
#include <vector>

#define BINS 16

__global__ void histograms(const unsigned *values, unsigned *result, int per_thread, int threads) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef CURED
    __shared__ unsigned bins[BINS][128];
    for (int bin = 0; bin < BINS; ++bin) bins[bin][threadIdx.x] = 0;
    for (int i = 0; i < per_thread; ++i) bins[values[i * threads + thread] % BINS][threadIdx.x]++;
    unsigned most = 0;
    for (int bin = 0; bin < BINS; ++bin) most = max(most, bins[bin][threadIdx.x]);
#else
    unsigned bins[BINS] = {};
    for (int i = 0; i < per_thread; ++i) bins[values[i * threads + thread] % BINS]++; // PLANTED
    unsigned most = 0;
    for (int bin = 0; bin < BINS; ++bin) most = max(most, bins[bin]);
#endif
    result[thread] = most;
}

int main() {
    const int threads = 1 << 15, per_thread = 64;
    std::vector<unsigned> host(threads * per_thread);
    unsigned state = 1;
    for (auto &value : host) value = (state = state * 1664525u + 1013904223u) >> 16;
    unsigned *values, *result;
    cudaMalloc(&values, host.size() * sizeof(unsigned));
    cudaMalloc(&result, threads * sizeof(unsigned));
    cudaMemcpy(values, host.data(), host.size() * sizeof(unsigned), cudaMemcpyHostToDevice);
    histograms<<<threads / 128, 128>>>(values, result, per_thread, threads);
    std::vector<unsigned> most(threads);
    cudaMemcpy(most.data(), result, threads * sizeof(unsigned), cudaMemcpyDeviceToHost);
    std::printf("%u\n", most[0]);
    cudaFree(values);
    cudaFree(result);
}
