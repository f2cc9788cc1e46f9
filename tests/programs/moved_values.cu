// Loads, stores and atomic operations whose values tests/analyses/values.rs counts by itself.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 1000;

__global__ void rewrite(int *numbers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) numbers[i] = i % 7; // rewrite
}

__global__ void raise(int *peaks, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&peaks[i], i % 3); // raise
}

__global__ void fresh(int *zeros, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) zeros[i] = 0; // fresh
}

__global__ void share(const int *numbers, int *sums, int n) {
    __shared__ volatile int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    tile[threadIdx.x] = numbers[i];
    tile[threadIdx.x] = numbers[i] / 4 * 4; // share
    sums[i] = tile[threadIdx.x];
}

__global__ void pairs(long long *points, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) points[i] = (i % 4LL << 32) + 5; // pairs
}

__global__ void read(const int *groups, const double *halves, const short *sparse, double *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double sum = groups[i]; // groups
        sum += halves[i];       // halves
        sum += sparse[i];       // sparse
        sums[i] = sum;
    }
}

template <typename T, typename F> T *filled(F value) {
    static T host[N];
    for (int i = 0; i < N; ++i) host[i] = value(i);
    T *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
    return device;
}

int main() {
    int *numbers = filled<int>([](int i) { return i % 5; });
    int *peaks = filled<int>([](int) { return 1; });
    int *groups = filled<int>([](int i) { return 1000 * (i / 32); });
    double *halves = filled<double>([](int i) { return 0.5 * i; });
    short *sparse = filled<short>([](int i) { return short(i < 512 ? 0 : i); });
    long long *points = filled<long long>([](int) { return (3LL << 32) + 5; });
    int *zeros, *sums;
    double *all;
    cudaMalloc(&zeros, N * sizeof(int));
    cudaMalloc(&sums, N * sizeof(int));
    cudaMalloc(&all, N * sizeof(double));
    for (int step = 0; step < 2; ++step) rewrite<<<8, 128>>>(numbers, N);
    raise<<<8, 128>>>(peaks, N);
    fresh<<<8, 128>>>(zeros, N);
    share<<<8, 128>>>(numbers, sums, N);
    pairs<<<8, 128>>>(points, N);
    read<<<8, 128>>>(groups, halves, sparse, all, N);
    for (int step = 0; step < 3; ++step) cudaMemset(zeros, 0, N * sizeof(int));
    double last;
    cudaMemcpy(&last, all + N - 1, sizeof last, cudaMemcpyDeviceToHost);
    std::printf(last == 31000 + 0.5 * (N - 1) + (N - 1) ? "PASS moved_values\n" : "FAIL %g\n", last);
    return 0;
}
