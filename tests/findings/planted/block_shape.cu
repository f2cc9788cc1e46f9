// Copies an array of 8 columns. Planted: blocks cover 256 rows of one column, and the rest of the same sectors is
// read after a whole column of blocks, when it has left L2. Fixed: blocks cover all columns of 32 rows.
#include <cstdio>

__global__ void copy(const float *from, float *to, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        to[row * columns + column] = from[row * columns + column];
    }
}

int main() {
    const int rows = 1 << 18, columns = 8;
    float *from, *to;
    cudaMalloc(&from, rows * columns * sizeof(float));
    cudaMalloc(&to, rows * columns * sizeof(float));
    cudaMemset(from, 0, rows * columns * sizeof(float));
#ifdef CURED
    dim3 block(32, 8);
#else
    dim3 block(256, 1);
#endif
    dim3 grid(rows / block.x, columns / block.y);
    copy<<<grid, block>>>(from, to, rows, columns); // PLANTED
    cudaDeviceSynchronize();
    float first = 1;
    cudaMemcpy(&first, to, sizeof(first), cudaMemcpyDeviceToHost);
    std::printf("%g\n", first);
    cudaFree(from);
    cudaFree(to);
}
