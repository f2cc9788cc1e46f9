// Reads values by index. Planted: the indices are in random order. Fixed: the same indices, sorted.
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void lookup(const float *table, const int *index, float *found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) found[i] = table[index[i]]; // PLANTED
}

int main() {
    const int n = 1 << 20, entries = 1 << 20;
    std::vector<float> values(entries, 1.5f);
    std::vector<int> order(n);
    unsigned state = 12345;
    for (auto &entry : order) {
        state = state * 1664525u + 1013904223u;
        entry = state >> 12;
    }
#ifdef CURED
    std::sort(order.begin(), order.end());
#endif
    float *table, *found;
    int *index;
    cudaMalloc(&table, entries * sizeof(float));
    cudaMalloc(&index, n * sizeof(int));
    cudaMalloc(&found, n * sizeof(float));
    cudaMemcpy(table, values.data(), entries * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(index, order.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    lookup<<<n / 256, 256>>>(table, index, found, n);
    std::vector<float> result(n);
    cudaMemcpy(result.data(), found, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", result[3]);
    cudaFree(table);
    cudaFree(index);
    cudaFree(found);
}
