// A transposition that writes columns, between two kernels that are as good as they can be.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void transpose(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        out[x * n + y] = in[y * n + x];
    }
}

__global__ void scale(float *data, float factor, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] *= factor;
}

int main() {
    const int n = 512;
    size_t bytes = n * n * sizeof(float);
    float *host = (float *)malloc(bytes);
    for (int i = 0; i < n * n; i++) host[i] = i;
    float *d_in, *d_out;
    cudaMalloc(&d_in, bytes);
    cudaMalloc(&d_out, bytes);
    cudaMemcpy(d_in, host, bytes, cudaMemcpyHostToDevice);
    scale<<<(n * n + 255) / 256, 256>>>(d_in, 2.0f, n * n);
    transpose<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(d_in, d_out, n);
    scale<<<(n * n + 255) / 256, 256>>>(d_out, 0.5f, n * n);
    cudaMemcpy(host, d_out, bytes, cudaMemcpyDeviceToHost);
    printf("%g\n", host[1]);
    cudaFree(d_in);
    cudaFree(d_out);
    free(host);
}
