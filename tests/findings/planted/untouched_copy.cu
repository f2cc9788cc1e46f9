// Searches the head of a log. Planted: all of the log is copied to the device, one part in 32 is read. Fixed: only that.
#include <cstdio>
#include <vector>

__global__ void find(const int *log, int *hits, int n, int key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) hits[i] = log[i] == key;
}

int main() {
    const int n = 1 << 17, all = 32 * n;
#ifdef CURED
    const int copied = n;
#else
    const int copied = all;
#endif
    std::vector<int> entries(all);
    for (int i = 0; i < all; ++i) entries[i] = i % 7;
    int *log, *hits;
    cudaMalloc(&log, copied * sizeof(int));
    cudaMalloc(&hits, n * sizeof(int));
    cudaMemcpy(log, entries.data(), copied * sizeof(int), cudaMemcpyHostToDevice); // PLANTED
    find<<<n / 256, 256>>>(log, hits, n, 3);
    std::vector<int> result(n);
    cudaMemcpy(result.data(), hits, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", result[3]);
    cudaFree(log);
    cudaFree(hits);
}
