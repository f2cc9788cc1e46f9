// Elements that tests/analyses/rounding.rs rounds to smaller types (--what-if-type), with errors that it computes itself.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 1000;

__global__ void scale(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i]; // scale
}

__global__ void count(volatile float *total, int n) {
    for (int i = 0; i < n; ++i) *total += 1; // count
}

__global__ void divide(double *fine, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fine[i] /= 3; // divide
}

__global__ void grow(float *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&wide[i], i < 500 ? 200.0f * i : ldexpf(1, -(i % 32))); // grow
}

__global__ void number(int *ids, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) ids[i] = i; // number
}

__global__ void mix(float *pairs, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        pairs[2 * i] = 2049;                           // first
        reinterpret_cast<int *>(pairs)[2 * i + 1] = i; // second
    }
}

int main() {
    static float from[N], to[N];
    static double numbers[N];
    for (int i = 0; i < N; ++i) {
        from[i] = 1 + i / 4096.0f;
        numbers[i] = i;
    }
    float *x, *y, *total, *wide, *pairs;
    double *fine;
    int *ids;
    cudaMalloc(&x, sizeof from);
    cudaMalloc(&y, sizeof from);
    cudaMalloc(&total, sizeof(float));
    cudaMalloc(&wide, sizeof from);
    cudaMalloc(&pairs, 2 * sizeof from);
    cudaMalloc(&fine, sizeof numbers);
    cudaMalloc(&ids, N * sizeof(int));
    cudaMemcpy(x, from, sizeof from, cudaMemcpyHostToDevice);
    cudaMemcpy(fine, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemset(wide, 0, sizeof from);
    float start = 2048;
    cudaMemcpy(total, &start, sizeof start, cudaMemcpyHostToDevice);
    scale<<<8, 128>>>(x, y, N);
    count<<<1, 1>>>(total, 100);
    divide<<<8, 128>>>(fine, N);
    grow<<<8, 128>>>(wide, N);
    number<<<8, 128>>>(ids, N);
    mix<<<8, 128>>>(pairs, N);
    cudaMemcpy(to, y, sizeof to, cudaMemcpyDeviceToHost);
    cudaMemcpy(&start, total, sizeof start, cudaMemcpyDeviceToHost);
    std::printf("y[1] = %.9g, y[3] = %.9g, total = %g\n", to[1], to[3], start);
    cudaMemcpy(to, pairs, sizeof to, cudaMemcpyDeviceToHost);
    int second;
    cudaMemcpy(&second, pairs + 999, sizeof second, cudaMemcpyDeviceToHost);
    std::printf("pairs[0] = %g, pairs[999] = %d\n", to[0], second);
    std::printf("PASS rounded_values\n");
    return 0;
}
