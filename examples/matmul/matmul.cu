// C = A·B for square matrices, with 16 × 16 tiles in shared memory.
//
// Shows reuse through shared memory: each element of A and B is read n/16 times from global memory
// instead of n times. For n a multiple of 16, with b = (n/16)² blocks of 8 warps and n/16 tiles each:
//   loads of A and of B: 8·b·n/16 requests of 4 sectors each (two half rows of 64 bytes)
//   store of C: 8·b requests of 4 sectors
//   shared stores: as many requests as global loads
//   shared loads of the B tile: 16 per tile and warp. Those of the A tile follow each other in memory;
//   the compiler joins four into one of 16 bytes if their alignment is known.
//
// usage: matmul [n = 256]
#include "../common/common.h"

#include <vector>

constexpr int TILE = 16;

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        bool a_inside = row < n && start + tx < n;
        bool b_inside = column < n && start + ty < n;
        a_tile[ty][tx] = a_inside ? a[row * n + start + tx] : 0.0f;
        b_tile[ty][tx] = b_inside ? b[(start + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float left = a_tile[ty][k];
            float right = b_tile[k][tx];
            sum += left * right;
        }
        __syncthreads();
    }
    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}

static void multiply(const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c, int n)
{
    size_t bytes = a.size() * sizeof(float);
    float *d_a, *d_b, *d_c;
    CUDA_CHECK(cudaMalloc(&d_a, bytes));
    CUDA_CHECK(cudaMalloc(&d_b, bytes));
    CUDA_CHECK(cudaMalloc(&d_c, bytes));
    CUDA_CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    Timer timer;
    matmul_tiled<<<grid, block>>>(d_a, d_b, d_c, n);
    CUDA_CHECK(cudaGetLastError());
    std::printf("%d^3 in %.3f ms\n", n, timer.stop());

    CUDA_CHECK(cudaMemcpy(c.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_a));
    CUDA_CHECK(cudaFree(d_b));
    CUDA_CHECK(cudaFree(d_c));
}

int main(int argc, char **argv)
{
    int n = argument(argc, argv, 1, "n", 256);
    size_t count = static_cast<size_t>(n) * n;
    std::vector<float> a(count), b(count), c(count), expected(count, 0.0f);
    Random random(11);
    for (size_t i = 0; i < count; ++i) {
        a[i] = random.uniform() - 0.5f;
        b[i] = random.uniform() - 0.5f;
    }
    multiply(a, b, c, n);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            float left = a[static_cast<size_t>(i) * n + k];
            for (int j = 0; j < n; ++j) {
                expected[static_cast<size_t>(i) * n + j] += left * b[static_cast<size_t>(k) * n + j];
            }
        }
    }
    return finish("matmul", all_close("c", c.data(), expected.data(), count));
}
