// Product of two 512 x 512 matrices. The kernel uses tiles in shared memory, the host version a vectorisable loop.
#include "bench.h"

static const int N = 512;

#ifdef __CUDACC__
static const int TILE = 16;

__global__ void multiply(int n, const float *a, const float *b, float *c)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < n; start += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * n + start + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}
#else
__attribute__((noinline)) static void multiply(int n, const float *a, const float *b, float *__restrict__ c)
{
    for (int i = 0; i < n * n; ++i) {
        c[i] = 0;
    }
    for (int row = 0; row < n; ++row) {
        for (int k = 0; k < n; ++k) {
            float left = a[row * n + k];
            for (int column = 0; column < n; ++column) {
                c[row * n + column] += left * b[k * n + column];
            }
        }
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<float> a(N * N), b(N * N), c(N * N);
    for (int i = 0; i < N * N; ++i) {
        a[i] = number(i);
        b[i] = number(i + N * N);
    }
#ifdef __CUDACC__
    float *da = on_device(a), *db = on_device(b), *dc = on_device(c);
    measure(rounds(argc, argv), [&] {
        multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(N, da, db, dc);
        need(cudaDeviceSynchronize());
    });
    to_host(c, dc);
#else
    measure(rounds(argc, argv), [&] { multiply(N, a.data(), b.data(), c.data()); });
#endif
    checksum(c);
}
