// Naive transpose of a 2048 x 2048 matrix.
#include "bench.h"

static const int N = 2048;

#ifdef __CUDACC__
__global__ void transpose(int n, const float *from, float *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) {
        to[x * n + y] = from[y * n + x];
    }
}
#else
__attribute__((noinline)) static void transpose(int n, const float *from, float *__restrict__ to)
{
    for (int y = 0; y < n; ++y) {
        for (int x = 0; x < n; ++x) {
            to[x * n + y] = from[y * n + x];
        }
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<float> from(N * N), to(N * N);
    for (int i = 0; i < N * N; ++i) {
        from[i] = number(i);
    }
#ifdef __CUDACC__
    float *dfrom = on_device(from), *dto = on_device(to);
    measure(rounds(argc, argv), [&] {
        transpose<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(N, dfrom, dto);
        need(cudaDeviceSynchronize());
    });
    to_host(to, dto);
#else
    measure(rounds(argc, argv), [&] { transpose(N, from.data(), to.data()); });
#endif
    checksum(to);
}
