// y = a x + y over 4 Mi elements.
#include "bench.h"

static const int N = 1 << 22;

#ifdef __CUDACC__
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}
#else
__attribute__((noinline)) static void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; ++i) {
        y[i] = a * x[i] + y[i];
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<float> x(N), y(N);
    for (int i = 0; i < N; ++i) {
        x[i] = number(i);
        y[i] = number(i + N);
    }
#ifdef __CUDACC__
    float *dx = on_device(x), *dy = on_device(y);
    measure(rounds(argc, argv), [&] {
        saxpy<<<(N + 255) / 256, 256>>>(N, 0.5f, dx, dy);
        need(cudaDeviceSynchronize());
    });
    to_host(y, dy);
#else
    measure(rounds(argc, argv), [&] { saxpy(N, 0.5f, x.data(), y.data()); });
#endif
    checksum(y);
}
