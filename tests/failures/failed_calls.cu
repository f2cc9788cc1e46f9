// Calls that fail and whose errors are not checked, and answers of queries that are no failures.
#include <cstdio>

__global__ void fill(float *x) { x[threadIdx.x] = 1; }

int main() {
    float *x, h = 0;
    cudaMalloc(&x, 4096);
    for (int i = 0; i < 3; ++i)
        fill<<<1, 2048>>>(x); // refused
    fill<<<1, 256>>>(x);
    int value = 0;
    cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, &h);
    cudaDeviceDisablePeerAccess(1);
    cudaMemcpy(&h, x, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(x); // freed twice
    cudaGetLastError();
    std::printf("%g\n", h);
}
