// Two kernels at the same time in two streams, launched from two host threads; checks its own results.
#include <cstdio>
#include <thread>
#include <vector>

__global__ void scale(float* values, int count, float factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) values[i] *= factor;
}

__global__ void gather(const int* indices, const float* values, float* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = values[indices[i]];
}

int main() {
    const int count = 1 << 18, rounds = 8;
    std::vector<float> host(count), result(count);
    std::vector<int> indices(count);
    for (int i = 0; i < count; i++) host[i] = (float)(i % 1000), indices[i] = (int)((i * 7919ll) % count);
    float *scaled, *table, *gathered;
    int* order;
    cudaMalloc(&scaled, count * sizeof(float));
    cudaMalloc(&table, count * sizeof(float));
    cudaMalloc(&gathered, count * sizeof(float));
    cudaMalloc(&order, count * sizeof(int));
    cudaMemcpy(scaled, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(table, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(order, indices.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaStream_t first, second;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    std::thread one([&] {
        for (int i = 0; i < rounds; i++) scale<<<64, 256, 0, first>>>(scaled, count, i % 2 ? 0.5f : 2.0f);
    });
    std::thread two([&] {
        for (int i = 0; i < rounds; i++) gather<<<64, 256, 0, second>>>(order, table, gathered, count);
    });
    one.join();
    two.join();
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    int wrong = 0;
    cudaMemcpy(result.data(), scaled, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong += result[i] != host[i];
    cudaMemcpy(result.data(), gathered, count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong += result[i] != host[indices[i]];
    printf("streams: %s\n", wrong == 0 ? "ok" : "WRONG");
    return wrong != 0;
}
