// Small cases whose findings were wrong once in public programs. Lines are found by the words behind `//`.
#include <cstdio>
#include <vector>

__device__ unsigned counters[11];

__global__ void count(unsigned *values) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counters[0], i);       // ADD
    atomicExch(&counters[1], i);      // EXCHANGE
    atomicMax(&counters[2], i);       // MAX
    values[i] = i;
}

__global__ void one_warp(float *data) {
    float sum = data[threadIdx.x];
    for (int i = 0; i < 5000; i++) sum = sum * 0.5f + 1.0f;
    data[threadIdx.x] = sum;
}

// Every lane reads one element of `large`, which constant memory could not hold, or of `small`.
__global__ void broadcasts(const float *large, const float *small, float *sums, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += large[i]; // LARGE
    for (int i = 0; i < n; i++) sum -= small[i]; // SMALL
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Rows of 17 elements, gone over along their diagonals.
__global__ void diagonals(int *result) {
    __shared__ int tile[32][17];
    for (int i = threadIdx.x; i < 32 * 17; i += blockDim.x) tile[i / 17][i % 17] = i;
    __syncwarp();
    int sum = 0;
    if (threadIdx.x < 16) {
        for (int step = 0; step < 64; step++) sum += tile[16 + step % 16 - threadIdx.x][threadIdx.x]; // DIAGONAL
        result[threadIdx.x] = sum;
    }
}

// Two halves of a warp meet, whatever the data is.
__global__ void halves(int *result) {
    __shared__ int words[256];
    for (int i = threadIdx.x; i < 256; i += 32) words[i] = i;
    __syncwarp();
    int at = 2 * threadIdx.x - (threadIdx.x & 15), sum = 0;
    for (int step = 0; step < 64; step++) sum += words[(at + step) & 255]; // HALVES
    result[threadIdx.x] = sum;
}

// A column of a matrix: no index goes along its rows.
__global__ void column(const float *matrix, float *taken, int columns, int which) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    taken[row] = matrix[row * columns + which]; // COLUMN
}

float *scratch(int n) {
    float *memory;
    cudaMalloc(&memory, n * sizeof(float)); // CHURN
    return memory;
}

void first_way() {
    for (int i = 0; i < 20; i++) {
        float *memory = scratch(64);
        cudaMemset(memory, 0, 64 * sizeof(float));
        one_warp<<<1, 32>>>(memory); // ONE WARP
        cudaFree(memory);
    }
}

void second_way() {
    for (int i = 0; i < 30; i++) {
        float *memory = scratch(128);
        cudaMemset(memory, 0, 128 * sizeof(float));
        cudaFree(memory);
    }
}

int main() {
    unsigned *values;
    cudaMalloc(&values, 65536 * sizeof(unsigned));
    count<<<256, 256>>>(values);
    const int n = 512;
    std::vector<float> host(1 << 18, 1.0f);
    float *large, *small, *sums, *again, *taken;
    cudaMalloc(&large, host.size() * sizeof(float));
    cudaMalloc(&small, n * sizeof(float));
    cudaMalloc(&sums, 16384 * sizeof(float));
    cudaMalloc(&taken, 1024 * sizeof(float));
    cudaMemcpy(large, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(small, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    broadcasts<<<64, 256>>>(large, small, sums, n);
    column<<<4, 256>>>(large, taken, 256, 7);
    int *result;
    cudaMalloc(&result, 32 * sizeof(int));
    diagonals<<<1, 32>>>(result);
    halves<<<1, 32>>>(result);
    first_way();
    second_way();
    cudaMalloc(&again, 4096);
    for (int i = 0; i < 80; i++) cudaMemcpy(again, host.data(), 4096, cudaMemcpyHostToDevice); // AGAIN
    broadcasts<<<1, 256>>>(again, small, sums, n);
    float one = 0, total = 0;
    for (int i = 0; i < 60; i++) {
        cudaMemcpy(&one, sums + i, sizeof one, cudaMemcpyDeviceToHost); // BACK
        total += one;
    }
    std::printf("%g\n", total);
}
