// Parts of an array are copied and scaled in two streams by turns. The kernel of a part is put into the other stream than its
// copy; both streams do not wait for the default stream.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void scale(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        values[i] = 2.0f * values[i]; // PLANTED
    }
}

int main() {
    const int parts = 4, n = 1 << 18;
    float *host, *values;
    cudaMallocHost(&host, parts * n * sizeof(float));
    for (int i = 0; i < parts * n; i++) {
        host[i] = i;
    }
    cudaMalloc(&values, parts * n * sizeof(float));
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    for (int part = 0; part < parts; part++) {
        float *own = values + part * n;
#ifdef CURED
        cudaStream_t kernels = streams[part % 2];
#else
        cudaStream_t kernels = streams[(part + 1) % 2];
#endif
        cudaMemcpyAsync(own, host + part * n, n * sizeof(float), cudaMemcpyHostToDevice, streams[part % 2]);
        scale<<<n / 256, 256, 0, kernels>>>(own, n);
        cudaMemcpyAsync(host + part * n, own, n * sizeof(float), cudaMemcpyDeviceToHost, kernels);
    }
    cudaDeviceSynchronize();
    std::printf("%g\n", host[parts * n - 1]);
    for (cudaStream_t &stream : streams) {
        cudaStreamDestroy(stream);
    }
    cudaFree(values);
    cudaFreeHost(host);
}
