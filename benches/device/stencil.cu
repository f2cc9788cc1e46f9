// Five-point stencil over a 2048 x 2048 grid, with bounds checks as hotspot has them.
#include "bench.h"

static const int N = 2048;

#ifdef __CUDACC__
__global__ void stencil(int n, const float *from, float *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        int i = y * n + x;
        to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);
    }
}
#else
__attribute__((noinline)) static void stencil(int n, const float *from, float *__restrict__ to)
{
    for (int y = 1; y < n - 1; ++y) {
        for (int x = 1; x < n - 1; ++x) {
            int i = y * n + x;
            to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);
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
        stencil<<<dim3(N / 32, N / 8), dim3(32, 8)>>>(N, dfrom, dto);
        need(cudaDeviceSynchronize());
    });
    to_host(to, dto);
#else
    measure(rounds(argc, argv), [&] { stencil(N, from.data(), to.data()); });
#endif
    checksum(to);
}
