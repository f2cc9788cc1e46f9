// Sums the columns of a matrix. Planted: a thread walks along a row, so that neighbouring threads are a row length apart.
// Fixed: a thread owns a column.
#include <cstdio>
#include <vector>

__global__ void column_sums(const float *matrix, float *sums, int rows, int columns) {
#ifdef CURED
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row) sum += matrix[row * columns + column];
    sums[column] = sum;
#else
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = 0; column < columns; ++column) sum += matrix[row * columns + column]; // PLANTED
    sums[row] = sum;
#endif
}

int main() {
    const int n = 2048;
    std::vector<float> host(n * n, 1.0f);
    float *matrix, *sums;
    cudaMalloc(&matrix, n * n * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMemcpy(matrix, host.data(), n * n * sizeof(float), cudaMemcpyHostToDevice);
    column_sums<<<n / 128, 128>>>(matrix, sums, n, n);
    std::vector<float> result(n);
    cudaMemcpy(result.data(), sums, n * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%g\n", result[1]);
    cudaFree(matrix);
    cudaFree(sums);
}
