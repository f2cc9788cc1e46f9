// Sums values by label. Labels from 0 to 199 take four bytes each.
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

#ifdef CURED
using Label = unsigned char;
#else
using Label = int;
#endif

__global__ void pick(const Label *labels, const float *table, float *picked, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) picked[i] = table[labels[i]] + 0.1f * i; // PLANTED
}

int main() {
    const int n = 1 << 18;
    std::vector<Label> host(n);
    std::vector<float> values(200), results(n);
    for (int i = 0; i < n; ++i) host[i] = (i / 7) % 200;
    for (int i = 0; i < 200; ++i) values[i] = 0.1f * i;
    Label *labels;
    float *table, *picked;
    cudaMalloc(&labels, n * sizeof(Label));
    cudaMalloc(&table, 200 * sizeof(float));
    cudaMalloc(&picked, n * sizeof(float));
    cudaMemcpy(labels, host.data(), n * sizeof(Label), cudaMemcpyHostToDevice);
    cudaMemcpy(table, values.data(), 200 * sizeof(float), cudaMemcpyHostToDevice);
    pick<<<n / 256, 256>>>(labels, table, picked, n);
    cudaMemcpy(results.data(), picked, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", results[5]);
    cudaFree(labels);
    cudaFree(table);
    cudaFree(picked);
}
