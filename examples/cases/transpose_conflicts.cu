// A matrix transposed through a tile in shared memory whose columns all lie in one bank. -DFIXED makes its rows one element
// longer. Read with docs/cases/bank-conflicts.md.
//
// usage: transpose_conflicts [size = 1024]
#include "../common/common.h"

#include <vector>

constexpr int TILE = 32;

#ifdef FIXED
constexpr int ROW = TILE + 1;
#else
constexpr int ROW = TILE;
#endif

__global__ void transpose(const float *from, float *to, int size)
{
    __shared__ float tile[TILE][ROW];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += 8) {
        tile[threadIdx.y + row][threadIdx.x] = from[(y + row) * size + x];
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += 8) {
        to[(y + row) * size + x] = tile[threadIdx.x][threadIdx.y + row];
    }
}

int main(int argc, char **argv)
{
    int size = argument(argc, argv, 1, "size", 1024, TILE) / TILE * TILE;
    std::vector<float> matrix(static_cast<size_t>(size) * size), result(matrix.size());
    for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i % 8191);
    float *d_matrix, *d_result;
    CUDA_CHECK(cudaMalloc(&d_matrix, matrix.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_result, matrix.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_matrix, matrix.data(), matrix.size() * sizeof(float), cudaMemcpyHostToDevice));
    transpose<<<dim3(size / TILE, size / TILE), dim3(TILE, 8)>>>(d_matrix, d_result, size);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(result.data(), d_result, result.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_matrix));
    CUDA_CHECK(cudaFree(d_result));
    bool good = true;
    for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) {
            good = good && result[static_cast<size_t>(x) * size + y] == matrix[static_cast<size_t>(y) * size + x];
        }
    }
    return finish("transpose_conflicts", good);
}
