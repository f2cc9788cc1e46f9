// A table in mapped host memory, which each block reads over the bus; with -DCURED it is copied to the device once.
#include <cstdio>
#include <cuda_runtime.h>

const int entries = 1 << 16, samples = 1 << 23;

__global__ void look_up(const float *table, const int *keys, float *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = table[keys[i] & (entries - 1)];
}

int main() {
    float *table;
    cudaHostAlloc(&table, entries * sizeof(float), cudaHostAllocMapped);
    for (int i = 0; i < entries; i++) table[i] = i * 0.5f;
    int *keys;
    float *values;
    cudaMalloc(&keys, samples * sizeof(int));
    cudaMalloc(&values, samples * sizeof(float));
    int *chosen = new int[samples];
    for (int i = 0; i < samples; i++) chosen[i] = i;
    cudaMemcpy(keys, chosen, samples * sizeof(int), cudaMemcpyHostToDevice);
#ifdef CURED
    float *on_device;
    cudaMalloc(&on_device, entries * sizeof(float));
    cudaMemcpy(on_device, table, entries * sizeof(float), cudaMemcpyHostToDevice);
#else
    float *on_device = table;
#endif
    look_up<<<samples / 256, 256>>>(on_device, keys, values);
    cudaMemcpy(chosen, values, sizeof(float), cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    return 0;
}
