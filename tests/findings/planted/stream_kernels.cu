// Each stream computes half of an array; a third kernel reads both halves, and waits for one of them only.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void square(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * in[i];
    }
}

__global__ void blend(float *out, const float *halves, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = halves[i] + halves[i + n]; // PLANTED
    }
}

int main() {
    const int n = 1 << 18;
    float *values, *squares, *sums, last = 0;
    cudaMalloc(&values, 2 * n * sizeof(float));
    cudaMalloc(&squares, 2 * n * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMemset(values, 1, 2 * n * sizeof(float));
    cudaDeviceSynchronize();
    cudaStream_t left, right;
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking);
    square<<<n / 256, 256, 0, left>>>(squares, values, n);
    square<<<n / 256, 256, 0, right>>>(squares + n, values + n, n);
#ifdef CURED
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done, left);
    cudaStreamWaitEvent(right, done, 0);
    cudaEventDestroy(done);
#endif
    blend<<<n / 256, 256, 0, right>>>(sums, squares, n);
    cudaStreamSynchronize(right);
    cudaMemcpy(&last, sums + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    std::printf("%g\n", last);
    cudaStreamDestroy(left);
    cudaStreamDestroy(right);
    cudaFree(values);
    cudaFree(squares);
    cudaFree(sums);
}
