// Normalises the rows of a matrix in three sweeps over all of it, each by a kernel of its own: by the time a row's turn comes
// again it has left L2. -DFIXED does all three for a row while the block has it. Read with docs/cases/cache-sweep.md.
//
// usage: cache_sweep [rows = 4096] [columns = 1024]
#include "../common/common.h"

#include <vector>

constexpr int THREADS = 256;

// Sum over the block, for all its threads.
__device__ float block_sum(float value)
{
    __shared__ float parts[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(~0u, value, step);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0;
    for (float part : parts) {
        sum += part;
    }
    return sum;
}

__device__ float mean_of(const float *row, int columns)
{
    float sum = 0;
    for (int x = threadIdx.x; x < columns; x += THREADS) {
        sum += row[x];
    }
    return block_sum(sum) / columns;
}

__device__ float deviation_of(const float *row, int columns, float mean)
{
    float sum = 0;
    for (int x = threadIdx.x; x < columns; x += THREADS) {
        sum += (row[x] - mean) * (row[x] - mean);
    }
    return sqrtf(block_sum(sum) / columns);
}

__device__ void scale(float *row, int columns, float mean, float deviation)
{
    for (int x = threadIdx.x; x < columns; x += THREADS) {
        row[x] = (row[x] - mean) / deviation;
    }
}

#ifdef FIXED
__global__ void normalise(float *matrix, int columns)
{
    float *row = matrix + static_cast<size_t>(blockIdx.x) * columns;
    float mean = mean_of(row, columns);
    float deviation = deviation_of(row, columns, mean);
    scale(row, columns, mean, deviation);
}
#else
__global__ void means(const float *matrix, float *mean, int columns)
{
    mean[blockIdx.x] = mean_of(matrix + static_cast<size_t>(blockIdx.x) * columns, columns);
}

__global__ void deviations(const float *matrix, const float *mean, float *deviation, int columns)
{
    const float *row = matrix + static_cast<size_t>(blockIdx.x) * columns;
    deviation[blockIdx.x] = deviation_of(row, columns, mean[blockIdx.x]);
}

__global__ void rescale(float *matrix, const float *mean, const float *deviation, int columns)
{
    scale(matrix + static_cast<size_t>(blockIdx.x) * columns, columns, mean[blockIdx.x], deviation[blockIdx.x]);
}
#endif

int main(int argc, char **argv)
{
    int rows = argument(argc, argv, 1, "rows", 4096);
    int columns = argument(argc, argv, 2, "columns", 1024);
    size_t count = static_cast<size_t>(rows) * columns;
    Random random(8);
    std::vector<float> matrix(count), result(count);
    for (float &value : matrix) value = random.uniform();
    float *d_matrix;
    CUDA_CHECK(cudaMalloc(&d_matrix, count * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_matrix, matrix.data(), count * sizeof(float), cudaMemcpyHostToDevice));
#ifdef FIXED
    normalise<<<rows, THREADS>>>(d_matrix, columns);
#else
    float *d_mean, *d_deviation;
    CUDA_CHECK(cudaMalloc(&d_mean, rows * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_deviation, rows * sizeof(float)));
    means<<<rows, THREADS>>>(d_matrix, d_mean, columns);
    deviations<<<rows, THREADS>>>(d_matrix, d_mean, d_deviation, columns);
    rescale<<<rows, THREADS>>>(d_matrix, d_mean, d_deviation, columns);
    CUDA_CHECK(cudaFree(d_mean));
    CUDA_CHECK(cudaFree(d_deviation));
#endif
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(result.data(), d_matrix, count * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_matrix));
    bool good = true;
    for (int row = 0; row < rows; row += 97) {
        double sum = 0, squares = 0;
        for (int x = 0; x < columns; ++x) {
            sum += result[static_cast<size_t>(row) * columns + x];
            squares += static_cast<double>(result[static_cast<size_t>(row) * columns + x])
                * result[static_cast<size_t>(row) * columns + x];
        }
        good = good && std::fabs(sum / columns) < 1e-3 && std::fabs(squares / columns - 1) < 1e-3;
    }
    return finish("cache_sweep", good);
}
