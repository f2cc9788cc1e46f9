// A stencil over a tile in shared memory. Nothing loads the border on the right.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(float *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = i % 11;
}

__global__ void smooth(const float *in, float *out, int n) {
    __shared__ float tile[256 + 2];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + 1;
    tile[at] = in[i];
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0;
#ifdef CURED
    if (threadIdx.x == 255) tile[257] = i + 1 < n ? in[i + 1] : 0;
#endif
    __syncthreads();
    float left = tile[at - 1];
    float right = tile[at + 1]; // PLANTED
    out[i] = (left + tile[at] + right) / 3;
}

int main() {
    const int n = 1 << 17;
    float *in, *out, last[32];
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    fill<<<n / 256, 256>>>(in, n);
    smooth<<<n / 256, 256>>>(in, out, n);
    cudaMemcpy(last, out, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last[5]);
    cudaFree(in);
    cudaFree(out);
}
