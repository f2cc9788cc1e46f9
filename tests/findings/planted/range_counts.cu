// Counts the readings in eight ranges. Planted: each range is a launch that sweeps all readings again, which no launch changes.
// Fixed: one launch counts all ranges.
#include <cstdio>
#include <vector>

constexpr int ranges = 8;

__global__ void count_in_ranges(const float *readings, int *counts, int first, int last) {
    float reading = readings[blockIdx.x * blockDim.x + threadIdx.x]; // PLANTED
    for (int range = first; range < last; ++range) {
        int in_range = __syncthreads_count(reading >= range && reading < range + 1);
        if (threadIdx.x == 0) counts[range * gridDim.x + blockIdx.x] = in_range;
    }
}

int main() {
    const int n = 4 << 20, blocks = n / 256;
    std::vector<float> host(n);
    for (int i = 0; i < n; ++i) host[i] = i % 1000 * 0.008f;
    float *readings;
    int *counts;
    cudaMalloc(&readings, n * sizeof(float));
    cudaMalloc(&counts, ranges * blocks * sizeof(int));
    cudaMemcpy(readings, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
#ifdef CURED
    count_in_ranges<<<blocks, 256>>>(readings, counts, 0, ranges);
#else
    for (int range = 0; range < ranges; ++range) count_in_ranges<<<blocks, 256>>>(readings, counts, range, range + 1);
#endif
    std::vector<int> of_blocks(ranges * blocks);
    cudaMemcpy(of_blocks.data(), counts, of_blocks.size() * sizeof(int), cudaMemcpyDeviceToHost);
    long sum = 0;
    for (int count : of_blocks) sum += count;
    std::printf("%ld\n", sum);
    cudaFree(readings);
    cudaFree(counts);
}
