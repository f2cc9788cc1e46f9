// Copies results to pinned memory in a stream. Planted: the host reads them before it has waited for the copy. Fixed: it waits.
#include <cstdio>

__global__ void square(float *squares, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) squares[i] = float(i) * i;
}

int main() {
    const int n = 1 << 16;
    float *squares, *results;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&squares, n * sizeof(float));
    cudaMallocHost(&results, n * sizeof(float));
    square<<<n / 256, 256, 0, stream>>>(squares, n);
    cudaMemcpyAsync(results, squares, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
#ifdef CURED
    cudaStreamSynchronize(stream);
#endif
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += results[i]; // PLANTED
    std::printf("%g\n", sum);
    cudaFree(squares);
    cudaFreeHost(results);
    cudaStreamDestroy(stream);
}
