// Transposes a matrix in three ways: directly, through a shared tile, and through a padded tile.
//
// Shows that a tile turns scattered stores into coalesced ones, and that a tile of 32 columns then
// has all lanes of a column in one bank. For rows and columns that are multiples of 32, with
// w = rows·columns/32 requests per access:
//   transpose_naive:  load 4 sectors, store 32 sectors (ideal 4)
//   transpose_tiled:  load 4, store 4; the shared load takes 32 wavefronts (ideal 1), the store 1
//   transpose_padded: load 4, store 4; both shared accesses take 1 wavefront
//
// usage: transpose [rows = 512] [columns = rows]
#include "../common/common.h"

#include <vector>

constexpr int TILE = 32;
constexpr int ROWS_PER_PASS = 8;

__global__ void transpose_naive(const float *in, float *out, int rows, int columns)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int first = blockIdx.y * TILE + threadIdx.y;
    for (int y = first; y < first + TILE; y += ROWS_PER_PASS) {
        if (x < columns && y < rows) {
            float value = in[y * columns + x];
            out[x * rows + y] = value;
        }
    }
}

template <int PADDING>
__device__ void transpose_through_tile(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS_PER_PASS) {
        if (x < columns && y + j < rows) {
            float value = in[(y + j) * columns + x];
            tile[threadIdx.y + j][threadIdx.x] = value;
        }
    }
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS_PER_PASS) {
        if (x < rows && y + j < columns) {
            float value = tile[threadIdx.x][threadIdx.y + j];
            out[(y + j) * rows + x] = value;
        }
    }
}

__global__ void transpose_tiled(const float *in, float *out, int rows, int columns)
{
    transpose_through_tile<0>(in, out, rows, columns);
}

__global__ void transpose_padded(const float *in, float *out, int rows, int columns)
{
    transpose_through_tile<1>(in, out, rows, columns);
}

using Kernel = void (*)(const float *, float *, int, int);

static bool run(const char *name, Kernel kernel, const float *d_in, float *d_out, const std::vector<float> &expected,
                int rows, int columns)
{
    size_t bytes = expected.size() * sizeof(float);
    CUDA_CHECK(cudaMemset(d_out, 0, bytes));
    dim3 block(TILE, ROWS_PER_PASS);
    dim3 grid((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    kernel<<<grid, block>>>(d_in, d_out, rows, columns);
    CUDA_CHECK(cudaGetLastError());

    std::vector<float> out(expected.size());
    CUDA_CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    return all_close(name, out.data(), expected.data(), expected.size(), 0.0f);
}

int main(int argc, char **argv)
{
    int rows = argument(argc, argv, 1, "rows", 512);
    int columns = argument(argc, argv, 2, "columns", rows);
    std::vector<float> in(static_cast<size_t>(rows) * columns), expected(in.size());
    Random random(3);
    for (int y = 0; y < rows; ++y) {
        for (int x = 0; x < columns; ++x) {
            float value = random.uniform();
            in[static_cast<size_t>(y) * columns + x] = value;
            expected[static_cast<size_t>(x) * rows + y] = value;
        }
    }

    float *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, in.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_out, in.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice));
    bool good = run("naive", transpose_naive, d_in, d_out, expected, rows, columns);
    good &= run("tiled", transpose_tiled, d_in, d_out, expected, rows, columns);
    good &= run("padded", transpose_padded, d_in, d_out, expected, rows, columns);
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish("transpose", good);
}
