// A kernel whose one thread adds up what all threads have, for two types (docs/design/findings.md); `// WORDS` mark lines.
#include <cstdio>
#include <vector>

constexpr int THREADS = 256;

// One thread of the block adds up what all have; each element is one of a row's.
template <typename T>
__global__ void loss(const T *input, const int *chosen, T *out, int rows, int columns) {
    __shared__ T sums[THREADS];
    int who = threadIdx.x;
    sums[who] = 0;
    for (int i = who; i < rows; i += THREADS) sums[who] += input[i * columns + chosen[i]]; // ROWS
    __syncthreads();
    if (who == 0) { // ONE
        T all = 0;
        for (int i = 0; i < THREADS; ++i) all += sums[i];
        *out = all;
    }
}

int main() {
    const int rows = 1 << 9, columns = 100;
    float *floats, *sum;
    double *doubles, *total;
    int *chosen;
    cudaMalloc(&floats, sizeof(float) * rows * columns);
    cudaMalloc(&doubles, sizeof(double) * rows * columns);
    cudaMalloc(&sum, sizeof(float));
    cudaMalloc(&total, sizeof(double));
    cudaMalloc(&chosen, sizeof(int) * rows);
    std::vector<int> places(rows);
    for (int i = 0; i < rows; ++i) places[i] = i * 37 % columns;
    cudaMemcpy(chosen, places.data(), sizeof(int) * rows, cudaMemcpyHostToDevice);
    cudaMemset(floats, 0, sizeof(float) * rows * columns);
    cudaMemset(doubles, 0, sizeof(double) * rows * columns);
    loss<<<1, THREADS>>>(floats, chosen, sum, rows, columns);
    loss<<<1, THREADS>>>(doubles, chosen, total, rows, columns);
    cudaDeviceSynchronize();
    std::printf("done\n");
}
