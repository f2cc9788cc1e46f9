// A table that kernels read as a texture has a NaN from the host.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(cudaTextureObject_t table, float *scaled, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) scaled[i] = tex1Dfetch<float>(table, i) * 0.5f; // PLANTED
}

int main() {
    const int n = 1 << 12;
    static float host[n];
    float *samples, *scaled;
    for (int i = 0; i < n; ++i) host[i] = i % 9;
#ifndef CURED
    host[1234] = std::nanf("");
#endif
    cudaMalloc(&samples, n * sizeof(float));
    cudaMalloc(&scaled, n * sizeof(float));
    cudaMemcpy(samples, host, sizeof host, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = samples;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t table;
    cudaCreateTextureObject(&table, &resource, &description, nullptr);
    scale<<<n / 64, 64>>>(table, scaled, n);
    cudaMemcpy(host, scaled, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaDestroyTextureObject(table);
    cudaFree(samples);
    cudaFree(scaled);
}
