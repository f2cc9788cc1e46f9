// Sums the columns of a matrix. Planted: blocks of 32 x 8 threads, though the kernel has no use for threadIdx.y, so that eight
// warps add up the same sums. Fixed: blocks of one row, each sum in a register.
#include <cstdio>
#include <vector>

__global__ void sums_of_columns(const float *matrix, float *sums, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef CURED
    float sum = sums[column];
    for (int row = 0; row < rows; row++) {
        sum += matrix[row * columns + column];
    }
    sums[column] = sum;
#else
    for (int row = 0; row < rows; row++) {
        sums[column] += matrix[row * columns + column]; // PLANTED
    }
#endif
}

int main() {
    const int rows = 64, columns = 32768;
    std::vector<float> host(rows * columns, 1.0f);
    float *matrix, *sums;
    cudaMalloc(&matrix, rows * columns * sizeof(float));
    cudaMalloc(&sums, columns * sizeof(float));
    cudaMemcpy(matrix, host.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(sums, 0, columns * sizeof(float));
#ifdef CURED
    dim3 block(128);
#else
    dim3 block(32, 8);
#endif
    sums_of_columns<<<columns / block.x, block>>>(matrix, sums, rows, columns);
    cudaMemcpy(host.data(), sums, columns * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", host[5]);
    cudaFree(matrix);
    cudaFree(sums);
}
